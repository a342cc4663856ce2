//! A run that is stopped, and one that is killed.

use std::future::Future;
use std::path::Path;

use carson_loop::stories::native::{Asked, Interrupted, Place, StoriesError, replayed, run};
use serde_json::json;

use crate::tree::{Ran, Tree, story};

/// An executor that has done something, and then takes for ever.
const SLOW: &str =
    "echo half > docs/half; echo x > src/new; rm src/keep.txt; touch \"$OUT/there\"; sleep 1000";

async fn there(path: &Path) {
    while !path.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// Runs until the executor has done it, and kills the run there: nothing of it goes on.
async fn killed_at(tree: &Tree, run: impl Future<Output = Ran>) {
    let marker = tree.outside().join("there");
    tokio::select! {
        ran = run => panic!("it ended: {:?}", ran.came),
        () = there(&marker) => {}
    }
    std::fs::remove_file(marker).unwrap();
}

fn asked(interrupted: Option<Interrupted>) -> Asked {
    Asked {
        max_attempts: Some(1),
        interrupted,
        ..Asked::default()
    }
}

#[tokio::test]
async fn one_that_is_stopped_leaves_the_tree_as_it_was_and_the_story_open() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({})), story("S-2", json!({}))]);
    let before = tree.snapshot();
    let given = tree.given();
    let marker = tree.outside().join("there");
    // What it had half done out of its scope when it was stopped is nobody's fault.
    let script = SLOW;
    let stopping = async {
        there(&marker).await;
        given.cancel.cancel();
    };
    let (ran, ()) = tokio::join!(tree.run_given(script, asked(None), &given), stopping);
    assert!(ran.came().stopped);
    assert_eq!(ran.outcomes(), ["interrupted"]);
    assert!(
        tree.changes(&before).is_empty(),
        "{:?}",
        tree.changes(&before)
    );
    assert_eq!(
        tree.rows()[0],
        ("S-1".into(), "open", 1, "interrupted".into())
    );
    tree.hold();
    let ran = tree.run_as("echo x > docs/x", asked(None)).await;
    assert_eq!(ran.came().passed, ["S-1", "S-2"]);
}

#[tokio::test]
async fn the_next_run_undoes_what_a_killed_one_left_and_keeps_it() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({}))]);
    let before = tree.snapshot();
    killed_at(&tree, tree.run_as(SLOW, asked(None))).await;
    assert!(tree.has("src/new") && !tree.has("src/keep.txt"));
    tree.hold();
    assert_eq!(tree.rows()[0].1, "open");

    let ran = tree
        .run_as("test ! -e docs/half && echo x > docs/x", asked(None))
        .await;
    assert_eq!(ran.came().passed, ["S-1"], "{:#?}", ran.told);
    assert_eq!(ran.outcomes(), ["interrupted", "passed"]);
    let ended = tree.events();
    let mut ended = ended
        .iter()
        .filter(|event| event["event"] == "attempt_ended");
    assert_eq!(
        ended.next().unwrap()["changed"],
        3,
        "what was undone is counted"
    );
    let changes = tree.changes(&before);
    assert!(
        changes.iter().all(|change| change.starts_with("docs")),
        "{changes:?}"
    );
    assert!(!tree.has("docs/half") && tree.has("src/keep.txt"));
    let patch = tree.read(".carson/stories/attempts/S-1-1.patch");
    assert!(
        patch.contains("+half") && patch.contains("-keep"),
        "{patch}"
    );
    tree.hold();
}

#[tokio::test]
async fn the_files_may_stay_as_they_are() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({}))]);
    killed_at(&tree, tree.run_as(SLOW, asked(None))).await;
    let ran = tree
        .run_as("rm docs/half", asked(Some(Interrupted::Keep)))
        .await;
    assert_eq!(ran.came().passed, ["S-1"]);
    assert!(tree.has("src/new"), "a person said so");
    tree.hold();
}

#[tokio::test]
async fn who_kills_its_run_smuggles_neither_commits_nor_a_plan() {
    let tree = Tree::new().await;
    let (before, refs) = (tree.snapshot(), tree.refs().await);
    for smuggled in [
        "git add -A; git commit -q -m smuggled",
        "sed -i 's/\"S-1\"/\"S-1\", \"status\": \"passing\"/' stories.json",
    ] {
        tree.plan(&[story("S-1", json!({}))]);
        let script = SLOW.replace("touch", &format!("{smuggled}; touch"));
        killed_at(&tree, tree.run_as(&script, asked(None))).await;
        let ran = tree.run_as(":", asked(None)).await;
        let error = ran.came.unwrap_err();
        assert!(
            matches!(error, StoriesError::Undecided { .. }),
            "{smuggled}: {error}"
        );
        assert!(tree.has("src/new"), "nothing was touched");

        let ran = tree
            .run_as(
                "echo x > docs/x; rm docs/x",
                asked(Some(Interrupted::Restore)),
            )
            .await;
        assert_eq!(ran.came().passed, ["S-1"], "{smuggled}: {:#?}", ran.told);
        assert!(
            tree.changes(&before).is_empty(),
            "{smuggled}: {:?}",
            tree.changes(&before)
        );
        assert_eq!(tree.refs().await, refs, "{smuggled}");
        tree.hold();
    }
    assert_eq!(
        tree.git("log --format=%s -1 refs/carson/stories/S-1-1")
            .await,
        "smuggled\n"
    );
}

