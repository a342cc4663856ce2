//! The hook in whole firings: with the real CLI, and gone before its next call.

use carson_tests::fleet::TestFleet;
use carson_tests::model::{
    Reply, ScriptedModel, bash, claude_binary, claude_env, codex_binary, codex_env, say, when,
};
use serde_json::Value;

use crate::hook_desk::Cli;

/// A whole firing whose model takes the hook away before its next call, in a role that says what
/// happens then.
fn hook_taken_away(cli: Cli, failure: &str) -> (TestFleet, ScriptedModel, Value) {
    let fleet = TestFleet::new().with_own_binaries();
    let model = ScriptedModel::start().unwrap();
    let role = format!(
        // Behind the walls it could not.
        "stages = [\"execute\"]\nsandbox = \"off\"\nhook_failure = {failure:?}\n[limits]\nwall_clock = \"90s\"\n"
    );
    fleet
        .account("agent", &account(cli, &model, &fleet))
        .role("worker", "agent", &role);
    fleet.issue("worker", "Greet", "In hello.txt.");
    let hook = fleet.binary().with_file_name("carson-hook");
    let calls = [
        bash(format!("mv '{0}' '{0}.gone'", hook.display())),
        bash("echo hello > hello.txt && git add hello.txt && git commit -qm Greet"),
        say("[OK] it greets"),
    ];
    model.on(when(), Reply::turns(calls));
    let ran = fleet.fire("worker");
    let row = fleet.firing(ran.json()["id"].as_str().unwrap());
    (fleet, model, row)
}

/// The settings name neither branch: `trunk` is the one that the remote's HEAD names.
pub fn the_remotes_own_branch_is_not_pushed_by_a_session(cli: Cli) {
    let fleet = TestFleet::new().with_own_binaries();
    let model = ScriptedModel::start().unwrap();
    let _ = fleet.git(&["branch", "trunk", "main"]);
    let _ = fleet.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    fleet.account("agent", &account(cli, &model, &fleet)).role(
        "worker",
        "agent",
        "stages = [\"execute\"]\nsandbox = \"off\"\npush = \"agent\"\n[limits]\nwall_clock = \"90s\"\n",
    );
    fleet.issue("worker", "Greet", "In hello.txt.");
    let remote = fleet.remote();
    let push = |to: &str| bash(format!("git push -q '{}' HEAD:{to}", remote.display()));
    let calls = [
        bash("echo hello > hello.txt && git add hello.txt && git commit -qm Greet"),
        push("refs/heads/trunk"),
        push("trunk"),
        push("feature"),
        say("[OK] it greets"),
    ];
    let before = fleet.git(&["rev-parse", "trunk"]);
    model.on(when(), Reply::turns(calls));
    let ran = fleet.fire("worker");

    let row = fleet.firing(ran.json()["id"].as_str().unwrap());
    let results = model.requests().last().unwrap().tool_results();
    let failed: Vec<bool> = results.iter().map(|result| result.is_error).collect();
    assert_eq!(failed, [false, true, true, false], "{results:#?}");
    let blocked = row["blocked_calls"].as_array().unwrap();
    let rules: Vec<&str> = blocked
        .iter()
        .filter_map(|call| call["rule"].as_str())
        .collect();
    assert_eq!(rules.len(), 2, "{row:#}");
    assert!(
        rules.iter().all(|rule| rule.contains("protected-push")),
        "{rules:#?}"
    );
    assert_eq!(fleet.git(&["rev-parse", "trunk"]), before);
    assert_ne!(fleet.git(&["rev-parse", "feature"]), before);
}

/// The body of an account, each CLI by its own engine.
fn account(cli: Cli, model: &ScriptedModel, fleet: &TestFleet) -> String {
    let (settings, mut env) = match cli {
        Cli::Claude => (
            format!(
                "engine = \"claude\"\nbinary = {:?}\nmodel = \"claude-sonnet-5\"",
                claude_binary().unwrap()
            ),
            claude_env(model, fleet.root()),
        ),
        Cli::Codex => (
            format!("engine = \"codex\"\nbinary = {:?}", codex_binary().unwrap()),
            codex_env(model, &fleet.root().join("codex")).unwrap(),
        ),
    };
    env.retain(|(name, _)| name != "HOME" && name != "IS_SANDBOX");
    let env: Vec<_> = env.iter().map(|(n, v)| format!("{n} = {v:?}")).collect();
    format!("{settings}\nenv = {{ {} }}", env.join(", "))
}

/// What the firing says of its hook.
fn failures(row: &Value) -> Vec<&str> {
    let calls = row["blocked_calls"].as_array().unwrap();
    let rules = calls.iter().filter_map(|call| call["rule"].as_str());
    rules.filter(|rule| rule.contains("hook_failed")).collect()
}

pub fn a_firing_reports_that_its_hook_failed_open(cli: Cli) {
    let (_fleet, model, row) = hook_taken_away(cli, "open");

    let results = model.requests().last().unwrap().tool_results();
    assert!(!results[1].is_error, "{results:#?}");
    let said = failures(&row);
    assert_eq!(said.len(), 1, "{row:#}");
    assert!(said[0].starts_with("hook_failed_open: "), "{said:?}");
}

pub fn a_closed_role_stops_at_a_hook_that_is_gone(cli: Cli) {
    let (_fleet, model, row) = hook_taken_away(cli, "closed");

    let results = model.requests().last().unwrap().tool_results();
    assert!(!results[0].is_error, "{results:#?}");
    assert!(
        results[1].is_error && results[1].text.contains("the hook gave no answer"),
        "{results:#?}"
    );
    let said = failures(&row);
    assert!(!said.is_empty(), "{row:#}");
    for said in said {
        assert!(said.starts_with("hook_failed_closed: "), "{said}");
    }
    assert_ne!(row["outcome"], "OK", "{row:#}");
}
