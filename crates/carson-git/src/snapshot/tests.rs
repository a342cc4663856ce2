//! Nothing a session left behind is lost (P1), case by case; at random in `lost.rs`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::fixture::{World, blob, git, try_git, write};
use crate::{Salvaged, Worktree};

mod hidden;
mod lost;

/// Takes a snapshot, keeps it, and checks that the worktree may go now.
async fn salvage(world: &World, tree: &Worktree) -> Oid {
    assert!(tree.facts().await.unwrap().dirty || tree.facts().await.unwrap().head_strayed);
    let taken = tree.snapshot("Unfinished work").await.unwrap().unwrap();
    assert_eq!(tree.tip().await.unwrap(), taken);
    world.keep_ref("firing", &taken).await.unwrap();
    assert_eq!(tree.is_salvaged().await.unwrap(), Salvaged::Yes);
    let facts = tree.facts().await.unwrap();
    assert!(!facts.dirty && !facts.head_strayed, "{facts:?}");
    assert_eq!(
        tree.snapshot("Again").await.unwrap(),
        None,
        "a second look finds nothing"
    );
    taken
}

#[tokio::test]
async fn a_clean_tree_makes_no_commit() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    write(&tree.path.join("target/debug/big.o"), "ignored");
    tree.put("trace.log", "ignored");
    assert_eq!(tree.snapshot("x").await.unwrap(), None);
    assert_eq!(tree.tip().await.unwrap(), tree.base);
}

#[tokio::test]
async fn every_kind_of_change_is_taken_up() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    let strange = OsStr::from_bytes(b"caf\xe9 \n.txt");
    tree.put("staged.txt", "staged");
    tree.run(["add", "staged.txt"]);
    tree.put("src/lib.rs", "pub fn changed() {}\n");
    tree.put("untracked/deep/file.txt", "untracked");
    tree.put("target/ignored.o", "ignored");
    fs::remove_file(tree.path.join(".gitignore")).unwrap();
    tree.put(".gitignore", "target/\n");
    tree.run(["mv", "src/old.rs", "src/new.rs"]);
    fs::remove_file(tree.path.join("README.md")).unwrap();
    tree.put("run.sh", "#!/bin/sh\n");
    fs::set_permissions(tree.path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", tree.path.join("link")).unwrap();
    tree.put("binary", [0, 159, 146, 150, 0]);
    tree.put("crlf.txt", "a\r\nb\n");
    fs::write(tree.path.join(strange), "strange").unwrap();
    tree.put("--upload-pack=x", "dash");
    tree.put(":(exclude)*", "magic");

    let taken = salvage(&world, &tree).await;
    for (path, content) in [
        ("staged.txt", b"staged".as_slice()),
        ("src/lib.rs", b"pub fn changed() {}\n"),
        ("untracked/deep/file.txt", b"untracked"),
        ("src/new.rs", b"pub fn old() {}\n"),
        ("run.sh", b"#!/bin/sh\n"),
        ("link", b"/etc/passwd"),
        ("binary", &[0, 159, 146, 150, 0]),
        ("crlf.txt", b"a\r\nb\n"),
        ("--upload-pack=x", b"dash"),
        (":(exclude)*", b"magic"),
    ] {
        assert_eq!(world.show(&taken, path).as_deref(), Some(content), "{path}");
    }
    assert_eq!(
        world.show(&taken, strange).as_deref(),
        Some(b"strange".as_slice())
    );
    for path in ["README.md", "src/old.rs", "target/ignored.o"] {
        assert_eq!(world.show(&taken, path), None, "{path}");
    }
    let files = world.files(&taken);
    assert!(files.contains(&"100755 run.sh".to_owned()), "{files:?}");
    assert!(files.contains(&"120000 link".to_owned()), "{files:?}");
}

