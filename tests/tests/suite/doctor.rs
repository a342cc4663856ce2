//! `carson doctor`: independent checks with ids, what would mend each, and an exit code.

use std::fs;

use carson_tests::fleet::{Ran, TestFleet};
use serde_json::Value;

fn checks(ran: &Ran) -> Vec<Value> {
    let shown = ran.json();
    shown["checks"].as_array().unwrap().clone()
}

fn check<'c>(all: &'c [Value], id: &str) -> &'c Value {
    let found = all.iter().find(|one| one["id"] == id);
    found.unwrap_or_else(|| panic!("no {id} in {all:#?}"))
}

#[test]
fn a_sound_home_is_told_with_what_the_machine_can_do() {
    let fleet = TestFleet::new();
    let body =
        "engine = \"claude\"\nbinary = \"claude\"\nenv = { CLAUDE_CONFIG_DIR = \"~/.claude\" }";
    fleet.account("subscribed", body);
    fleet.account(
        "keyed",
        "engine = \"claude\"\nenv = { ANTHROPIC_API_KEY = \"sk-x\" }",
    );

    let ran = fleet.carson(&["doctor", "--json"]);

    let all = checks(&ran);
    for id in [
        "sandbox.level",
        "sandbox.namespaces",
        "sandbox.cgroup",
        "settings",
    ] {
        assert!(check(&all, id)["found"].is_string());
    }
    assert_eq!(check(&all, "hook.answers")["health"], "ok", "{all:#?}");
    let subscribed = check(&all, "account.subscribed.sign_in");
    assert_eq!(subscribed["health"], "warning");
    assert!(
        subscribed["found"]
            .to_string()
            .contains("so can the model's tools")
    );
    let keyed = check(&all, "account.keyed.sign_in").to_string();
    assert!(
        keyed.contains("ANTHROPIC_API_KEY") && !keyed.contains("sk-x"),
        "{keyed}"
    );
    for one in &all {
        let mended = one["health"] == "ok" || one["remedy"].is_string();
        assert!(mended, "{one:#}");
    }
    let broken = all.iter().any(|one| one["health"] == "broken");
    assert_eq!(ran.code, Some(i32::from(broken)), "{all:#?}");
    let text = fleet.carson(&["doctor"]).stdout;
    assert!(
        text.contains("hook.answers") && text.contains("→"),
        "{text}"
    );
}

#[test]
fn what_is_broken_is_told_and_ends_with_one() {
    let fleet = TestFleet::new().with_own_binaries();
    let hook = fleet.binary().with_file_name("carson-hook");
    fs::remove_file(&hook).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 0\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&hook, mode).unwrap();
    let ran = fleet.carson(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert_eq!(check(&checks(&ran), "hook.answers")["health"], "broken");

    let fleet = TestFleet::new();
    fs::write(
        fleet.home().join("carson.toml"),
        "[fleet]\nzone = \"Mars/Base\"\n",
    )
    .unwrap();
    let ran = fleet.carson(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let all = checks(&ran);
    assert!(
        check(&all, "settings")["found"]
            .to_string()
            .contains("carson.toml:2")
    );
    check(&all, "sandbox.level");
}
