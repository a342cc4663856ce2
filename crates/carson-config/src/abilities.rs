//! What a role asks of the CLIs of its accounts, and one of them cannot hold its sessions to. It is refused
//! here: a list of tools that nobody keeps to would be a wall that is not there.

use std::collections::BTreeMap;

use carson_core::{AccountName, EngineKind, KeepsTo, ToolRule};

use crate::check::Check;
use crate::fleet::Account;
use crate::role_file::RoleFile;
use crate::role_routes::accounts_of;
use crate::tool_lists;

/// What is known of the CLIs of accounts, by the accounts' names.
pub(crate) type Abilities = BTreeMap<String, Ability>;

/// One account's CLI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ability {
    engine: EngineKind,
    tells_calls: bool,
}

pub(crate) fn abilities(accounts: &BTreeMap<AccountName, Account>) -> Abilities {
    let of = |account: &Account| Ability {
        engine: account.engine,
        tells_calls: account.engine.tells_calls(account.speaks.as_deref()),
    };
    let named = accounts.iter();
    named
        .map(|(name, account)| (name.to_string(), of(account)))
        .collect()
}

/// Each account that a role lists may be the one that its sessions are asked of.
pub(crate) fn check(raw: &RoleFile, known: &Abilities, check: &mut Check<'_>) {
    tool_lists::check(raw, check);
    if !raw.tools.mcp.is_empty() {
        for name in accounts_of(raw) {
            if let Some(ability) = known.get(&name) {
                servers(&name, *ability, check);
            }
        }
    }
    for name in &raw.engines {
        if let Some(ability) = known.get(name) {
            tool_calls(raw, name, *ability, check);
            for (key, tools) in tool_lists::of(raw) {
                list(key, tools, name, *ability, check);
            }
        }
    }
}

/// A server that nobody starts would be a tool that is not there.
fn servers(account: &str, ability: Ability, check: &mut Check<'_>) {
    if !ability.engine.facts().takes_servers {
        let engine = ability.engine;
        let problem = format!(
            "account {account:?} (engine \"{engine}\") cannot be given MCP servers: nobody knows how it is told of them"
        );
        let named: Vec<&str> = EngineKind::all()
            .map(EngineKind::facts)
            .filter(|facts| facts.takes_servers)
            .map(|facts| facts.name)
            .collect();
        let hint = format!(
            "leave it out, or give the role accounts of {} alone",
            named.join(", ")
        );
        check.problem("tools.mcp", problem, &hint);
    }
}

fn tool_calls(raw: &RoleFile, account: &str, ability: Ability, check: &mut Check<'_>) {
    if raw.limits.max_tool_calls.is_some() && !ability.tells_calls {
        let engine = ability.engine;
        let problem = format!(
            "nobody can count them: account {account:?} (engine \"{engine}\") tells of no tool calls"
        );
        let hint = "leave it out; or, if its program prints as another CLI does, say so: speaks = \"codex\" \
                    in the account";
        check.problem("limits.max_tool_calls", problem, hint);
    }
}

fn list(key: &str, tools: &[String], account: &str, ability: Ability, check: &mut Check<'_>) {
    let of = format!("account {account:?} (engine \"{}\")", ability.engine);
    match ability.engine.facts().keeps_to {
        KeepsTo::Patterns => {}
        // What nobody wrote is how it is by itself.
        KeepsTo::Nothing if check.document.line(key).is_none() => {}
        KeepsTo::Nothing => untaken(key, tools, &of, check),
        KeepsTo::Commands { edits_as_one } => commands(key, tools, &of, edits_as_one, check),
    }
}

/// The CLIs that hold their sessions to a pattern.
fn who_keeps_to(tool: &str) -> String {
    let is_command = ToolRule::of(tool).is_some();
    let able = EngineKind::all().map(EngineKind::facts).filter(|facts| {
        let keeps = match facts.keeps_to {
            KeepsTo::Patterns => true,
            KeepsTo::Commands { .. } => is_command,
            KeepsTo::Nothing => false,
        };
        keeps && !facts.plays_script
    });
    able.map(|facts| facts.title)
        .collect::<Vec<_>>()
        .join(" or ")
}

/// A list that the CLI does not take.
fn untaken(key: &str, tools: &[String], of: &str, check: &mut Check<'_>) {
    for (at, tool) in tools.iter().enumerate() {
        if tool.contains('(') {
            let problem =
                format!("{of} cannot hold a session to {tool:?}: it would get all of that tool");
            let hint = format!(
                "leave [tools] out: the hook and the sandbox are what holds there; or give the role accounts of {} alone",
                who_keeps_to(tool)
            );
            check.problem(&format!("{key}.{at}"), problem, &hint);
        }
    }
    if !tools.iter().any(|tool| tool.contains('(')) {
        let warning = format!("{of} takes no list of tools: its sessions have all of its own");
        check.warning(key, warning, "leave it out");
    }
}

/// A list of which the CLI takes names, and commands by their beginning.
fn commands(key: &str, tools: &[String], of: &str, edits_as_one: bool, check: &mut Check<'_>) {
    for (at, tool) in tools.iter().enumerate() {
        if ToolRule::of(tool).is_none() {
            let problem = format!(
                "{of} cannot hold a session to {tool:?}: it knows no patterns but those of commands"
            );
            let hint = format!(
                "write it as \"Bash(git log *)\", or give the role accounts of {} alone",
                who_keeps_to(tool)
            );
            check.problem(&format!("{key}.{at}"), problem, &hint);
        }
    }
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    if edits_as_one && has("Edit") && !has("Write") {
        let problem = format!("{of} cannot hold a session to \"Edit\": it would get \"Write\" too");
        check.problem(key, problem, "add \"Write\", or take \"Edit\" out");
    }
}
