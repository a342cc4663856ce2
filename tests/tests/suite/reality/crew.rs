//! The crew on GitHub: what it asks for is there once, whoever dies in between, and nobody but the right people
//! approve it.

use serde_json::{Value, json};

use super::whole::Scene;
use crate::crew::planner::upkeep_later;
use crate::crew::{asks, member, upkeep};

const TWO: &str = r#"{"kind": "issue", "title": "Part one", "body": "First of them."},
{"kind": "issue", "title": "Part two", "body": "Second of them."}"#;

/// The open issues with this in their text.
async fn issues(scene: &Scene, text: &str) -> Vec<Value> {
    let mut all = scene.github.all("issues?state=all&per_page=100").await;
    all.retain(|issue| {
        issue["body"]
            .as_str()
            .is_some_and(|body| body.contains(text))
    });
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_plan_is_filed_once_a_member_approves_it() {
    let scene = Scene::begin().await;
    member(&scene.fleet, "planner", &asks(TWO), "");
    let spec = scene.issue("All of it", "Much.", &["carson:plan"]).await;
    let row = scene.fleet.fire("planner").json();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let (_, labels, _) = scene.state(spec).await;
    assert_eq!(labels, ["plan-pending-approval"]);
    let comments = format!("issues/{spec}/comments");
    let all = scene.github.all(&format!("{comments}?per_page=100")).await;
    let mut lines = all
        .iter()
        .flat_map(|one| one["body"].as_str().unwrap().lines());
    let words = lines.rfind(|line| line.starts_with("/carson approve"));
    let yes = json!({"body": words.unwrap()});
    // A stranger's yes is none.
    scene.github.does("mallory", "POST", &comments, &yes).await;
    upkeep_later(&scene.fleet);
    assert!(issues(&scene, "Part of").await.is_empty());
    for _ in 0..2 {
        scene.github.does("ann", "POST", &comments, &yes).await;
        upkeep_later(&scene.fleet);
    }
    let filed = issues(&scene, &format!("Part of #{spec}")).await;
    assert_eq!(filed.len(), 2, "{filed:#?}");
    assert_eq!(filed[0]["labels"][0]["name"], "carson:ready", "{filed:#?}");
    let (_, labels, _) = scene.state(spec).await;
    assert_eq!(labels, ["carson:planned"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_planner_that_is_killed_after_any_write_files_each_issue_once() {
    let scene = Scene::begin().await;
    let grant = "[grant]\nissues = 5\nissues_per_day = 100\nissue_label = \"for:hand\"\n[limits]\nmax_firings_per_day = 100\n";
    member(&scene.fleet, "planner", &asks(TWO), grant);
    scene.issue("First", "Much.", &["carson:plan"]).await;
    let before = scene.github.front.writes();
    let row = scene.fleet.fire("planner").json();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let writes = scene.github.front.writes() - before;
    assert!(writes >= 5, "{writes}");
    for at in 1..=writes {
        let spec = scene
            .issue(&format!("After {at}"), "Much.", &["carson:plan"])
            .await;
        assert!(scene.killed_after("planner", at), "after {at} of {writes}");
        let mut ended = false;
        for _ in 0..4 {
            upkeep(&scene.fleet);
            ended = scene.fleet.fire("planner").json()["work"].is_null();
            if ended {
                break;
            }
        }
        assert!(ended, "after {at} of {writes}: it goes on for ever");
        let filed = issues(&scene, &format!("Part of #{spec},")).await;
        assert_eq!(filed.len(), 2, "after {at} of {writes}: {filed:#?}");
        let (state, labels, marks) = scene.state(spec).await;
        assert_eq!(
            (state.as_str(), labels.len()),
            ("open", 1),
            "after {at}: {labels:?}"
        );
        assert_eq!(
            marks.get("claim"),
            marks.get("release"),
            "after {at}: {marks:?}"
        );
    }
}
