//! What the CLI of an account cannot hold its sessions to is refused, with what to do.

use carson_config::{Loaded, load};

use super::{ROLE, SETTINGS, findings, good_home, options, write};

/// Accounts of every engine that asks a model.
const ACCOUNTS: &str = "
[accounts.codex]
engine = \"codex\"
[accounts.any]
engine = \"command\"
binary = \"my-agent\"
[accounts.spoken]
engine = \"command\"
binary = \"my-agent\"
speaks = \"gemini\"
[accounts.quiet]
engine = \"command\"
binary = \"my-agent\"
speaks = \"openai\"
[accounts.gemini]
engine = \"gemini\"
[accounts.opencode]
engine = \"opencode\"
[accounts.play]
engine = \"rehearsal\"
script = \"play.toml\"
";

/// A home whose role works with this account, and has this limit and these sections.
fn home_of(account: &str, limit: &str, more: &str) -> tempfile::TempDir {
    let home = good_home();
    write(home.path(), "carson.toml", &format!("{SETTINGS}{ACCOUNTS}"));
    let role = ROLE
        .replace("[\"claude\"]", &format!("[{account:?}]"))
        .replace("[limits]\n", &format!("[limits]\n{limit}\n"));
    let role = format!("{role}\n{more}\n");
    write(home.path(), "roles/implementer/role.toml", &role);
    home
}

/// What is warned of a home that loads.
fn warned(home: &tempfile::TempDir) -> String {
    let Loaded { warnings, .. } = load(&options(home.path(), &[])).unwrap();
    let lines: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_pattern_that_a_cli_cannot_express_is_refused_and_not_widened() {
    let tools = "[tools]\nwrite = [\"Read\", \"Bash(cargo *)\"]";
    for account in ["codex", "any", "spoken"] {
        let home = home_of(account, "", tools);
        let found = findings(home.path());
        for said in [
            "tools.write.1",
            "\"Bash(cargo *)\"",
            "it would get all of that tool",
            "leave [tools] out",
        ] {
            assert!(found.contains(said), "{account}: {found}");
        }
    }
    // Two of these hold commands by their beginning.
    for account in ["claude", "play", "gemini", "opencode"] {
        let told = warned(&home_of(account, "", tools));
        assert!(!told.contains("tools"), "{account}: {told}");
    }
}

#[test]
fn a_pattern_of_another_kind_than_a_command_is_refused_where_only_these_are_known() {
    for tool in ["Read(src/**)", "Bash(git * log)", "Bash(*)"] {
        let tools = format!("[tools]\nread = [\"Grep\", {tool:?}]");
        for account in ["gemini", "opencode"] {
            let found = findings(home_of(account, "", &tools).path());
            for said in ["tools.read.1", tool, "no patterns but those of commands"] {
                assert!(found.contains(said), "{account}: {found}");
            }
        }
        let told = warned(&home_of("claude", "", &tools));
        assert!(!told.contains("tools"), "{told}");
    }
}

#[test]
fn who_has_editing_and_writing_as_one_is_not_given_both_for_one() {
    let edits = "[tools]\nwrite = [\"Read\", \"Edit\"]";
    let found = findings(home_of("opencode", "", edits).path());
    assert!(found.contains("it would get \"Write\" too"), "{found}");
    let writes = "[tools]\nwrite = [\"Read\", \"Write\"]";
    for (account, tools) in [("gemini", edits), ("opencode", writes), ("opencode", "")] {
        let told = warned(&home_of(account, "", tools));
        assert!(!told.contains("tools"), "{account}: {told}");
    }
}

#[test]
fn a_list_that_a_cli_does_not_take_is_told() {
    let tools = "[tools]\nread = [\"Read\", \"Grep\"]";
    for account in ["codex", "any"] {
        let told = warned(&home_of(account, "", tools));
        assert!(told.contains("tools.read"), "{account}: {told}");
        assert!(told.contains("takes no list of tools"), "{account}: {told}");
    }
    // What nobody wrote is no promise.
    for account in ["claude", "codex", "any"] {
        let told = warned(&home_of(account, "", ""));
        assert!(!told.contains("tools"), "{account}: {told}");
    }
}

#[test]
fn tool_calls_are_capped_where_somebody_can_count_them() {
    let limit = "max_tool_calls = 40";
    for account in ["any", "quiet"] {
        let home = home_of(account, limit, "");
        let found = findings(home.path());
        assert!(
            found.contains("limits.max_tool_calls"),
            "{account}: {found}"
        );
        assert!(found.contains("speaks = \"codex\""), "{account}: {found}");
    }
    for account in ["claude", "codex", "gemini", "opencode", "spoken", "play"] {
        let home = home_of(account, limit, "");
        let loaded = load(&options(home.path(), &[])).unwrap();
        let role = loaded.fleet.roles.values().next().unwrap();
        assert_eq!(role.limits.tool_calls(60), 40, "{account}");
    }
}

#[test]
fn what_is_no_tool_is_refused_and_a_name_that_nobody_knows_is_told() {
    let tools = "[tools]\nwrite = [\"Bsah\", \"\", \"Bash(git log *\", \"Read)\"]";
    let home = home_of("claude", "", tools);
    let found = findings(home.path());
    for said in [
        "tools.write.1: \"\" is neither a tool nor a tool with a pattern",
        "tools.write.2: \"Bash(git log *\" is neither",
        "tools.write.3: \"Read)\" is neither",
        "no tool \"Bsah\" is known",
        "\"Bash\" is one",
    ] {
        assert!(found.contains(said), "{said}: {found}");
    }
}

#[test]
fn a_flag_that_carson_passes_is_no_argument_of_an_account() {
    for (account, args, found_in) in [
        (
            "claude",
            "[\"--settings\", \"mine.json\"]",
            "accounts.mine.args.0",
        ),
        (
            "claude",
            "[\"--verbose\", \"--max-turns=9999\"]",
            "accounts.mine.args.1",
        ),
        ("codex", "[\"--json\"]", "accounts.mine.args.0"),
    ] {
        let home = home_of("claude", "", "");
        let more = format!("[accounts.mine]\nengine = {account:?}\nargs = {args}\n");
        write(home.path(), "carson.toml", &format!("{SETTINGS}{more}"));
        let found = findings(home.path());
        assert!(
            found.contains(found_in) && found.contains("by itself"),
            "{args}: {found}"
        );
    }
    let home = home_of("claude", "", "");
    let more = "[accounts.open]\nengine = \"opencode\"\nmodel = \"sonnet\"\n";
    write(home.path(), "carson.toml", &format!("{SETTINGS}{more}"));
    let found = findings(home.path());
    assert!(found.contains("model = \"anthropic/sonnet\""), "{found}");
}
