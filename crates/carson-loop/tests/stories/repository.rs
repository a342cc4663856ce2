//! What an executor may and may not do to a repository.

use carson_loop::stories::native::{Asked, StoriesError};
use serde_json::json;

use crate::tree::{Ran, Tree, story};

async fn once(tree: &Tree, script: &str) -> Ran {
    let asked = Asked {
        max_attempts: Some(1),
        ..Asked::default()
    };
    tree.plan(&[story("S-1", json!({}))]);
    tree.run_as(script, asked).await
}

const MAY_NOT: &[(&str, &str)] = &[
    (
        "git config core.fsmonitor 'touch evil'",
        ".git/config was changed",
    ),
    (
        "echo 'touch evil' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit",
        ".git/hooks/pre-commit was changed",
    ),
    (
        "echo '*.rs filter=evil' > .git/info/attributes",
        ".git/info/attributes was changed",
    ),
    ("git branch other", "refs/heads/other was changed"),
    ("git tag v1", "refs/tags/v1 was changed"),
    (
        "git checkout -q -b other",
        "HEAD was moved (ref: refs/heads/other)",
    ),
    ("git checkout -q --detach", "HEAD was moved"),
    (
        "echo x >> docs/a.md; git stash -q",
        "refs/stash was changed",
    ),
    (
        "git reset -q --hard HEAD~1",
        "commits that were on the branch are not on it any more",
    ),
    (
        "git commit -q --amend -m other",
        "commits that were on the branch are not on it any more",
    ),
    (
        "echo x > src/new; git add -A; git commit -q -m out",
        "a commit changes src/new, which is outside of its scope",
    ),
    // Back again, but in the history.
    (
        "echo x > src/new; git add -A; git commit -q -m in; git rm -q src/new; git commit -q -m out",
        "a commit changes src/new, which is outside of its scope",
    ),
    (
        "cp stories.json s; echo >> stories.json; git add -f stories.json; git commit -q -m plan; cp s stories.json; rm s",
        "a commit changes stories.json, which is outside of its scope",
    ),
    (
        "git add -f .carson; git commit -q -m own",
        "which is outside of its scope",
    ),
    (
        "git update-ref refs/heads/other $(git commit-tree -p HEAD -m sneaky HEAD^{tree})",
        "refs/heads/other was changed",
    ),
    ("rm .git/HEAD", "no repository is there any more)"),
    ("rm .git/HEAD; mkfifo .git/HEAD", ".git/HEAD was changed"),
    (
        "rm .git/refs/heads/main; mkfifo .git/refs/heads/main",
        ".git/refs/heads/main was changed",
    ),
    (
        "echo 'garbage' > .git/refs/heads/main",
        "commits that were on the branch are not on it any more",
    ),
];

#[tokio::test]
async fn every_way_to_another_history_is_seen_and_undone() {
    let tree = Tree::new().await;
    let (before, refs) = (tree.snapshot(), tree.refs().await);
    for (script, right) in MAY_NOT {
        let ran = once(&tree, script).await;
        assert_eq!(ran.outcomes(), ["out_of_scope"], "{script}: {:?}", ran.came);
        let said = |why: &String| why.contains(right);
        assert!(ran.why().iter().any(said), "{script}: {:?}", ran.why());
        assert_eq!(tree.refs().await, refs, "{script}");
        assert!(
            tree.changes(&before).is_empty(),
            "{script}: {:?}",
            tree.changes(&before)
        );
        let status = tree.git("status --porcelain --untracked-files=no").await;
        assert_eq!(status, "", "{script}: the index is as it was");
        tree.hold();
    }
    assert!(!tree.has("evil"));
}

/// What git writes by itself is nobody's change.
#[tokio::test]
async fn who_looks_fetches_or_packs_changes_nothing() {
    let tree = Tree::new().await;
    tree.git("clone -q . ../other").await;
    tree.git("remote add other ../other").await;
    tree.git("fetch -q other").await;
    for script in [
        "git status",
        "git fetch -q other",
        "git gc -q",
        "git diff; git log",
    ] {
        let ran = once(&tree, script).await;
        assert_eq!(ran.outcomes(), ["passed"], "{script}: {:?}", ran.why());
    }
}

/// Objects are not kept: where they are gone, nobody says that all is as it was.
#[tokio::test]
async fn a_repository_that_is_gone_is_said_to_be_gone() {
    let tree = Tree::new().await;
    let ran = once(&tree, "rm -rf .git; echo x > src/new").await;
    let error = ran.came.unwrap_err();
    assert!(matches!(error, StoriesError::NotUndone { .. }), "{error}");
    assert!(
        error.to_string().contains(".git: its refs, or the objects"),
        "{error}"
    );
    assert_eq!(tree.rows()[0].3, "out_of_scope");
    assert!(!tree.has("src/new"), "the rest is undone");
}

#[tokio::test]
async fn a_submodules_index_is_nobodys_and_its_commits_are_seen() {
    let tree = Tree::new().await;
    tree.git("clone -q . ../sub").await;
    tree.git("-c protocol.file.allow=always submodule add -q ../sub docs/sub")
        .await;
    tree.git("commit -q -m sub").await;
    let refs = tree.refs().await;
    let touched = "touch -d @1 docs/sub/docs/a.md; git -C docs/sub status; git status";
    assert_eq!(once(&tree, touched).await.outcomes(), ["passed"]);
    for (script, right) in [
        (
            "git -C docs/sub commit -q --allow-empty -m in",
            ".git/modules/docs/sub/",
        ),
        (
            "git -C docs/sub config core.fsmonitor evil",
            ".git/modules/docs/sub/config was changed",
        ),
        (
            "echo 'gitdir: /elsewhere' > docs/sub/.git",
            "docs/sub/.git (changed) is outside of its scope",
        ),
        (
            " echo x > .git/modules/docs/sub/hooks/post-commit",
            ".git/modules/docs/sub/hooks/post-commit was changed",
        ),
    ] {
        let ran = once(&tree, script).await;
        assert_eq!(ran.outcomes(), ["out_of_scope"], "{script}: {:?}", ran.came);
        assert!(
            ran.why().iter().any(|why| why.starts_with(right)),
            "{script}: {:?}",
            ran.why()
        );
        assert_eq!(tree.refs().await, refs, "{script}");
        let status = tree.git("status --porcelain --untracked-files=no").await;
        assert_eq!(status, "", "{script}");
    }
}

