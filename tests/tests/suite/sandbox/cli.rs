//! `carson sandbox`, as an operator types it.

use carson_proc::sandbox::Level;
use carson_tests::fleet::TestFleet;

#[test]
fn it_says_its_level_and_ends_as_the_command_does() {
    let fleet = TestFleet::new();
    let ran = fleet.carson(&["sandbox", "--", "sh", "-c", "echo out; exit 3"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), "out\n"));
    for layer in ["files: ", "namespaces: ", "system calls: ", "network: open"] {
        assert!(ran.stderr.contains(layer), "{ran:?}");
    }
    let command = ["sandbox", "--json", "--port", "443", "--", "true"];
    let ran = fleet.carson(&command);
    let level: Level = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    let shown = level.to_string();
    assert!(shown.ends_with(&level.network.to_string()) || !level.weaker.is_empty());
    // A signal ends us as well.
    let ran = fleet.carson(&["sandbox", "--", "sh", "-c", "kill -TERM $$; sleep 100"]);
    assert_eq!(ran.code, None);
}

#[test]
fn what_this_machine_can_do_is_told_without_a_command() {
    let fleet = TestFleet::new();
    let ran = fleet.carson(&["sandbox", "--probe", "--json"]);
    let level: Level = serde_json::from_str(&ran.stdout).unwrap();
    let ran = fleet.carson(&["sandbox", "--probe"]);
    assert_eq!(ran.stdout, format!("{level}\n"));
}

#[test]
fn what_is_wrong_is_said_before_anything_is_started() {
    let fleet = TestFleet::new();
    let ran = fleet.carson(&["sandbox", "--write", "/no/such", "--", "true"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("/no/such does not exist"));
    let ran = fleet.carson(&["sandbox", "--", "no-such-command"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("is not on PATH"));
    assert_eq!(fleet.carson(&["sandbox"]).code, Some(2));
}
