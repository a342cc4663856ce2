//! A run that is stopped, and one that is killed.

use std::future::Future;
use std::path::Path;

use carson_loop::stories::native::{Asked, Interrupted, StoriesError};
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
    let script = SLOW.replace("echo x > src/new; rm src/keep.txt;", "");
    let stopping = async {
        there(&marker).await;
        given.cancel.cancel();
    };
    let (ran, ()) = tokio::join!(tree.run_given(&script, asked(None), &given), stopping);
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
