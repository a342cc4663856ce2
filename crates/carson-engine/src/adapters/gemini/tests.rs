use std::ffi::OsString;
use std::time::Duration;

use carson_core::Clock;
use carson_core::Stage;
use carson_redact::Redactor;
use serde_json::Value as Json;

use super::*;
use crate::session::{Access, Hook};

/// A session with these tools and variables.
fn with<T>(
    tools: &[&str],
    access: Access,
    env: &[(&str, &str)],
    look: impl FnOnce(&Session<'_>) -> T,
) -> T {
    let tools: Vec<String> = tools.iter().map(|tool| (*tool).to_owned()).collect();
    let env: Vec<(OsString, OsString)> = env.iter().map(|(n, v)| (n.into(), v.into())).collect();
    let (clock, redactor) = (Clock::system(), Redactor::default());
    look(&Session {
        stage: Stage::Execute,
        access,
        prompt: "",
        cwd: std::path::Path::new("/"),
        env,
        tools: &tools,
        max_turns: 7,
        max_tool_calls: 70,
        max_cost_usd: None,
        wall_clock: Duration::from_secs(60),
        silence: Duration::from_secs(30),
        max_output: 1 << 20,
        transcript: std::path::Path::new("/nowhere"),
        redactor: &redactor,
        confined: None,
        hook: None,
        servers: None,
        skills: None,
        may_hold_skills: false,
        system: "",
        clock: &clock,
    })
}

fn rules(tools: &[&str], access: Access) -> Vec<toml::Table> {
    let tools: Vec<String> = tools.iter().map(|tool| (*tool).to_owned()).collect();
    let text = policy::policy(&tools, access);
    let parsed: toml::Table = text.parse().unwrap();
    let rules = parsed["rule"].as_array().unwrap().iter();
    rules.map(|rule| rule.as_table().unwrap().clone()).collect()
}

#[test]
fn what_no_rule_allows_is_denied_and_a_pattern_is_never_the_whole_tool() {
    let tools = ["Read", "Bash(git log *)", "Bash(make check)", "mine"];
    let rules = rules(&tools, Access::Read);
    assert_eq!(rules[0]["toolName"].as_str(), Some("*"));
    assert_eq!(rules[0]["decision"].as_str(), Some("deny"));
    assert!(
        rules[1..]
            .iter()
            .all(|rule| rule["decision"].as_str() == Some("allow"))
    );
    assert!(
        rules[1..]
            .iter()
            .all(|rule| rule["priority"].as_integer() > Some(1))
    );
    let shell: Vec<_> = rules
        .iter()
        .filter(|rule| rule["toolName"].as_str() == Some(policy::SHELL))
        .collect();
    let patterns: Vec<&str> = shell
        .iter()
        .map(|rule| rule["argsPattern"].as_str().unwrap())
        .collect();
    assert_eq!(
        patterns,
        [
            "\\x00\"command\":\"git log(?:[ \"]|\\\\)",
            "\\x00\"command\":\"make check\"\\x00"
        ]
    );
    assert!(
        shell
            .iter()
            .all(|rule| rule["allowRedirection"].as_bool() == Some(false))
    );
    let names: Vec<_> = rules
        .iter()
        .filter_map(|rule| rule["toolName"].as_str())
        .collect();
    assert!(
        names.contains(&"read_file") && names.contains(&"mine"),
        "{names:?}"
    );
    assert!(!names.contains(&"write_file") && !names.contains(&"replace"));
}

#[test]
fn the_whole_shell_has_a_pattern_too_and_may_write_where_the_session_may() {
    let rules = rules(&["Bash", "Write", "Edit"], Access::Write);
    let shell = rules
        .iter()
        .find(|rule| rule["toolName"].as_str() == Some(policy::SHELL))
        .unwrap();
    assert_eq!(shell["argsPattern"].as_str(), Some("\\x00\"command\":"));
    assert_eq!(shell["allowRedirection"].as_bool(), Some(true));
}

#[test]
fn a_prompt_has_no_file_and_no_command_in_it() {
    assert_eq!(
        prompt("see @a.txt, ann@x.de and \\@b"),
        "see \\@a.txt, ann\\@x.de and \\@b"
    );
    assert!(prompt("  /quit now").starts_with("The task:"));
    assert_eq!(prompt("You plan a/b"), "You plan a/b");
}

#[test]
fn the_ceiling_and_the_hook_are_in_its_settings() {
    let said = with(
        &[],
        Access::Write,
        &[("GEMINI_API_KEY", "k")],
        settings::settings,
    );
    let said: Json = serde_json::from_str(&said).unwrap();
    assert_eq!(said["model"]["maxSessionTurns"], 7);
    assert_eq!(said["security"]["auth"]["selectedType"], "gemini-api-key");
    assert_eq!(said["tools"]["shell"]["inactivityTimeout"], 30);
    let hook = Hook {
        command: "'/a b/carson-hook' || { echo \"no\" >&2; exit 2; }".to_owned(),
        settings_file: "/nowhere".into(),
    };
    let hooks: Json = serde_json::from_str(&settings::hooks(Some(&hook))).unwrap();
    let asked = &hooks["hooks"]["BeforeTool"][0];
    assert_eq!(asked["hooks"][0]["command"], hook.command);
    assert_eq!(asked["hooks"][0]["timeout"], 10_000, "milliseconds");
}

#[test]
fn it_signs_in_as_the_operator_chose_else_by_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join(".gemini");
    std::fs::create_dir(&own).unwrap();
    let home = dir.path().to_str().unwrap();
    let way = |env: &[(&str, &str)]| {
        let said = with(&[], Access::Read, env, settings::settings);
        let said: Json = serde_json::from_str(&said).unwrap();
        said["security"]["auth"]["selectedType"]
            .as_str()
            .map(str::to_owned)
    };
    assert_eq!(way(&[]), None);
    assert_eq!(
        way(&[("GOOGLE_API_KEY", "k")]).as_deref(),
        Some("vertex-ai")
    );
    std::fs::write(own.join("oauth_creds.json"), "{}").unwrap();
    let here = [("GEMINI_CLI_HOME", home)];
    assert_eq!(way(&here).as_deref(), Some("oauth-personal"));
    let file = own.join("settings.json");
    std::fs::write(
        &file,
        r#"{"security":{"auth":{"selectedType":"vertex-ai"}}}"#,
    )
    .unwrap();
    assert_eq!(way(&here).as_deref(), Some("vertex-ai"));
    std::fs::write(&file, r#"{"security":{"auth":{"selectedType":"$(evil)"}}}"#).unwrap();
    assert_eq!(way(&here).as_deref(), Some("oauth-personal"));
}
