use serde_json::json;

use super::*;

fn rules(tools: &[&str]) -> Value {
    let tools: Vec<String> = tools.iter().map(|tool| (*tool).to_owned()).collect();
    permission::permission(&tools)
}

#[test]
fn what_no_rule_allows_is_denied_and_a_pattern_is_never_the_whole_tool() {
    let read = rules(&[
        "Read",
        "Grep",
        "Bash(git log *)",
        "Bash(make check)",
        "mine",
    ]);
    assert_eq!(read["*"], "deny");
    assert_eq!(
        read["bash"],
        json!({"*": "deny", "git log *": "allow", "make check": "allow"})
    );
    assert_eq!(read["read"]["*.env"], "deny");
    assert_eq!(
        (&read["grep"], &read["mine"]),
        (&json!("allow"), &json!("allow"))
    );
    assert!(read.get("edit").is_none());
    // Rules are told in their order: the last one that matches decides.
    let first = read.as_object().unwrap().keys().next().unwrap();
    let commands = read["bash"].as_object().unwrap().keys().next().unwrap();
    assert_eq!((first.as_str(), commands.as_str()), ("*", "*"));
    let write = rules(&["Bash", "Write"]);
    assert_eq!(
        (&write["bash"]["*"], &write["edit"]),
        (&json!("allow"), &json!("allow"))
    );
    assert_eq!(rules(&[])["bash"], json!({"*": "deny"}));
}

#[test]
fn a_key_by_any_name_or_settings_of_its_own_are_a_sign_in() {
    let of = |name: &str, value: &str| signs_in_otherwise(&[(name.into(), value.into())]);
    assert!(of("GROQ_API_KEY", "k") && of(CONFIG, "{}"));
    assert!(!of("GROQ_API_KEY", "") && !of("PATH", "/bin"));
}
