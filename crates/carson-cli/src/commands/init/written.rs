//! What `carson init` writes into the settings, with what somebody may want to change.

use std::path::Path;

use carson_config::Toolchain;
use carson_core::EngineKind;
use carson_core::untrusted::one_line;
use carson_forge::OPENERS;

use super::asked_setup::Agreed;
use super::proposed::Hosted;
use super::source::Source;
use crate::args::Init;
use crate::commands::proposed_setup::Proposal;
use crate::commands::role_text::quoted;

/// Money of all roles in a day.
pub const DAY_USD: f64 = 40.0;

/// Letters of a line that is not proposed.
pub const LEFT_OUT: usize = 200;

/// What the settings are written from.
pub struct Written<'a> {
    pub args: &'a Init,
    pub engine: EngineKind,
    pub hosted: &'a Hosted,
    pub source: &'a Source,
    pub proposal: &'a Proposal,
    /// What of that is to hold.
    pub holds: Agreed,
    /// The IANA name of the fleet's time zone.
    pub zone: &'a str,
}

/// `carson.toml`
pub fn settings(of: &Written<'_>) -> String {
    let Written {
        args,
        engine,
        hosted,
        source,
        proposal,
        holds,
        zone,
    } = *of;
    let Source {
        name, url, base, ..
    } = source;
    let mut text = format!(
        "# Every key is described in docs/CONFIG.md; `carson config check` finds mistakes.\n\
         [fleet]\nname = \"home\"\nzone = {}          # IANA; roles may override\n\
         max_firings = 2        # at once on this host\n\
         # Money of all roles in one day; then every slot waits for the next. A CLI that tells no costs\n\
         # is priced from its tokens; one that tells neither is bounded by turns and time alone.\n\
         max_cost_usd_per_day = {DAY_USD:.1}\n\n\
         [repos.{name}]\nurl = {}\nbase = {}\n",
        quoted(zone),
        quoted(url),
        quoted(base),
    );
    text.push_str(&setup_text(proposal, holds, source.files.checkout()));
    text.push_str(&forge_text(args, hosted));
    text.push_str(&format!("\n[accounts.{engine}]\nengine = \"{engine}\"\n"));
    if let Some(binary) = &args.binary {
        // A name is looked for on the PATH; a path is that of who typed it.
        let binary = match binary.contains('/') {
            true => std::path::absolute(binary).unwrap_or_else(|_| binary.into()),
            false => binary.into(),
        };
        text.push_str(&format!("binary = {}\n", quoted(&binary.to_string_lossy())));
    }
    if let Some(script) = &args.script {
        let script = script.canonicalize().unwrap_or_else(|_| script.clone());
        text.push_str(&format!("script = {}\n", quoted(&script.to_string_lossy())));
    }
    if engine.facts().needs_model {
        text.push_str(
            "model = \"local\"                         # its name at the endpoint: say which\n\
             # key_file = \"agent.key\"                # any word, mode 0600, where the endpoint asks for none\n\
             # upstream = \"http://127.0.0.1:11434\"   # where that is; OpenAI's own address without it\n",
        );
    }
    if let Some((variable, dir)) = engine.facts().sign_in_dir {
        let comment = "   # how this account signs in";
        text.push_str(&format!(
            "env = {{ {variable} = {} }}{comment}\n",
            quoted(dir)
        ));
    }
    if let (Some(channel), Some(file)) = (&args.slack_channel, &args.slack_token_file) {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
        text.push_str(&format!(
            "\n[slack]\nchannel = {}\ntoken_file = {}\n",
            quoted(channel),
            quoted(&file.to_string_lossy())
        ));
    }
    text
}

/// What makes workspaces ready to work in, or would, where the operator has not decided that.
fn setup_text(proposal: &Proposal, holds: Agreed, checkout: Option<&Path>) -> String {
    let listed = |all: &[String]| {
        let all: Vec<String> = all.iter().map(|one| quoted(one)).collect();
        format!("[{}]", all.join(", "))
    };
    let mut text = String::new();
    if !proposal.setup.is_empty() {
        let (by, lines) = (&proposal.by, listed(&proposal.setup));
        text.push_str(&match holds.setup {
            true => format!("# So every workspace is ready to work in ({by}; docs/WORKSPACES.md):\nsetup = {lines}\n"),
            false => format!(
                "# Without the # every workspace is ready to work in ({by}; docs/WORKSPACES.md):\n# setup = {lines}\n"
            ),
        });
    }
    for left in &proposal.left_out {
        let left = one_line(left, LEFT_OUT);
        text.push_str(&format!("# Left out, {left}\n"));
    }
    for rest in &proposal.not_taken {
        let rest = one_line(rest, LEFT_OUT);
        text.push_str(&format!("# Not taken over: {rest}\n"));
    }
    for unread in &proposal.unread {
        let unread = one_line(unread, LEFT_OUT);
        text.push_str(&format!(
            "# Nothing is proposed from what cannot be read: {unread}\n"
        ));
    }
    if !proposal.toolchains.is_empty() {
        let names = toolchains(&proposal.toolchains);
        text.push_str(&format!("# toolchains = [{names}]\n"));
    }
    if let Some(from) = checkout.filter(|_| !proposal.include.is_empty()) {
        let (from, files) = (quoted(&from.to_string_lossy()), listed(&proposal.include));
        let mark = if holds.include { "" } else { "# " };
        text.push_str(&format!(
            "{mark}include = {{ from = {from}, files = {files} }}\n"
        ));
    }
    text
}

/// Their names, as the settings have them.
pub(super) fn toolchains(all: &[Toolchain]) -> String {
    let all: Vec<String> = all.iter().map(|one| quoted(&one.to_string())).collect();
    all.join(", ")
}

fn forge_text(args: &Init, hosted: &Hosted) -> String {
    let forge = hosted.forge;
    let opener = OPENERS.iter().find(|opener| opener.name == forge);
    match (
        &hosted.slug,
        opener.filter(|opener| opener.section.is_some()),
    ) {
        (Some(slug), Some(opener)) => {
            let slug = quoted(slug);
            let token = match &args.token_file {
                Some(file) => {
                    let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                    format!("token_file = {}", quoted(&file.to_string_lossy()))
                }
                None => opener.sample.to_owned(),
            };
            let at = args.api_base.as_ref();
            let at = at.map_or(String::new(), |base| {
                format!("\napi_base = {}", quoted(base))
            });
            format!("forge = \"{forge}\"\nslug = {slug}\n\n[{forge}]\n{token}{at}\n")
        }
        _ => {
            let comment = "issues and pull requests as files, under forge/";
            format!("forge = \"{forge}\"        # {comment}\n")
        }
    }
}
