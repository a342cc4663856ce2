//! Wherever a session commits, the work is known.

use crate::fixture::{World, git};
use crate::{Oid, Worktree};

/// Commits a file as the session.
fn commit(tree: &Worktree, path: &str) -> Oid {
    tree.put(path, path);
    tree.commit_as_session(path)
}

/// What is the work, on how many commits, and what is beside it.
async fn work(tree: &Worktree) -> (Oid, u32, Vec<String>) {
    let seen = tree.inspect(false).await.unwrap();
    let facts = seen.facts();
    assert!(!facts.dirty && facts.trouble.is_empty(), "{facts:?}");
    // What is judged is what is pushed.
    assert_eq!(*seen.tip(), tree.tip().await.unwrap());
    (seen.tip().clone(), facts.commits, facts.beside.clone())
}

#[tokio::test]
async fn commits_on_a_branch_of_its_own_are_the_work() {
    let world = World::new().await;
    let ways: [(&str, &[&str]); 4] = [
        ("detached", &["checkout", "--quiet", "--detach"]),
        ("own", &["checkout", "--quiet", "-b", "feature/x"]),
        (
            "main",
            &["checkout", "--quiet", "-b", "main", "origin/main"],
        ),
        ("renamed", &["branch", "-m", "fix/y"]),
    ];
    for (name, way) in ways {
        let tree = world.worktree(name).await;
        git(&tree.path, way);
        commit(&tree, "a");
        let last = commit(&tree, "b");
        assert_eq!(work(&tree).await, (last.clone(), 2, vec![]), "{name}");
        world.push(&tree.branch).await.unwrap();
        let pushed = git(&world.origin(), ["rev-parse", tree.branch.as_str()]);
        assert_eq!(pushed, last.as_str(), "{name}");
    }
}

#[tokio::test]
async fn a_session_that_went_back_has_still_worked() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.run(["checkout", "--quiet", "-b", "feature/x"]);
    let last = commit(&tree, "a");
    tree.run(["checkout", "--quiet", &tree.branch]);
    assert_eq!(work(&tree).await, (last.clone(), 1, vec![]));
    // What it left here does not undo it.
    tree.put("scratch", "notes");
    let seen = tree.inspect(false).await.unwrap();
    let aside = seen.snapshot_aside("Leftovers").await.unwrap().unwrap();
    for (path, held) in [("a", "a"), ("scratch", "notes")] {
        assert_eq!(world.show(&aside, path).unwrap(), held.as_bytes());
    }
    let kept = world.keep_ref("one", &aside).await.unwrap();
    let notes = crate::fixture::blob(b"notes");
    assert!(world.reachable(&kept).contains(&notes));
    assert_eq!(seen.is_salvaged().await.unwrap(), crate::Salvaged::Yes);
    std::fs::remove_file(tree.path.join("scratch")).unwrap();
    // Where both say something else, the work has the last word.
    tree.put("a", "another a");
    let seen = tree.inspect(false).await.unwrap();
    let aside = seen.snapshot_aside("Leftovers").await.unwrap().unwrap();
    assert_eq!(world.show(&aside, "a").unwrap(), b"a");
    std::fs::remove_file(tree.path.join("a")).unwrap();
    // What it does next, it does there or here.
    tree.run(["merge", "--quiet", "--ff-only", "feature/x"]);
    let next = commit(&tree, "b");
    assert_eq!(work(&tree).await, (next, 2, vec![]));
    assert!(tree.is_salvaged().await.is_ok());
}