/// A run that something else ends in the midst of an attempt leaves it to the next one, as a kill does.
#[tokio::test]
async fn what_an_error_left_open_is_undone_by_the_next_run() {
    let tree = Tree::new().await;
    tree.plan(&[story(
        "S-1",
        json!({"promise": "mkdir -p src/in; chmod 700 src"}),
    )]);
    let before = tree.snapshot();
    killed_at(&tree, tree.run_as(SLOW, asked(None))).await;
    // It said that it ended, and the attempt did not.
    let ended = r#"{"at":"2026-01-01T00:00:00Z","plan":"stories.json","event":"run_ended","taken":1,"passed":0,"open":1}"#;
    let events = tree.read(".carson/stories/events.jsonl");
    tree.write(
        ".carson/stories/events.jsonl",
        &format!("{events}{ended}\n"),
    );
    let ran = tree.run_as("rm docs/a.md", asked(None)).await;
    assert_eq!(ran.outcomes(), ["interrupted", "passed"], "{:?}", ran.came);
    let changes = tree.changes(&before);
    assert!(
        changes.iter().all(|change| change.starts_with("docs")),
        "{changes:?}"
    );
}

/// Only the plan whose attempt was killed says what was before it.
#[tokio::test]
async fn another_plan_of_the_tree_is_not_begun_upon_a_killed_attempt() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({}))]);
    let text = tree.read("stories.json");
    tree.write("other.json", &text.replace("\"test\"", "\"other\""));
    killed_at(&tree, tree.run_as(SLOW, asked(None))).await;
    let other = Place::find(&tree.root.join("other.json"), None, &tree.root).unwrap();
    let asks = |interrupted| Asked {
        executor: Some(":".into()),
        ..asked(interrupted)
    };
    let given = tree.given();
    let error = run(&other, &asks(None), &given, &mut |_| {})
        .await
        .unwrap_err();
    assert!(
        matches!(&error, StoriesError::OtherPlan { plan, .. } if plan == "stories.json"),
        "{error}"
    );
    assert!(tree.has("src/new"), "nothing was touched");
    let came = run(&other, &asks(Some(Interrupted::Keep)), &given, &mut |_| {})
        .await
        .unwrap();
    assert_eq!(came.passed, ["S-1"]);
    assert!(tree.has("src/new") && tree.has("stories.json"));
    tree.hold();
}

#[tokio::test]
async fn who_takes_the_repository_away_and_kills_its_run_is_not_believed() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({}))]);
    let (before, refs) = (tree.snapshot(), tree.refs().await);
    let script = SLOW.replace("touch", "mv .git/HEAD \"$OUT/HEAD\"; touch");
    killed_at(&tree, tree.run_as(&script, asked(None))).await;
    for said in [None, Some(Interrupted::Restore)] {
        let error = tree.run_as(":", asked(said)).await.came.unwrap_err();
        assert!(matches!(error, StoriesError::OtherAreas { .. }), "{error}");
        assert!(tree.has("src/new"), "nothing was touched");
    }
    std::fs::rename(tree.outside().join("HEAD"), tree.root.join(".git/HEAD")).unwrap();
    let ran = tree.run_as(":", asked(None)).await;
    assert_eq!(ran.outcomes(), ["interrupted", "passed"], "{:?}", ran.came);
    assert!(
        tree.changes(&before).is_empty(),
        "{:?}",
        tree.changes(&before)
    );
    assert_eq!(tree.refs().await, refs);
}

/// Killed between an attempt that passed and the word that its story did: it is not paid for again, and what is there
/// already is not asked of it a second time.
#[tokio::test]
async fn a_story_whose_attempt_passed_is_not_done_again() {
    for (script, status) in [
        ("echo r > docs/r.md", "passing"),
        ("echo x > src/x", "failed"),
    ] {
        let tree = Tree::new().await;
        tree.plan(&[
            story("S-1", json!({"acceptance": ["Created docs/r.md"]})),
            story("S-2", json!({"priority": 2})),
        ]);
        tree.run_as(script, asked(None)).await;
        // As it was before that was written down: all events from then on are gone.
        let events = tree.read(".carson/stories/events.jsonl");
        let ended = events
            .lines()
            .position(|line| line.contains("attempt_ended"));
        let kept: Vec<&str> = events.lines().take(ended.unwrap() + 1).collect();
        tree.write(
            ".carson/stories/events.jsonl",
            &format!("{}\n", kept.join("\n")),
        );
        let made = replayed(&tree.place()).unwrap().unwrap().document.pretty();
        tree.write("stories.json", &made);
        assert_eq!(tree.rows()[0].1, "open");

        let ran = tree
            .run_as("echo again > docs/$CARSON_STORY_ID", asked(None))
            .await;
        assert_eq!(ran.came().taken, ["S-2"], "{script}");
        assert_eq!(tree.rows()[0].1, status, "{script}");
        tree.hold();
    }
}
