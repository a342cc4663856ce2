//! The plan and Carson's own files are not an executor's.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use carson_loop::lock::{Lock, Owner};
use carson_loop::stories::native::{Asked, Mode, StoriesError, read_at};
use serde_json::json;

use crate::tree::{Tree, story};

fn one_attempt() -> Asked {
    Asked {
        max_attempts: Some(1),
        ..Asked::default()
    }
}

#[tokio::test]
async fn an_executor_that_writes_its_own_result_fails() {
    let tree = Tree::new().await;
    let before = tree.snapshot();
    for (script, right) in [
        (
            "sed -i 's/\"open\"/\"passing\"/; s/S-1/S-9/' stories.json",
            "the plan was changed",
        ),
        ("rm stories.json", "the plan was changed"),
        (
            "rm stories.json; mkfifo stories.json",
            "the plan was changed",
        ),
        ("echo '{' > stories.json", "the plan was changed"),
        ("echo ' ' >> stories.json", "the plan was changed"),
        (
            "mv stories.json docs/; ln -s docs/stories.json stories.json",
            "the plan was changed",
        ),
        (
            "rm stories.json; mkdir stories.json; echo x > stories.json/in",
            "the plan was changed",
        ),
        ("chmod 666 stories.json", "the plan was changed"),
        ("ln -f docs/a.md stories.json", "the plan was changed"),
        (
            "rm -r .carson; ln -s docs .carson",
            ".carson/.gitignore was changed",
        ),
        (
            "echo '{}' >> .carson/stories/events.jsonl",
            ".carson/stories/events.jsonl was changed",
        ),
        (
            "rm -r .carson/stories/attempts",
            ".carson/stories/attempts was changed",
        ),
        (
            "echo > .carson/.gitignore",
            ".carson/.gitignore was changed",
        ),
        ("echo x > .carson/other", ".carson/other was changed"),
    ] {
        tree.plan(&[story("S-1", json!({"status": "open"}))]);
        fs::set_permissions(
            tree.root.join("stories.json"),
            Permissions::from_mode(0o644),
        )
        .unwrap();
        let ran = tree.run_as(script, one_attempt()).await;
        assert_eq!(ran.outcomes(), ["out_of_scope"], "{script}: {:?}", ran.came);
        assert!(
            ran.why().iter().any(|why| why == right),
            "{script}: {:?}",
            ran.why()
        );
        assert_eq!(tree.rows()[0].1, "failed", "{script}");
        let mode = fs::metadata(tree.root.join("stories.json"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o644, "{script}");
        assert!(
            tree.changes(&before).is_empty(),
            "{script}: {:?}",
            tree.changes(&before)
        );
        tree.hold();
    }
}

#[tokio::test]
async fn a_run_whose_files_are_taken_away_puts_all_back_and_ends() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({})), story("S-2", json!({}))]);
    let before = tree.snapshot();
    let ran = tree
        .run_as("echo x > src/new; rm -rf .carson", one_attempt())
        .await;
    assert!(
        matches!(ran.came, Err(StoriesError::Gone { .. })),
        "{:?}",
        ran.came
    );
    assert_eq!(ran.outcomes(), ["out_of_scope"]);
    assert!(
        tree.changes(&before).is_empty(),
        "{:?}",
        tree.changes(&before)
    );
    assert_eq!(tree.rows()[1].1, "open");
    tree.hold();
}

/// Whoever edits the plan while it runs loses the race, and not the words.
#[tokio::test]
async fn an_edit_during_a_run_is_kept_beside_the_patch() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({}))]);
    let ran = tree
        .run_as("sed -i 's/Do it/Do it well/' stories.json", one_attempt())
        .await;
    assert_eq!(ran.why(), ["the plan was changed"]);
    let kept = tree.read(".carson/stories/attempts/S-1-1.plan.json");
    assert!(kept.contains("Do it well."), "{kept}");
    assert!(tree.read("stories.json").contains("Do it."));
    tree.hold();
}

#[tokio::test]
async fn a_second_run_is_refused_by_the_name_of_the_first() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({}))]);
    let place = tree.place();
    place.make().unwrap();
    let now = carson_core::Clock::system().now();
    let lock = Lock::take(&place.lock(), &Owner::myself("the first", now)).unwrap();
    let ran = tree.run("echo x > docs/x").await;
    let error = ran.came.unwrap_err();
    assert!(
        !error.is_of_the_ask() && error.to_string().contains("held by the first (pid "),
        "{error}"
    );
    assert!(!tree.has("docs/x"));
    drop(lock);
    tree.run("echo x > docs/x").await.came();
}

#[tokio::test]
async fn what_is_not_right_leaves_nothing_behind() {
    let tree = Tree::bare();
    tree.plan(&[story(
        "S-1",
        json!({"scope": ["../x"], "title": "a\u{202e}b"}),
    )]);
    let ran = tree.run(":").await;
    let error = ran.came.unwrap_err().to_string();
    for right in [
        "2 findings",
        "/stories/0/scope/0: leads out",
        "/stories/0/title: holds U+202E",
    ] {
        assert!(error.contains(right), "{error}");
    }
    assert!(!tree.has(".carson"));
}

/// What a plan names beside it is looked at before anything runs: a link to a secret is no policy.
#[tokio::test]
async fn a_policy_is_a_plain_file_of_the_repository() {
    let tree = Tree::bare();
    std::os::unix::fs::symlink("../secret", tree.root.join("AGENTS.md")).unwrap();
    fs::write(tree.outside().join("secret"), "TOPSECRET").unwrap();
    let stories = [story(
        "S-1",
        json!({"acceptance": ["Created stories.json"]}),
    )];
    let plan = json!({"version": 1, "project": "test", "policy": "AGENTS.md", "stories": stories});
    tree.write("stories.json", &plan.to_string());
    let said = read_at(&tree.place()).unwrap_err().to_string();
    for right in [
        "/policy: AGENTS.md: AGENTS.md is a link",
        "/stories/0/acceptance/0: is the plan itself",
    ] {
        assert!(said.contains(right), "{said}");
    }
    let ran = tree.run("echo x > docs/x").await;
    assert_eq!(ran.came.unwrap_err().to_string(), said);
    assert!(!tree.has("docs/x") && !tree.has(".carson"));
}

#[tokio::test]
async fn one_mode_alone_and_a_person_who_opens_a_story_again() {
    let tree = Tree::bare();
    tree.plan(&[
        story(
            "S-1",
            json!({"mode": "audit", "acceptance": ["Created audit/a.md"]}),
        ),
        story("S-2", json!({})),
    ]);
    let asked = |mode| Asked {
        mode: Some(mode),
        ..one_attempt()
    };
    let ran = tree.run_as("exit 1", asked(Mode::Audit)).await;
    assert_eq!((ran.came().taken.len(), ran.came().open), (1, 1));
    assert_eq!(ran.came().failed, ["S-1"]);
    let text = tree.read("stories.json").replace("failed", "open");
    tree.write("stories.json", &text);
    let ran = tree
        .run_as("mkdir -p audit; echo r > audit/a.md", asked(Mode::Audit))
        .await;
    assert_eq!(ran.came().passed, ["S-1"]);
    assert_eq!(tree.rows()[0].2, 2, "its attempts go on");
    tree.hold();
}
