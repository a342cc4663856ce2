//! Facts and diffs of real worktrees.

use crate::fixture::{World, write};
use crate::{DiffText, TreeFacts};

#[tokio::test]
async fn facts_follow_the_work() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    let fresh = TreeFacts {
        exists: true,
        ..TreeFacts::default()
    };
    assert_eq!(tree.facts().await.unwrap(), fresh);
    tree.put("a", "1");
    assert_eq!(
        tree.facts().await.unwrap(),
        TreeFacts {
            dirty: true,
            ..fresh.clone()
        }
    );
    tree.commit_as_session("One");
    tree.put("a", "2");
    tree.commit_as_session("Two");
    assert_eq!(
        tree.facts().await.unwrap(),
        TreeFacts {
            commits: 2,
            ..fresh
        }
    );
    std::fs::remove_dir_all(&tree.path).unwrap();
    let gone = TreeFacts {
        commits: 2,
        ..TreeFacts::default()
    };
    assert_eq!(tree.facts().await.unwrap(), gone);
}

#[tokio::test]
async fn measuring_changes_nothing_for_the_session() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    tree.run(["add", "a"]);
    tree.put("a", "2");
    tree.put("b", "3");
    let before = tree.run(["status", "--porcelain=v2"]);
    tree.facts().await.unwrap();
    tree.is_salvaged().await.unwrap();
    assert_eq!(tree.run(["status", "--porcelain=v2"]), before);
    let scratch = world.mirror.path().with_extension("scratch");
    assert_eq!(
        std::fs::read_dir(scratch).unwrap().count(),
        0,
        "no files are left"
    );
}

#[tokio::test]
async fn a_diff_shows_the_commits_and_hides_nothing() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    let proof = world.dir.path().join("proof");
    let run = format!("touch '{}'; cat", proof.display());
    tree.put(".gitattributes", "*.rs -diff\n*.md diff=evil\n");
    tree.run(["config", "diff.evil.textconv", &run]);
    tree.run(["config", "diff.external", &run]);
    tree.put("src/lib.rs", "pub fn one() { evil() }\n");
    write(&tree.path.join("latin.md"), b"caf\xe9\n");
    tree.commit_as_session("Work");
    let DiffText { text, truncated } = tree.diff(1 << 20).await.unwrap();
    assert!(
        text.contains("+pub fn one() { evil() }") && text.contains("+caf\u{fffd}"),
        "{text}"
    );
    assert!(!truncated && !proof.exists());
}

#[tokio::test]
async fn a_large_diff_is_cut() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("large.txt", "é line of text\n".repeat(400_000));
    tree.commit_as_session("Large");
    for max in [0, 1000, 1001, 200 * 1024] {
        let DiffText { text, truncated } = tree.diff(max).await.unwrap();
        assert!(
            truncated && text.len() <= max && text.len() + 4 >= max,
            "{max}: {}",
            text.len()
        );
        assert!("diff --git a/large.txt".starts_with(&text[..text.len().min(20)]));
    }
}

#[tokio::test]
async fn a_checkout_is_as_large_as_its_blocks() {
    let world = World::new().await;
    let tree = world.worktree("sized").await;
    let (files, bytes) = tree.size().await.unwrap();
    assert_eq!(files, tree.run(["ls-files"]).lines().count() as u64);
    assert!(bytes >= files * 4096 && bytes % 4096 == 0, "{bytes}");
    std::fs::remove_dir_all(tree.repository()).unwrap();
    assert_eq!(tree.size().await.unwrap(), (0, 0));
}
