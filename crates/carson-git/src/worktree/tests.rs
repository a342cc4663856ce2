//! Facts and diffs of real worktrees.

use crate::fixture::{World, write};
use crate::{Shown, TreeFacts};

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

/// A name of the store's that is in the way: what the branch has is older work then, and nobody is to take it for all.
#[tokio::test]
async fn a_branch_that_cannot_follow_is_no_work_of_nobody() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("src/lib.rs", "pub fn two() {}\n");
    tree.commit_as_session("Work");
    let kept = world.kept();
    kept.make().unwrap();
    let in_the_way = kept.path().join("refs/carson");
    let _ = std::fs::remove_dir_all(&in_the_way);
    write(&in_the_way, format!("{}\n", tree.base));
    let facts = tree.facts().await.unwrap();
    assert_eq!(facts.commits, 0);
    let why = facts.untaken.unwrap();
    assert!(why.contains("cannot follow the session's"), "{why}");
    assert!(facts.trouble.contains(&why), "{:?}", facts.trouble);
    std::fs::remove_file(&in_the_way).unwrap();
    let facts = tree.facts().await.unwrap();
    assert_eq!((facts.commits, facts.untaken), (1, None));
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
    write(&tree.path.join("nul.sh"), b"#!/bin/sh\n\0rm -rf ~\n");
    tree.run(["mv", "src/old.rs", "src/new.rs"]);
    tree.commit_as_session("Work");
    let seen = tree.inspect(true).await.unwrap();
    let Shown {
        text,
        unshown,
        more,
        lines: _,
    } = seen.shown().unwrap();
    for part in [
        "+pub fn one() { evil() }",
        "+caf\u{fffd}",
        "+\u{2400}rm -rf ~",
        "rename from src/old.rs\nrename to src/new.rs",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(
        unshown.is_empty() && *more == 0 && !proof.exists(),
        "{unshown:?}"
    );
}

#[tokio::test]
async fn what_no_reviewer_sees_is_listed() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    let line = "é line of text\n";
    tree.put("a-megabyte.txt", line.repeat(62_000));
    tree.put("beyond.txt", line.repeat(62_000));
    tree.put("large.txt", line.repeat(400_000));
    let picture: Vec<u8> = (0..=255).cycle().take(4_000).collect();
    tree.put("picture.png", picture);
    tree.put("small.txt", "the last one\n");
    tree.commit_as_session("Large");
    let seen = tree.inspect(true).await.unwrap();
    let shown = seen.shown().unwrap();
    let unshown: Vec<_> = shown
        .unshown
        .iter()
        .map(|one| (one.path.as_str(), one.why.as_str()))
        .collect();
    assert_eq!(
        unshown,
        [
            ("beyond.txt", "beyond the part that is shown"),
            ("large.txt", "larger than 1 MB, 6400000 bytes"),
            ("picture.png", "no text, 4000 bytes"),
        ]
    );
    assert!(shown.text.contains("+the last one") && shown.text.contains("+é line of text"));
}

#[tokio::test]
async fn a_checkout_is_as_large_as_its_blocks() {
    let world = World::new().await;
    let tree = world.worktree("sized").await;
    let (files, bytes) = tree.size().await.unwrap();
    assert_eq!(files, tree.run(["ls-files"]).lines().count() as u64);
    assert!(bytes >= files * 4096 && bytes % 4096 == 0, "{bytes}");
    std::fs::remove_dir_all(tree.began().dir).unwrap();
    assert_eq!(tree.size().await.unwrap(), (0, 0));
}

/// Of a checkout of many files no entry is racy: git believes the index, and hashes no file again.
#[tokio::test]
async fn git_believes_the_index_of_a_large_checkout() {
    use std::os::unix::fs::MetadataExt as _;
    let world = World::new().await;
    let files: Vec<String> = (0..1_200).map(|n| format!("many/{n}.txt")).collect();
    for file in &files {
        write(&world.seed().join(file), "text\n");
    }
    let base = world.upstream("main", "more.txt", "more\n");
    world.mirror.refresh().await.unwrap();
    let tree = world.worktree_at("one", &base).await;
    let index = tree.git_dir().join("index").metadata().unwrap();
    for file in files {
        let found = tree.path.join(&file).metadata().unwrap();
        assert!(found.mtime() < index.mtime(), "{file}");
    }
    // One that changes now is seen, though its size is the same.
    tree.put("many/7.txt", "next\n");
    assert_eq!(tree.run(["status", "--porcelain"]), "M many/7.txt");
}
