//! Judges of every kind, each a session of the real Claude Code with a scripted model.

use std::fs;

use carson_tests::model::{Request, say, when};
use serde_json::{Value, json};

use super::asked;
use crate::claude_firing::Scene;

const LINES: [&str; 5] = [
    "The uploader gives up after three retries",
    "Snapshots are written in alphabetical order",
    "The cache of layers is emptied at midnight",
    "Deadlines of the gateway are counted in seconds",
    "Mirrors are packed by a nightly job",
];
/// What no line says.
const MADE_UP: &str = "Payments settle through the blue queue";

fn answer(confidence: &str) -> String {
    format!(
        r#"{{"confidence": {confidence}, "is_duplicate": false, "changes_agent_behavior": false, "steering_attempt": false, "rationale": "so it is"}}"#
    )
}

/// Whether this request asks for a judgement of that claim; others stand further down in it.
fn judges(request: &Request, claim: &str) -> bool {
    let prompt = request.prompt();
    let own = prompt.split("Its evidence:").next().unwrap_or_default();
    own.starts_with("You judge whether a fleet") && own.contains(claim)
}

#[test]
fn f34_honest_flattering_silent_and_lying_judges_in_real_sessions() {
    let scene = Scene::with_role("stages = [\"execute\"]\n");
    let settings = scene.fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let memory = "[memory]\njudge = \"claude\"\nauto_promote = true\njudge_timeout = \"60s\"\n";
    fs::write(settings, format!("{text}\n{memory}")).unwrap();
    scene
        .fleet
        .commit_to_main(&[("notes.txt", &format!("{}\n", LINES.join("\n")))]);
    let commit = scene.fleet.tip("main");
    // Whom they judge, and what they say of it.
    let cases = [
        ("honest", LINES[0], 1, answer("0.8")),
        ("flattering", MADE_UP, 2, answer("1.0")),
        ("silent", LINES[2], 3, String::new()),
        ("lying", LINES[3], 4, format!("Sure! {}", answer("1.0"))),
        ("lying with a number", LINES[4], 5, answer("NaN")),
    ];
    let mut ids = Vec::new();
    for (_, claim, line, says) in &cases {
        let claim = *claim;
        let asks = when().matching(move |request| judges(request, claim));
        scene.on(asks, say(says));
        let evidence = format!("file:notes.txt@{commit}:{line}-{line}");
        let words = ["propose", claim, "--scope", "repo:widget"];
        let proposed = asked(
            &scene.fleet,
            &[&words[..], &["--evidence", &evidence]].concat(),
        );
        ids.push(proposed["id"].clone());
    }
    let run = asked(&scene.fleet, &["gate"]);
    assert_eq!(run["judges_asked"], json!(5), "{run:#}");
    assert!(
        scene.model.unmatched().is_empty(),
        "{:#?}",
        scene.model.unmatched()
    );
    let decided = |id: &Value| {
        let judged = run["judged"].as_array().unwrap();
        let one = judged.iter().find(|one| one["id"] == *id).unwrap();
        let text = |key: &str| one[key].as_str().unwrap().to_owned();
        (text("decision"), text("why"))
    };
    assert_eq!(decided(&ids[0]).0, "promote", "{run:#}");
    // Whatever a judge says of it: nothing bears it out.
    let (decision, why) = decided(&ids[1]);
    assert_eq!(decision, "hold", "{run:#}");
    assert!(why.contains("less than 0.5"), "{why}");
    for (id, (kind, ..)) in ids.iter().zip(&cases).skip(2) {
        let (decision, why) = decided(id);
        assert_eq!(decision, "hold", "{kind}: {run:#}");
        assert!(why.contains("there is no judgement"), "{kind}: {why}");
    }
    // Judges have no tools, and what they judge stands in a fence.
    for request in scene.model.requests() {
        assert_eq!(request.tools(), [""; 0]);
        assert!(request.prompt().contains("<<<DATA"), "{}", request.prompt());
    }
}
