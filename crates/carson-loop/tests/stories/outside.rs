//! What an executor may not do to files, each way tried; all of it is undone.

use std::time::Instant;

use carson_loop::stories::native::{Asked, StoriesError, Told};
use serde_json::json;

use crate::tree::{Ran, Tree, story};

async fn once(tree: &Tree, script: &str) -> Ran {
    let asked = Asked {
        max_attempts: Some(1),
        ..Asked::default()
    };
    tree.run_as(script, asked).await
}

/// What is done, and what is said of it.
const OUTSIDE: &[(&str, &str)] = &[
    (
        "mv docs/a.md src/moved.md",
        "src/moved.md (added) is outside of its scope",
    ),
    (
        "rm src/keep.txt",
        "src/keep.txt (deleted) is outside of its scope",
    ),
    (
        "echo more >> src/keep.txt",
        "src/keep.txt (changed) is outside of its scope",
    ),
    (
        "chmod 755 src/keep.txt",
        "src/keep.txt (mode changed) is outside of its scope",
    ),
    (
        "chmod 700 src",
        "src (mode changed) is outside of its scope",
    ),
    (
        "rm src/keep.txt; mkdir src/keep.txt",
        "src/keep.txt (replaced) is outside of its scope",
    ),
    (
        "rm src/keep.txt; ln -s ../docs/a.md src/keep.txt",
        "src/keep.txt (replaced) is outside of its scope",
    ),
    (
        "ln -s /etc/passwd docs/link",
        "docs/link is a link that leads out of the tree",
    ),
    (
        "ln -s ../.. docs/link",
        "docs/link is a link that leads out of the tree",
    ),
    (
        "mkdir docs/deep; ln -s .. docs/deep/up; ln -s up/../.. docs/deep/link",
        "docs/deep/link is a link that leads out of the tree",
    ),
    (
        "ln -s ../src docs/in; echo x > docs/in/new",
        "src/new (added) is outside of its scope",
    ),
    (
        "ln src/keep.txt docs/hard; echo x >> docs/hard",
        "src/keep.txt (changed) is outside of its scope",
    ),
    (
        "echo x > docs/../src/dotdot",
        "src/dotdot (added) is outside of its scope",
    ),
    (
        "mkdir Docs; echo x > Docs/a.md",
        "Docs/a.md (added) is outside of its scope",
    ),
    (
        "echo x > docs.md",
        "docs.md (added) is outside of its scope",
    ),
    ("echo x >> .env", ".env (changed) is outside of its scope"),
    (
        "mkdir secrets; echo x > secrets/key",
        "secrets/key (added) is outside of its scope",
    ),
    (
        "mkdir dist; echo x > dist/app.js",
        "dist/app.js (added) is outside of its scope",
    ),
    (
        "mkfifo src/pipe",
        "src/pipe (added) is outside of its scope",
    ),
    (
        "mkdir src/empty",
        "src/empty (added) is outside of its scope",
    ),
    (
        "mkdir src/.git; echo x > src/.git/hidden",
        "src/.git/hidden (added) is outside of its scope",
    ),
    (
        "mkdir src/.carson; echo x > src/.carson/hidden",
        "src/.carson/hidden (added) is outside of its scope",
    ),
    (
        "echo x > \"src/line\nbreak\"",
        "(added) is outside of its scope",
    ),
    (
        "echo target > .gitignore; echo x > src/new",
        ".gitignore (changed) is outside of its scope",
    ),
    (
        "mkdir src/shut; echo x > src/shut/x; chmod 0 src/shut",
        "src/shut (added) is outside of its scope",
    ),
    // What git runs is nobody's to say.
    (
        "mkdir docs/.git; echo x > docs/.git/config",
        "docs/.git/config (added) is outside of its scope",
    ),
    // The tool fails, and it is a violation all the same.
    (
        "echo x > src/new; exit 9",
        "src/new (added) is outside of its scope",
    ),
    (
        "echo x > src/new; kill -9 $$",
        "src/new (added) is outside of its scope",
    ),
];

#[tokio::test]
async fn is_seen_whatever_it_is_and_undone() {
    let tree = Tree::new().await;
    let (before, refs) = (tree.snapshot(), tree.refs().await);
    for (script, right) in OUTSIDE {
        tree.plan(&[story("S-1", json!({}))]);
        let ran = once(&tree, &format!("echo fine > docs/fine\n{script}")).await;
        assert_eq!(
            ran.outcomes(),
            ["out_of_scope"],
            "{script}: {:#?} {:?}",
            ran.told,
            ran.came
        );
        assert!(
            ran.why().iter().any(|why| why.ends_with(right)),
            "{script}: {:?}",
            ran.why()
        );
        assert!(
            tree.changes(&before).is_empty(),
            "{script}: {:?}",
            tree.changes(&before)
        );
        assert_eq!(tree.refs().await, refs, "{script}");
        tree.hold();
    }
}

#[tokio::test]
async fn what_it_may_do_it_may() {
    let tree = Tree::new().await;
    for script in [
        "mkdir -p docs/new/deep; echo x > docs/new/deep/x",
        "rm docs/a.md",
        "echo x > docs/b.md; chmod 755 docs/b.md; ln -s b.md docs/link",
        "mkdir -p target/debug; echo x > target/debug/out",
        "mkdir src/made; echo x > src/made/x; rm -r src/made",
        ":",
    ] {
        let left = tree.root.join("docs");
        tree.plan(&[story("S-1", json!({}))]);
        let ran = once(&tree, script).await;
        assert_eq!(ran.outcomes(), ["passed"], "{script}: {:?}", ran.why());
        assert!(left.is_dir());
    }
}