#[tokio::test]
async fn the_commit_is_carsons_and_runs_no_hooks() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    let proof = world.dir.path().join("proof");
    for name in [
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "post-index-change",
    ] {
        let hook = world.kept().path().join("hooks").join(name);
        write(&hook, format!("#!/bin/sh\ntouch '{}'\n", proof.display()));
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    }
    tree.put("a", "1");
    let message = "Title $(touch x)\n\n--author=me\n# not a comment";
    let taken = tree.snapshot(message).await.unwrap().unwrap();
    let format = "--format=%an <%ae> %cn <%ce>%n%B";
    let said = git(world.kept().path(), ["log", "-1", format, taken.as_str()]);
    let who = "Carson <carson@localhost> Carson <carson@localhost>";
    assert_eq!(said, format!("{who}\n{message}"));
    assert!(!proof.exists());
}

#[tokio::test]
async fn what_was_staged_is_kept_beside_what_it_became() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a.txt", "as staged");
    tree.run(["add", "a.txt"]);
    tree.put("a.txt", "as it is");
    let taken = salvage(&world, &tree).await;
    assert_eq!(world.show(&taken, "a.txt").unwrap(), b"as it is");
    assert!(
        world
            .reachable("refs/carson/salvage/firing")
            .contains(&blob(b"as staged"))
    );
}

#[tokio::test]
async fn left_locks_do_not_matter() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    for lock in ["index.lock", "HEAD.lock", "config.lock"] {
        fs::write(tree.admin().join(lock), "").unwrap();
    }
    let taken = salvage(&world, &tree).await;
    assert!(world.show(&taken, "a").is_some());
}

#[tokio::test]
async fn a_locked_branch_is_an_error_and_nothing_goes() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let lock = world
        .kept()
        .path()
        .join(format!("{}.lock", tree.branch_ref()));
    // One that nobody may take away.
    fs::create_dir_all(&lock).unwrap();
    assert!(tree.snapshot("x").await.is_err());
    assert!(tree.remove().await.is_err());
    assert!(tree.path.join("a").exists() && lock.exists());
    // Aside it works: the branch is not needed.
    let taken = tree.snapshot_aside("x").await.unwrap().unwrap();
    world.keep_ref("firing", &taken).await.unwrap();
    assert_eq!(tree.is_salvaged().await.unwrap(), Salvaged::Yes);
}

#[tokio::test]
async fn a_broken_index_does_not_matter() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("src/lib.rs", "changed");
    for content in [b"DIRC\0\0\0\x02".as_slice(), b"", b"garbage"] {
        fs::write(tree.admin().join("index"), content).unwrap();
        assert!(tree.facts().await.unwrap().dirty);
    }
    let taken = salvage(&world, &tree).await;
    assert_eq!(world.show(&taken, "src/lib.rs").unwrap(), b"changed");
    assert!(world.show(&taken, "README.md").is_some());
}

#[tokio::test]
async fn a_file_that_git_was_told_not_to_look_at_is_taken_up() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.run(["update-index", "--assume-unchanged", "src/lib.rs"]);
    tree.run(["update-index", "--skip-worktree", "src/old.rs"]);
    tree.put("src/lib.rs", "hidden one");
    tree.put("src/old.rs", "hidden two");
    let taken = salvage(&world, &tree).await;
    assert_eq!(world.show(&taken, "src/lib.rs").unwrap(), b"hidden one");
    assert_eq!(world.show(&taken, "src/old.rs").unwrap(), b"hidden two");
}

#[tokio::test]
async fn a_sparse_checkout_deletes_nothing() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.run([
        "sparse-checkout",
        "set",
        "--no-cone",
        "/README.md",
        "/new.txt",
    ]);
    assert!(!tree.path.join("src").exists());
    tree.put("new.txt", "new");
    let taken = salvage(&world, &tree).await;
    assert!(world.show(&taken, "src/lib.rs").is_some());
    assert_eq!(world.show(&taken, "new.txt").unwrap(), b"new");
}