#[tokio::test]
async fn commits_on_no_branch_are_the_work_of_who_came_back_and_made_no_other() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.run(["checkout", "--quiet", "--detach"]);
    commit(&tree, "a");
    let last = commit(&tree, "b");
    tree.run(["checkout", "--quiet", "-"]);
    assert_eq!(work(&tree).await, (last, 2, vec![]));
    assert!(tree.is_salvaged().await.is_ok());
    // Beside other work it was a trial, which is kept.
    let own = commit(&tree, "c");
    assert_eq!(work(&tree).await, (own, 1, vec![]));
    // What was reset away was dropped on purpose.
    let dropped = world.worktree("dropped").await;
    dropped.run(["checkout", "--quiet", "--detach"]);
    commit(&dropped, "a");
    dropped.run(["reset", "--quiet", "--hard", "HEAD~1"]);
    dropped.run(["switch", "--quiet", &dropped.branch]);
    assert_eq!(work(&dropped).await.1, 0);
}

#[tokio::test]
async fn a_copy_is_the_work_and_so_is_what_became_of_it() {
    let world = World::new().await;
    let copied = world.worktree("copied").await;
    copied.run(["checkout", "--quiet", "-b", "feature/x"]);
    commit(&copied, "a");
    copied.run(["checkout", "--quiet", &copied.branch]);
    commit(&copied, "other");
    copied.run(["cherry-pick", "feature/x"]);
    assert_eq!(work(&copied).await, (copied.head(), 2, vec![]));

    let squashed = world.worktree("squashed").await;
    squashed.run(["checkout", "--quiet", "-b", "feature/x"]);
    commit(&squashed, "a");
    commit(&squashed, "b");
    squashed.run(["checkout", "--quiet", &squashed.branch]);
    squashed.run(["merge", "--quiet", "--squash", "feature/x"]);
    squashed.put("a", "better");
    let last = squashed.commit_as_session("All");
    // Its very content was never on the branch: nobody can know that it is what became of it.
    assert_eq!(
        work(&squashed).await,
        (last, 1, vec!["feature/x".to_owned()])
    );

    let amended = world.worktree("amended").await;
    commit(&amended, "a");
    amended.run(["branch", "backup"]);
    amended.put("a", "better");
    amended.run(["commit", "--quiet", "--all", "--amend", "-m", "Better"]);
    assert_eq!(work(&amended).await, (amended.head(), 1, vec![]));
}

#[tokio::test]
async fn what_the_work_does_not_have_is_named_and_kept() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.run(["checkout", "--quiet", "-b", "feature/a"]);
    let a = commit(&tree, "a");
    tree.run(["checkout", "--quiet", "-b", "feature/b", tree.base.as_str()]);
    let b = commit(&tree, "b");
    let (tip, commits, beside) = work(&tree).await;
    assert_eq!((tip, commits, beside), (b, 1, vec!["feature/a".to_owned()]));
    let seen = tree.inspect(false).await.unwrap();
    for _ in 0..2 {
        let kept = seen.keep_beside("f", seen.tip()).await.unwrap();
        let name = "refs/carson/salvage/f".to_owned();
        assert_eq!(kept, [("feature/a".to_owned(), name.clone())]);
        assert!(world.reachable(&name).contains(&a));
    }
    // The firing's own branch, when it has some, is the work; HEAD goes on from it, or is beside it.
    tree.run(["checkout", "--quiet", &tree.branch]);
    let own = commit(&tree, "own");
    tree.run(["checkout", "--quiet", "feature/a"]);
    let (tip, _, beside) = work(&tree).await;
    assert_eq!((tip, beside.join(" ")), (own, "feature/a feature/b".into()));
}

#[tokio::test]
async fn what_the_remote_has_is_no_work() {
    let world = World::new().await;
    world.upstream("other", "theirs", "theirs");
    world.mirror.refresh().await.unwrap();
    let tree = world.worktree("one").await;
    tree.run(["checkout", "--quiet", "-b", "other", "origin/other"]);
    let (tip, commits, beside) = work(&tree).await;
    assert_eq!((tip, commits, beside), (tree.base.clone(), 0, vec![]));
    // On top of that there is some; reviewers see what else comes with it.
    let mine = commit(&tree, "mine");
    assert_eq!(work(&tree).await, (mine, 2, vec![]));
}