#[tokio::test]
async fn commits_within_the_scope_stay_and_those_of_a_story_that_failed_are_kept() {
    let tree = Tree::new().await;
    let head = tree.git("rev-parse HEAD").await;
    let commit = "echo x >> docs/a.md; git add docs; git commit -q -m in";
    assert_eq!(once(&tree, commit).await.outcomes(), ["passed"]);
    let passed = tree.git("rev-parse HEAD").await;
    assert_ne!(passed, head);
    assert_eq!(tree.git("log --format=%s -1").await, "in\n");

    let ran = once(
        &tree,
        &format!("{commit}; git rev-parse HEAD > \"$OUT/lost\"; exit 1"),
    )
    .await;
    assert_eq!(ran.outcomes(), ["tool_failed"]);
    assert_eq!(
        tree.git("rev-parse HEAD").await,
        passed,
        "the branch is where it stood"
    );
    let lost = std::fs::read_to_string(tree.outside().join("lost")).unwrap();
    assert_eq!(tree.git("rev-parse refs/carson/stories/S-1-1").await, lost);
    let events = tree.events();
    let ended = events
        .iter()
        .rfind(|event| event["event"] == "attempt_ended")
        .unwrap();
    assert_eq!(ended["kept"], json!(["refs/carson/stories/S-1-1"]));
    // The next one has a name of its own.
    let ran = once(&tree, &format!("{commit} --author 'a <a@a>'; exit 1")).await;
    assert_eq!(ran.outcomes(), ["tool_failed"]);
    assert_eq!(tree.git("rev-parse refs/carson/stories/S-1-1").await, lost);
    assert_eq!(
        tree.git("log --format=%an -1 refs/carson/stories/S-1-1.2")
            .await,
        "a\n"
    );
}

#[tokio::test]
async fn in_a_work_tree_of_its_own_and_on_a_branch_without_commits() {
    let tree = Tree::new().await;
    tree.git("worktree add -q ../linked -b linked").await;
    let linked = Tree {
        root: tree.outside().canonicalize().unwrap().join("linked"),
        ..tree
    };
    let refs = linked.git("for-each-ref").await;
    let ran = once(
        &linked,
        "echo x > src/new; git add -A; git commit -q -m out",
    )
    .await;
    assert_eq!(ran.outcomes(), ["out_of_scope"], "{:?}", ran.came);
    let after = linked.git("for-each-ref").await;
    let after: String = after
        .lines()
        .filter(|line| !line.contains("refs/carson/"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(after, refs);
    // What leads to the repository is not theirs, either.
    let there = linked.read(".git");
    for script in [
        "cp -r ../tree/.git ../evil; echo \"gitdir: $PWD/../evil\" > .git",
        "rm .git; cp -r ../tree/.git .git",
        "rm .git; ln -s ../tree/.git .git",
        "rm .git",
    ] {
        let ran = once(&linked, script).await;
        assert_eq!(ran.outcomes(), ["out_of_scope"], "{script}: {:?}", ran.came);
        assert!(
            ran.why().contains(&".git was replaced".to_owned()),
            "{script}: {:?}",
            ran.why()
        );
        assert_eq!(linked.read(".git"), there, "{script}");
    }
    assert_eq!(
        once(&linked, "echo x >> docs/a.md; git commit -q -a -m in")
            .await
            .outcomes(),
        ["passed"]
    );

    let unborn = Tree::bare();
    unborn.git("init -q -b main").await;
    assert_eq!(
        once(&unborn, "git add docs; git commit -q -m first")
            .await
            .outcomes(),
        ["passed"]
    );
    let unborn = Tree::bare();
    unborn.git("init -q -b main").await;
    assert_eq!(
        once(&unborn, "git add src; git commit -q -m first")
            .await
            .outcomes(),
        ["out_of_scope"]
    );
    assert!(unborn.git("for-each-ref refs/heads").await.is_empty());
}

#[tokio::test]
async fn whoever_commits_all_commits_the_plan_as_we_wrote_it_and_may() {
    let tree = Tree::new().await;
    let stories = [
        story("S-1", json!({"acceptance": ["Created docs/1"]})),
        story("S-2", json!({"acceptance": ["Created docs/2"]})),
    ];
    tree.plan(&stories);
    tree.git("add stories.json").await;
    tree.git("commit -q -m plan").await;
    let script = "echo x > docs/${CARSON_STORY_ID#S-}; git add -A; git commit -q -m work";
    let ran = tree.run(script).await;
    assert_eq!(ran.came().passed, ["S-1", "S-2"], "{:#?}", ran.told);
    // Nothing is open, and nothing failed.
    assert_eq!(tree.run("true").await.came().given_up, 0);
}

#[tokio::test]
async fn a_run_with_nothing_open_says_what_was_given_up() {
    let tree = Tree::new().await;
    assert_eq!(once(&tree, "exit 1").await.came().failed, ["S-1"]);
    let ran = tree.run("true").await;
    let came = ran.came();
    assert_eq!((came.taken.len(), came.given_up), (0, 1));
}