#[tokio::test]
async fn a_conflict_in_progress_is_taken_up_with_its_marks() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("src/lib.rs", "ours\n");
    tree.commit_as_session("Ours");
    tree.run(["checkout", "--quiet", "-b", "other", "HEAD~1"]);
    tree.put("src/lib.rs", "theirs\n");
    tree.commit_as_session("Theirs");
    tree.run(["checkout", "--quiet", tree.branch.as_str()]);
    assert!(!try_git(&tree.path, ["merge", "other"]).status.success());
    tree.put("beside.txt", "beside");
    let taken = salvage(&world, &tree).await;
    let text = String::from_utf8(world.show(&taken, "src/lib.rs").unwrap()).unwrap();
    assert!(text.contains("<<<<<<<") && text.contains("ours") && text.contains("theirs"));
    assert_eq!(world.show(&taken, "beside.txt").unwrap(), b"beside");
}

#[tokio::test]
async fn a_rebase_in_progress_keeps_both_sides() {
    let world = World::new().await;
    let base = world.mirror.resolve("main").await.unwrap();
    world.upstream("main", "src/lib.rs", "theirs\n");
    world.mirror.refresh().await.unwrap();
    let tree = world.worktree_at("one", &base).await;
    tree.put("a", "1");
    tree.commit_as_session("First");
    tree.put("src/lib.rs", "ours\n");
    let ours = tree.commit_as_session("Second");
    assert!(
        !try_git(&tree.path, ["rebase", "origin/main"])
            .status
            .success()
    );
    let moved = tree.head();
    let taken = salvage(&world, &tree).await;
    for commit in [&ours, &moved] {
        assert!(world.kept().bare.descends(&taken, commit).await.unwrap());
    }
}

#[tokio::test]
async fn a_head_that_went_ahead_takes_the_branch_along() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.run(["checkout", "--quiet", "--detach"]);
    tree.put("a", "1");
    let ahead = tree.commit_as_session("Detached");
    let facts = tree.facts().await.unwrap();
    assert!(!facts.head_strayed && facts.commits == 1, "{facts:?}");
    // No commit of Carson's is needed: it is the same line of work.
    assert_eq!(tree.snapshot("Again").await.unwrap(), None);
    assert_eq!(tree.tip().await.unwrap(), ahead);
}

#[tokio::test]
async fn a_head_that_went_astray_is_joined() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let branch = tree.commit_as_session("On the branch");
    tree.run(["checkout", "--quiet", "-b", "elsewhere", tree.base.as_str()]);
    tree.put("b", "2");
    let stray = tree.commit_as_session("Elsewhere");
    tree.put("c", "3");
    let taken = salvage(&world, &tree).await;
    for commit in [&branch, &stray] {
        assert!(world.kept().bare.descends(&taken, commit).await.unwrap());
    }
    for (file, holds) in [("a", b"1"), ("b", b"2"), ("c", b"3")] {
        assert_eq!(world.show(&taken, file).unwrap(), holds, "{file}");
    }
}

/// Where both changed the same lines the branch is what it was, and its history has the other.
#[tokio::test]
async fn a_head_that_went_astray_undoes_nothing_of_the_branch() {
    for more in [None, Some("more")] {
        let world = World::new().await;
        let tree = world.worktree("one").await;
        tree.put("a", "of the branch");
        tree.put("README.md", "of the branch");
        let branch = tree.commit_as_session("On the branch");
        tree.run(["checkout", "--quiet", "-b", "elsewhere", tree.base.as_str()]);
        tree.put("README.md", "of elsewhere");
        let stray = tree.commit_as_session("Elsewhere");
        if let Some(more) = more {
            tree.put("README.md", more);
        }
        let taken = salvage(&world, &tree).await;
        for commit in [&branch, &stray] {
            assert!(world.kept().bare.descends(&taken, commit).await.unwrap());
        }
        assert_eq!(world.show(&taken, "a").unwrap(), b"of the branch");
        assert_eq!(world.show(&taken, "README.md").unwrap(), b"of the branch");
    }
}