#[tokio::test]
async fn who_dies_or_leaves_somebody_behind_writes_nothing_later() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({})), story("S-2", json!({}))]);
    let before = tree.snapshot();
    // The first is killed, the second leaves a daemon that would write when nobody looks any more.
    let script = r#"
      if [ $CARSON_STORY_ID = S-1 ]; then echo half > docs/half; kill -9 $$; fi
      setsid sh -c 'echo $$ > "$OUT/daemon"; while :; do sleep 0.05; echo x > src/late; done' </dev/null >/dev/null 2>&1 &
      while [ ! -s "$OUT/daemon" ]; do sleep 0.01; done
      echo fine > docs/fine
    "#;
    let ran = once(&tree, script).await;
    assert_eq!(ran.outcomes()[0], "tool_failed");
    let pid = std::fs::read_to_string(tree.outside().join("daemon")).unwrap();
    assert_eq!(
        carson_proc::ProcessId::of(pid.trim().parse().unwrap()),
        None
    );
    assert!(!tree.has("src/late") && !tree.has("docs/half"));
    let changes = tree.changes(&before);
    let fine = |change: &String| change.starts_with("docs");
    assert!(changes.iter().all(fine), "{changes:?}");
}

/// What is in it is covered by the scope, or is not: nobody can look, and nobody can take it away.
#[tokio::test]
async fn what_is_too_deep_to_be_looked_at_is_a_violation_in_the_scope_too() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({}))]);
    let script = "cd docs; for n in $(seq 1 210); do mkdir d; cd d; done; echo x > x";
    let ran = once(&tree, script).await;
    assert_eq!(ran.outcomes(), ["out_of_scope"], "{:?}", ran.came);
    let why = ran.why();
    assert!(
        why[0].ends_with("d cannot be looked at: it is more than 200 directories deep"),
        "{why:?}"
    );
    let error = ran.came.unwrap_err();
    assert!(matches!(error, StoriesError::NotUndone { .. }), "{error}");
    assert_eq!(tree.rows()[0].1, "open", "the run ended there");
    // Where a person has put it right, the story is what it was judged to be.
    std::fs::remove_dir_all(tree.root.join("docs/d")).unwrap();
    let ran = once(&tree, "echo x > docs/x").await;
    assert!(ran.came().taken.is_empty());
    assert_eq!(tree.rows()[0].1, "failed");
    tree.hold();
}

/// What stands there already and cannot be looked at does not make a story fail, and is said each time.
#[tokio::test]
async fn what_cannot_be_looked_at_is_said() {
    let tree = Tree::new().await;
    let deep = tree.root.join(vec!["d"; 201].join("/"));
    std::fs::create_dir_all(&deep).unwrap();
    tree.plan(&[story("S-1", json!({})), story("S-2", json!({}))]);
    let ran = once(&tree, "echo x > docs/$CARSON_STORY_ID").await;
    assert_eq!(ran.outcomes(), ["passed", "passed"], "{:?}", ran.why());
    let why = ran.why();
    assert_eq!(why.len(), 2);
    let all =
        |why: &String| why.ends_with("d/d was not looked at: it is more than 200 directories deep");
    assert!(why.iter().all(all), "{why:?}");
    let is_note = |told: &&Told| matches!(told, Told::Note(text) if text.contains("is not seen"));
    assert_eq!(ran.told.iter().filter(is_note).count(), 1, "{:?}", ran.told);
    let seen = tree.events();
    let ended = seen
        .iter()
        .rfind(|event| event["event"] == "attempt_ended")
        .unwrap();
    assert!(
        ended["why"][0]
            .as_str()
            .unwrap()
            .contains("was not looked at")
    );
}

#[tokio::test]
async fn ten_thousand_files_are_undone() {
    let tree = Tree::new().await;
    tree.plan(&[story("S-1", json!({}))]);
    let before = tree.snapshot();
    let started = Instant::now();
    let ran = once(
        &tree,
        "mkdir src/many; cd src/many; seq 1 10000 | xargs touch",
    )
    .await;
    assert_eq!(ran.outcomes(), ["out_of_scope"]);
    assert_eq!(ran.why().len(), 21, "the patch has the rest");
    assert!(tree.changes(&before).is_empty());
    assert!(started.elapsed().as_secs() < 90, "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_promise_changes_nothing_that_its_executor_may_not() {
    let tree = Tree::new().await;
    let promise = "sh docs/check.sh";
    tree.plan(&[story("S-1", json!({"promise": promise}))]);
    let (before, refs) = (tree.snapshot(), tree.refs().await);
    let script = r#"cat > docs/check.sh <<'EOF'
echo x > src/evil; rm src/keep.txt; echo y > docs/made-by-check
git config core.editor evil; echo evil > .git/hooks/pre-commit
git add -A; git commit -q -m evil; sed -i s/open/passing/ stories.json; rm -rf .carson/stories/attempts
mkdir -p src/new/dir
EOF"#;
    let ran = once(&tree, script).await;
    assert_eq!(ran.outcomes(), ["passed"], "{:?}", ran.why());
    let changes = tree.changes(&before);
    assert!(
        changes.iter().all(|change| change.starts_with("docs")),
        "{changes:?}"
    );
    assert_eq!(tree.refs().await, refs);
    assert!(tree.has(".carson/stories/attempts/S-1-1.prompt.md"));
    tree.hold();
}
