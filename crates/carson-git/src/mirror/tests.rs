//! Mirrors against a real remote.

use std::fs;

use carson_proc::inspector::Inspector;

use super::*;
use crate::fixture::{World, git, try_git, write};

mod http;

#[tokio::test]
async fn a_refresh_clones_then_follows_the_remote() {
    let world = World::new().await;
    let first = world.mirror.resolve("main").await.unwrap();
    let second = world.upstream("main", "new.txt", "new");
    world.mirror.refresh().await.unwrap();
    assert_ne!(first, second);
    assert_eq!(world.mirror.resolve("main").await.unwrap(), second);
}

#[tokio::test]
async fn a_missing_base_says_what_there_is() {
    let world = World::new().await;
    for base in ["develop", "../../etc", "-x", "a b", ""] {
        let error = world.mirror.resolve(base).await.unwrap_err();
        let GitError::BaseMissing { have, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(have, &["main"]);
        assert!(error.hint().contains("base"));
    }
}

/// What a disk that failed left: each of them makes every fetch fail, as if the remote were broken.
#[tokio::test]
async fn broken_refs_are_fetched_again() {
    let world = World::new().await;
    world.upstream("topic/a", "a", "a");
    git(&world.origin(), ["tag", "one", "main"]);
    world.mirror.refresh().await.unwrap();
    let base = world.mirror.resolve("main").await.unwrap();
    world.mirror.hold_base(&base).await.unwrap();
    let held = format!("{BASES}{base}");
    let names = [
        "refs/remotes/origin/main",
        "refs/remotes/origin/topic/a",
        "refs/remotes/origin/gone",
        "refs/tags/one",
        &held,
    ];
    let refs = || {
        git(
            world.mirror.path(),
            ["for-each-ref", "--format=%(refname) %(objectname)"],
        )
    };
    let before = refs();
    for name in names {
        for torn in ["", "\0\0\0\0", "no commit\n"] {
            let file = world.mirror.path().join(name);
            write(&file, torn);
            world.mirror.refresh().await.unwrap();
            // Whoever takes work over.
            world.mirror.hold_base(&base).await.unwrap();
            assert_eq!(refs(), before, "{name} {torn:?}");
        }
    }
    // Nobody else's lock is taken for one, and what is the remote's own is said to be its.
    let lock = world.mirror.path().join("refs/remotes/origin/other.lock");
    write(&lock, "");
    write(&world.mirror.path().join(names[0]), "");
    write(&world.origin().join("refs/heads/main"), "");
    world.mirror.refresh().await.unwrap_err();
    assert!(lock.exists());
}

#[tokio::test]
async fn a_broken_head_is_made_anew() {
    let world = World::new().await;
    let kept = world.mirror.kept();
    kept.make().unwrap();
    for repository in [world.mirror.path(), kept.path()] {
        write(&repository.join("HEAD"), "");
    }
    world.mirror.refresh().await.unwrap();
    for repository in [world.mirror.path(), kept.path()] {
        assert_eq!(
            git(repository, ["rev-parse", "--is-bare-repository"]),
            "true"
        );
    }
}

#[tokio::test]
async fn an_empty_remote_says_so() {
    let world = World::bare();
    git(world.dir.path(), ["init", "--quiet", "--bare", "empty.git"]);
    let url = world.dir.path().join("empty.git");
    let mirror = Mirror::at(
        world.dir.path().join("home/empty.git"),
        url.to_str().unwrap(),
        Inspector::here(),
    );
    mirror.refresh().await.unwrap();
    assert!(matches!(
        mirror.resolve("main").await,
        Err(GitError::Empty { .. })
    ));
}

#[tokio::test]
async fn a_remote_that_is_gone_leaves_no_half_clone() {
    let world = World::bare();
    fs::rename(world.origin(), world.dir.path().join("elsewhere.git")).unwrap();
    assert!(matches!(
        world.mirror.refresh().await,
        Err(GitError::RemoteGone { .. })
    ));
    assert!(!world.mirror.path().exists());
    // The address in the settings decides, for a new clone and for an old one.
    let moved = world.dir.path().join("elsewhere.git");
    let mirror = Mirror::at(
        world.mirror.path().to_owned(),
        moved.to_str().unwrap(),
        Inspector::here(),
    );
    mirror.refresh().await.unwrap();
    fs::rename(&moved, world.origin()).unwrap();
    assert!(matches!(
        mirror.refresh().await,
        Err(GitError::RemoteGone { .. })
    ));
    world.mirror.refresh().await.unwrap();
}

#[tokio::test]
async fn a_clone_that_was_killed_begins_again() {
    let world = World::bare();
    write(
        &world
            .dir
            .path()
            .join("home/widget.clone/objects/pack/tmp_pack_x"),
        "half",
    );
    world.mirror.refresh().await.unwrap();
    assert!(world.mirror.resolve("main").await.is_ok());
    assert!(!world.dir.path().join("home/widget.clone").exists());
}

#[tokio::test]
async fn a_refresh_leaves_the_firings_branches_and_kept_refs() {
    let world = World::new().await;
    world.upstream("topic", "t", "t");
    world.mirror.refresh().await.unwrap();
    let tree = world.worktree("one").await;
    tree.put("work.txt", "work");
    let work = tree.commit_seen("Work").await;
    world.keep_ref("firing", &work).await.unwrap();
    // A branch of the same name on the remote stands elsewhere, and another one goes.
    world.upstream("carson/implementer/one", "other", "other");
    git(&world.origin(), ["branch", "--quiet", "-D", "topic"]);
    world.mirror.refresh().await.unwrap();
    assert_eq!(tree.tip().await.unwrap(), work);
    assert!(world.has_ref("refs/carson/salvage/firing"));
    assert!(!world.has_ref("refs/remotes/origin/topic"));
}

#[tokio::test]
async fn a_tag_that_moved_does_not_stop_the_fetch() {
    let world = World::bare();
    git(&world.origin(), ["tag", "nightly", "main"]);
    world.mirror.refresh().await.unwrap();
    let newer = world.upstream("main", "n", "n");
    git(&world.origin(), ["tag", "--force", "nightly", "main"]);
    world.mirror.refresh().await.unwrap();
    assert_eq!(
        world
            .mirror
            .bare
            .ref_target("refs/tags/nightly")
            .await
            .unwrap(),
        Some(newer)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn refreshes_take_turns() {
    let world = World::bare();
    let all: Vec<_> = (0..8)
        .map(|_| {
            let mirror = world.mirror.clone();
            tokio::spawn(async move { mirror.refresh().await })
        })
        .collect();
    for one in all {
        one.await.unwrap().unwrap();
    }
    git(world.mirror.path(), ["fsck", "--strict"]);
    assert!(world.mirror.resolve("main").await.is_ok());
}

#[tokio::test]
async fn a_branch_that_exists_is_never_taken_over() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    tree.commit_seen("Work").await;
    let path = world.dir.path().join("benches/two/two");
    let again = world
        .mirror
        .add_worktree(&path, &tree.branch, &tree.base)
        .await;
    assert!(matches!(again, Err(GitError::BranchExists { .. })));
    assert!(!path.exists());
}

#[tokio::test]
async fn a_kept_ref_never_drops_what_it_held() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let first = tree.commit_seen("First").await;
    assert_eq!(
        world.keep_ref("f", &first).await.unwrap(),
        "refs/carson/salvage/f"
    );
    tree.put("a", "2");
    let second = tree.commit_seen("Second").await;
    // A descendant moves the ref; a stranger gets another.
    assert_eq!(
        world.keep_ref("f", &second).await.unwrap(),
        "refs/carson/salvage/f"
    );
    tree.run(["reset", "--quiet", "--hard", "HEAD~2"]);
    tree.put("b", "3");
    let third = tree.commit_seen("Third").await;
    for _ in 0..2 {
        let kept = world.keep_ref("f", &third).await.unwrap();
        assert_eq!(kept, "refs/carson/salvage/f-2");
    }
    let held = world
        .kept()
        .bare
        .ref_target("refs/carson/salvage/f")
        .await
        .unwrap();
    assert_eq!(held, Some(second));
}

#[tokio::test]
async fn a_line_of_a_file_is_there_or_not() {
    let world = World::new().await;
    let base = world.mirror.resolve("main").await.unwrap();
    for (path, line, there) in [
        ("README.md", 0, true),
        ("README.md", 1, true),
        ("README.md", 3, true),
        ("README.md", 4, false),
        ("src", 0, false),
        ("missing.md", 1, false),
        ("../README.md", 1, false),
        ("/etc/passwd", 1, false),
    ] {
        assert_eq!(
            world.mirror.has_line_at(&base, path, line).await,
            there,
            "{path}:{line}"
        );
    }
}

#[tokio::test]
async fn what_a_session_writes_into_the_configuration_does_not_stay() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    let proof = world.dir.path().join("proof");
    let run = format!("touch '{}'; cat", proof.display());
    tree.run(["config", "filter.evil.clean", &run]);
    tree.run(["config", "core.fsmonitor", &run]);
    tree.run(["config", "remote.carson.url", "/nowhere"]);
    tree.run(["config", "--add", "remote.origin.url", "/nowhere"]);
    write(&world.mirror.path().join("info/exclude"), "*\n");
    write(
        &world.mirror.path().join("hooks/reference-transaction"),
        "#!/bin/sh\nexit 1\n",
    );
    tree.put(".gitattributes", "* filter=evil\n");
    tree.put("hidden.txt", "found all the same");
    let taken = tree.snapshot("Salvage").await.unwrap().unwrap();
    assert_eq!(
        world.show(&taken, "hidden.txt").unwrap(),
        b"found all the same"
    );
    world.mirror.refresh().await.unwrap();
    assert!(!proof.exists(), "a program of the session ran");
}

#[tokio::test]
async fn a_session_has_nowhere_to_push() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    tree.commit_seen("Work").await;
    let before = git(&world.origin(), ["for-each-ref"]);
    for args in [
        ["push", "origin", "HEAD:refs/heads/main"],
        ["push", "origin", "HEAD"],
        ["fetch", "--quiet", "origin"],
    ] {
        let done = try_git(&tree.path, args);
        assert!(!done.status.success(), "{args:?}");
    }
    assert_eq!(tree.run(["remote"]), "");
    assert_eq!(git(&world.origin(), ["for-each-ref"]), before);
}