#[tokio::test]
async fn a_directory_that_is_gone_leaves_its_commits_and_its_index() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let branch = tree.commit_as_session("On the branch");
    tree.run(["checkout", "--quiet", "--detach", tree.base.as_str()]);
    tree.put("b", "2");
    let stray = tree.commit_as_session("Detached");
    tree.put("c", "staged");
    tree.run(["add", "c"]);
    fs::remove_dir_all(&tree.path).unwrap();
    assert!(!tree.facts().await.unwrap().exists);
    let taken = salvage(&world, &tree).await;
    for commit in [&branch, &stray] {
        assert!(world.kept().bare.descends(&taken, commit).await.unwrap());
    }
    assert_eq!(world.show(&taken, "c").unwrap(), b"staged");
    tree.remove().await.unwrap();
    assert!(!tree.admin().exists());
}

#[tokio::test]
async fn a_branch_that_the_session_deleted_is_made_again() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.run(["checkout", "--quiet", "--detach"]);
    tree.run(["branch", "--quiet", "-D", tree.branch.as_str()]);
    tree.put("a", "1");
    tree.commit_as_session("Detached");
    tree.put("b", "2");
    let taken = salvage(&world, &tree).await;
    assert_eq!(world.show(&taken, "a").unwrap(), b"1");
}

#[tokio::test]
async fn a_link_in_the_directorys_place_is_not_followed() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    let secrets = world.dir.path().join("secrets");
    write(&secrets.join("id_ed25519"), "the operator's key");
    fs::rename(&tree.path, world.dir.path().join("moved")).unwrap();
    symlink(&secrets, &tree.path).unwrap();
    assert!(!tree.facts().await.unwrap().exists);
    assert_eq!(tree.snapshot("x").await.unwrap(), None);
    tree.remove().await.unwrap();
    assert!(
        !world
            .reachable("--all")
            .contains(&blob(b"the operator's key"))
    );
    assert!(secrets.join("id_ed25519").exists() && tree.path.symlink_metadata().is_err());
}

#[tokio::test]
async fn a_filter_that_fails_does_not_stop_salvage() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put(
        ".gitattributes",
        "*.u16 text working-tree-encoding=UTF-16\n",
    );
    tree.put("bad.u16", b"no UTF-16 at all");
    tree.put("good.txt", "good");
    let taken = salvage(&world, &tree).await;
    assert_eq!(world.show(&taken, "bad.u16").unwrap(), b"no UTF-16 at all");
    assert_eq!(world.show(&taken, "good.txt").unwrap(), b"good");
}

#[tokio::test]
async fn rights_that_were_taken_away_are_given_back() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("cache/mod/file", "read only");
    tree.put("secret/file", "unreadable");
    let set = |path: &str, mode| {
        fs::set_permissions(tree.path.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("cache/mod/file", 0o000);
    set("cache/mod", 0o555);
    set("secret", 0o000);
    let taken = salvage(&world, &tree).await;
    assert_eq!(world.show(&taken, "cache/mod/file").unwrap(), b"read only");
    assert_eq!(world.show(&taken, "secret/file").unwrap(), b"unreadable");
    set("cache/mod", 0o555);
    tree.remove().await.unwrap();
    assert!(!tree.path.exists());
}

#[tokio::test]
async fn a_repository_inside_comes_in_with_its_files_and_commits() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    // With commits and more, without any commit, one in another, and one with a tracked file.
    let inner = tree.path.join("inner");
    write(&inner.join("a.txt"), "committed inside, then changed");
    git(&inner, ["init", "--quiet"]);
    git(&inner, ["add", "--all"]);
    git(&inner, ["commit", "--quiet", "-m", "Inside"]);
    let commit: Oid = git(&inner, ["rev-parse", "HEAD"]).parse().unwrap();
    git(&inner, ["tag", "-a", "-m", "annotated", "v1"]);
    write(&inner.join("a.txt"), "changed");
    write(&inner.join("b.txt"), "untracked inside");
    let unborn = tree.path.join("deep/unborn");
    write(&unborn.join("c.txt"), "never added");
    git(&unborn, ["init", "--quiet"]);
    git(&unborn, ["init", "--quiet", "third"]);
    write(&unborn.join("third/d.txt"), "two levels down");
    git(&tree.path.join("src"), ["init", "--quiet"]);
    tree.put("src/e.txt", "beside tracked files");
    tree.put("z.txt", "behind them all");

    let taken = salvage(&world, &tree).await;
    for (path, content) in [
        ("inner/a.txt", "changed"),
        ("inner/b.txt", "untracked inside"),
        ("deep/unborn/c.txt", "never added"),
        ("deep/unborn/third/d.txt", "two levels down"),
        ("src/e.txt", "beside tracked files"),
        ("z.txt", "behind them all"),
    ] {
        assert_eq!(
            world.show(&taken, path).as_deref(),
            Some(content.as_bytes()),
            "{path}"
        );
    }
    tree.remove().await.unwrap();
    let kept = world.reachable("--all");
    assert!(kept.contains(&commit) && kept.contains(&blob(b"committed inside, then changed")));
}

