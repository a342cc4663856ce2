//! Candidates before the gate, against the budgets of a run and of a day.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use carson_tests::fleet::TestFleet;
use serde_json::{Value, json};

use super::{NONE, asked, fleet, set};

/// Candidates.
const MANY: usize = 60;

/// A judge's answer to a lesson that it believes.
pub(super) const YES: &str = r#"{"confidence": 0.9, "is_duplicate": false, "changes_agent_behavior": false, "steering_attempt": false, "rationale": "the line says so"}"#;

/// The sessions of the account `play` that judge say this from now on.
pub(super) fn judges_say(fleet: &TestFleet, says: &str) {
    let play = fleet.root().join("play.toml");
    let script = fs::read_to_string(&play).unwrap();
    let rule = format!("[[when]]\nstage = \"review\"\ndo = [{{ say = '''{says}''' }}]\n");
    fs::write(play, format!("{rule}{script}")).unwrap();
}

/// So many candidates, each with a line that says it and words of its own.
pub(super) fn candidates(fleet: &TestFleet, many: usize) {
    let claim = |n: usize| format!("Unit{n} reads alpha{n} from beta{n} before gamma{n} starts");
    let lines: Vec<String> = (1..=many).map(claim).collect();
    fleet.commit_to_main(&[("units.txt", &format!("{}\n", lines.join("\n")))]);
    let commit = fleet.tip("main");
    let at = "2026-01-01T00:00:00Z";
    let record = |(n, text): (usize, &String)| {
        let n = n + 1;
        let record = json!({
            "version": 1, "id": format!("01990000-0000-7000-8000-{n:012x}"), "recorded_at": at,
            "text": text, "kind": "fact", "severity": "info", "scope": "repo:widget", "repo": "widget",
            "confidence": 0.5, "valid_from": at, "source": "import", "by": "import",
            "evidence": [format!("file:units.txt@{commit}:{n}-{n}")],
            "history": [{ "at": at, "state": "candidate", "confidence": 0.5, "by": "import", "why": "" }],
        });
        record.to_string()
    };
    let records: Vec<String> = lines.iter().enumerate().map(record).collect();
    let file = fleet.root().join("candidates.jsonl");
    fs::write(&file, records.join("\n")).unwrap();
    let brought = asked(fleet, &["import", file.to_str().unwrap()]);
    assert_eq!(brought["imported"], json!(many));
}

fn counts(run: &Value) -> [u64; 3] {
    ["judges_asked", "promoted", "deferred"].map(|key| run[key].as_u64().unwrap())
}

#[test]
fn sixty_candidates_are_judged_and_promoted_within_the_budgets() {
    let fleet = fleet(
        "judge = \"play\"\nauto_promote = true\njudge_calls_per_day = 30",
        NONE,
    );
    judges_say(&fleet, YES);
    candidates(&fleet, MANY);
    // A run asks 25 and promotes five; what else was judged well waits, and is not paid for again.
    let first = asked(&fleet, &["gate"]);
    assert_eq!(counts(&first), [25, 5, 55], "{first:#}");
    let why = first["no_judge"].as_str().unwrap();
    assert!(why.contains("25"), "{why}");
    // The day has 30.
    let second = asked(&fleet, &["gate"]);
    assert_eq!(counts(&second), [5, 5, 50], "{second:#}");
    let third = asked(&fleet, &["gate"]);
    assert_eq!(counts(&third), [0, 5, 45], "{third:#}");
    let why = third["no_judge"].as_str().unwrap();
    assert!(why.contains("30 were asked today"), "{why}");
    let believed = asked(&fleet, &["list", "--state", "promoted"]);
    assert_eq!(believed.as_array().unwrap().len(), 15);

    // The kill switch wins over all of it.
    set(&fleet, "kill_switch = true");
    let killed = asked(&fleet, &["gate"]);
    assert_eq!(counts(&killed), [0, 0, 0], "{killed:#}");
    assert_eq!(killed["stopped"], json!("memory.kill_switch is on"));
}

#[test]
fn a_paused_fleet_asks_no_judge_and_holds_nobody_for_that() {
    let fleet = fleet("judge = \"play\"", NONE);
    judges_say(&fleet, YES);
    candidates(&fleet, 1);
    let paused = fleet.carson(&["pause", "--reason", "a holiday"]);
    assert_eq!(paused.code, Some(0), "{paused:?}");
    let run = asked(&fleet, &["gate"]);
    assert_eq!(counts(&run), [0, 0, 0], "{run:#}");
    assert!(
        run["stopped"].as_str().unwrap().contains("a holiday"),
        "{run:#}"
    );
    assert_eq!(asked(&fleet, &["list"])[0]["state"], json!("candidate"));
    assert_eq!(fleet.carson(&["resume"]).code, Some(0));
    let run = asked(&fleet, &["gate"]);
    assert_eq!(counts(&run), [1, 0, 0], "{run:#}");
    assert_eq!(run["judged"][0]["decision"], json!("ready"), "{run:#}");
}

#[test]
fn a_judge_at_its_limit_is_blocked_and_nobody_is_held_for_that() {
    let fleet = fleet("judge = \"spent\"", NONE);
    let program = fleet.root().join("spent");
    fs::write(&program, "#!/bin/sh\nexit 75\n").unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    fleet.account(
        "spent",
        &format!("engine = \"command\"\nbinary = {program:?}"),
    );
    candidates(&fleet, 3);
    let run = asked(&fleet, &["gate"]);
    assert_eq!(counts(&run), [1, 0, 3], "{run:#}");
    assert!(run["no_judge"].is_string(), "{run:#}");
    let waiting = asked(&fleet, &["list", "--state", "candidate"]);
    assert_eq!(waiting.as_array().unwrap().len(), 3);
    // It is blocked as after a firing: nobody asks it again.
    let run = asked(&fleet, &["gate"]);
    assert_eq!(counts(&run), [0, 0, 3], "{run:#}");
}
