//! The gate, and what passes it.

use std::fs;

use crate::fixture::{World, git};
use crate::{GitError, Salvaged};

fn why(answer: Salvaged) -> String {
    match answer {
        Salvaged::No { why } => why,
        Salvaged::Yes => panic!("it may not go"),
    }
}

#[tokio::test]
async fn a_worktree_without_work_may_go_with_its_branch() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    assert_eq!(tree.is_salvaged().await.unwrap(), Salvaged::Yes);
    tree.remove().await.unwrap();
    assert!(!tree.path.exists() && !tree.admin().exists());
    assert!(!world.has_ref(&tree.branch_ref()));
    // Again, by somebody who did not know.
    tree.remove().await.unwrap();
}

#[tokio::test]
async fn each_kind_of_unsaved_work_holds_it() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("untracked", "1");
    assert!(why(tree.is_salvaged().await.unwrap()).contains("uncommitted"));
    let error = tree.remove().await.unwrap_err();
    assert!(matches!(error, GitError::NotSalvaged { .. }));
    assert!(tree.path.join("untracked").exists());
    tree.run(["add", "untracked"]);
    fs::remove_file(tree.path.join("untracked")).unwrap();
    assert!(
        why(tree.is_salvaged().await.unwrap()).contains("uncommitted"),
        "staged only"
    );
    tree.put("untracked", "1");
    tree.run(["commit", "--quiet", "-m", "Work"]);
    assert!(why(tree.is_salvaged().await.unwrap()).contains("neither pushed nor kept"));
    tree.run(["checkout", "--quiet", "--detach", "HEAD~1"]);
    tree.put("b", "2");
    let stray = tree.commit_seen("Stray").await;
    world.push(&tree.branch).await.unwrap();
    assert!(why(tree.is_salvaged().await.unwrap()).contains("HEAD"));
    world.keep_ref("firing", &stray).await.unwrap();
    assert_eq!(tree.is_salvaged().await.unwrap(), Salvaged::Yes);
}

#[tokio::test]
async fn a_pushed_branch_goes_when_the_remote_confirms() {
    let world = World::new().await;
    let (pushed, told) = (world.worktree("pushed").await, world.worktree("told").await);
    for tree in [&pushed, &told] {
        tree.put("a", "1");
        tree.commit_seen("Work").await;
        world.push(&tree.branch).await.unwrap();
    }
    pushed.remove().await.unwrap();
    assert!(!world.has_ref(&pushed.branch_ref()));
    // The mark of a push is only a ref, and the session could have written it.
    git(&world.origin(), ["branch", "--quiet", "-D", &told.branch]);
    told.remove().await.unwrap();
    assert!(world.has_ref(&told.branch_ref()));
}

#[tokio::test]
async fn a_kept_branch_stays_in_the_store() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let tip = tree.commit_seen("Work").await;
    fs::remove_dir_all(world.origin()).unwrap();
    world.keep_ref("firing", &tip).await.unwrap();
    tree.remove().await.unwrap();
    assert!(world.has_ref(&tree.branch_ref()) && !tree.path.exists());
}

#[tokio::test]
async fn removal_keeps_commits_that_the_session_let_go_of() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let first = tree.commit_seen("First").await;
    tree.run(["reset", "--quiet", "--hard", "HEAD~1"]);
    tree.put("b", "2");
    let second = tree.commit_seen("Second").await;
    tree.run(["commit", "--quiet", "--amend", "-m", "Amended"]);
    tree.facts().await.unwrap();
    world.push(&tree.branch).await.unwrap();
    tree.remove().await.unwrap();
    git(world.kept().path(), ["gc", "--quiet", "--prune=now"]);
    let kept = world.reachable("--all");
    for commit in [&first, &second] {
        assert!(kept.contains(commit));
    }
    // They are no part of what was pushed.
    let pushed = git(&world.origin(), ["rev-list", &tree.branch]);
    assert!(!pushed.contains(first.as_str()) && !pushed.contains(second.as_str()));
}