#[tokio::test]
async fn a_link_that_the_session_committed_gets_its_files() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    let inner = tree.path.join("inner");
    write(&inner.join("a.txt"), "inside");
    git(&inner, ["init", "--quiet"]);
    git(&inner, ["add", "--all"]);
    git(&inner, ["commit", "--quiet", "-m", "Inside"]);
    tree.commit_as_session("Takes up a name only");
    let taken = salvage(&world, &tree).await;
    assert_eq!(world.show(&taken, "inner/a.txt").unwrap(), b"inside");
}

#[tokio::test]
async fn a_worktree_that_became_a_repository_of_its_own_keeps_its_commits() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    fs::remove_file(tree.path.join(".git")).unwrap();
    tree.run(["init", "--quiet"]);
    tree.put("a.txt", "first");
    let first = tree.commit_as_session("In a strange repository");
    tree.put("a.txt", "second");
    let taken = salvage(&world, &tree).await;
    assert_eq!(world.show(&taken, "a.txt").unwrap(), b"second");
    tree.remove().await.unwrap();
    assert!(world.reachable("--all").contains(&first));
}

/// A world whose `main` has a submodule `dep`, and a worktree with it checked out.
async fn with_submodule() -> (World, Worktree) {
    let world = World::bare();
    let dep = world.dir.path().join("dep");
    write(&dep.join("dep.txt"), "dep\n");
    git(&dep, ["init", "--quiet"]);
    git(&dep, ["add", "--all"]);
    git(&dep, ["commit", "--quiet", "-m", "Dep"]);
    let seed = world.seed();
    git(
        &seed,
        ["submodule", "--quiet", "add", dep.to_str().unwrap(), "dep"],
    );
    git(&seed, ["commit", "--quiet", "-m", "With a submodule"]);
    git(&seed, ["push", "--quiet", "../origin.git", "main"]);
    world.mirror.refresh().await.unwrap();
    let tree = world.worktree("one").await;
    (world, tree)
}

#[tokio::test]
async fn a_clean_submodule_stays_one() {
    let (world, tree) = with_submodule().await;
    assert!(
        !tree.facts().await.unwrap().dirty,
        "not checked out is not deleted"
    );
    tree.run(["submodule", "--quiet", "update", "--init"]);
    assert!(!tree.facts().await.unwrap().dirty);
    tree.put("a", "1");
    let taken = salvage(&world, &tree).await;
    assert!(world.files(&taken).contains(&"160000 dep".to_owned()));
    tree.remove().await.unwrap();
}

#[tokio::test]
async fn work_in_a_submodule_is_work() {
    let (world, tree) = with_submodule().await;
    tree.run(["submodule", "--quiet", "update", "--init"]);
    let dep = tree.path.join("dep");
    write(&dep.join("dep.txt"), "committed in the submodule\n");
    git(&dep, ["commit", "--quiet", "--all", "-m", "Inside"]);
    let inside: Oid = git(&dep, ["rev-parse", "HEAD"]).parse().unwrap();
    assert!(tree.facts().await.unwrap().dirty);
    assert!(matches!(
        tree.is_salvaged().await.unwrap(),
        Salvaged::No { .. }
    ));
    let taken = salvage(&world, &tree).await;
    assert!(world.files(&taken).contains(&"160000 dep".to_owned()));
    write(&dep.join("more.txt"), "uncommitted in the submodule");
    let taken = salvage(&world, &tree).await;
    assert_eq!(
        world.show(&taken, "dep/more.txt").unwrap(),
        b"uncommitted in the submodule"
    );
    tree.remove().await.unwrap();
    assert!(world.reachable("--all").contains(&inside));
}

/// Git 2.47 names the shared part of a split index by its hash; with `index.skipHash` it commits nothing of it.
#[tokio::test]
async fn a_session_that_splits_its_index_commits_what_is_in_it() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.run(["update-index", "--split-index"]);
    tree.put("new", "1");
    tree.run(["add", "new"]);
    tree.run(["commit", "--quiet", "-m", "New"]);
    let listed = tree.run(["ls-tree", "-r", "--name-only", "HEAD"]);
    assert!(
        listed.contains("README.md") && listed.contains("new"),
        "{listed}"
    );
    assert!(!tree.facts().await.unwrap().dirty);
}

/// One that was not checked out is an empty directory: git moves it, and knows where its commit is.
#[tokio::test]
async fn a_submodule_that_was_moved_is_where_it_was_moved_to() {
    let (world, tree) = with_submodule().await;
    tree.run(["mv", "dep", "moved"]);
    let files = world.files(&salvage(&world, &tree).await);
    assert!(files.contains(&"160000 moved".to_owned()), "{files:?}");
    assert!(!files.contains(&"160000 dep".to_owned()), "{files:?}");
}

#[tokio::test]
async fn a_submodule_whose_move_is_committed_leaves_nothing_uncommitted() {
    let (_world, tree) = with_submodule().await;
    tree.run(["mv", "dep", "moved"]);
    tree.run(["commit", "--quiet", "-m", "Moved"]);
    let facts = tree.facts().await.unwrap();
    assert!(!facts.dirty && facts.commits == 1, "{facts:?}");
}

#[tokio::test]
async fn files_in_the_place_of_a_submodule_are_work() {
    let (world, tree) = with_submodule().await;
    tree.put("dep/new.txt", "in a submodule that nobody checked out");
    let taken = salvage(&world, &tree).await;
    assert_eq!(
        world.show(&taken, "dep/new.txt").unwrap(),
        b"in a submodule that nobody checked out"
    );
}

#[tokio::test]
async fn files_of_a_link_whose_repository_went_are_work() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    let lib = tree.path.join("lib");
    write(&lib.join("a.txt"), "inside");
    git(&lib, ["init", "--quiet"]);
    git(&lib, ["add", "--all"]);
    git(&lib, ["commit", "--quiet", "-m", "Inside"]);
    tree.commit_as_session("Takes up a name only");
    fs::remove_dir_all(lib.join(".git")).unwrap();
    let taken = salvage(&world, &tree).await;
    assert_eq!(world.show(&taken, "lib/a.txt").unwrap(), b"inside");
}

#[tokio::test]
async fn leftovers_beside_finished_work_stay_out_of_it() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let done = tree.commit_as_session("Finished");
    tree.put("scratch.txt", "notes");
    let aside = tree.snapshot_aside("Leftovers").await.unwrap().unwrap();
    assert_eq!(tree.tip().await.unwrap(), done);
    assert!(matches!(
        tree.is_salvaged().await.unwrap(),
        Salvaged::No { .. }
    ));
    world.keep_ref("firing", &aside).await.unwrap();
    world.push(&tree.branch).await.unwrap();
    assert_eq!(tree.is_salvaged().await.unwrap(), Salvaged::Yes);
}

#[tokio::test]
async fn a_branch_that_moves_meanwhile_is_not_moved_back() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let late = tree.commit_seen("A late commit").await;
    let old = world
        .kept()
        .bare
        .move_ref(&tree.branch_ref(), &tree.base, Some(&tree.base))
        .await;
    assert!(old.is_err());
    tree.facts().await.unwrap();
    assert_eq!(tree.tip().await.unwrap(), late);
}
