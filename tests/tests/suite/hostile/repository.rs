//! What a repository brings along does not run in Carson's own process, and git's own caution
//! about foreign directories stays in force.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};

use super::less::{self, Kernel};
use super::scene::Scene;
use super::table;

/// The operator's git would run hooks out of the repository, reach out for submodules, and have a
/// filter installed, such as git-lfs, that fetches what the repository says.
fn nothing_planted_runs(kernel: &Kernel, ordinary: bool) {
    let mut scene = Scene::on(kernel, "", ordinary);
    let trap = scene.trap();
    let touch = format!("touch {}", trap.display());
    let config = format!(
        "[core]\n\thooksPath = hooks\n\tfsmonitor = {touch}\n\
         [diff]\n\texternal = {touch}\n[submodule]\n\trecurse = true\n\
         [protocol \"ext\"]\n\tallow = always\n\
         [filter \"lfs\"]\n\tsmudge = {touch}\n\tclean = {touch}\n\tprocess = {touch}\n"
    );
    fs::write(scene.fleet.root().join("operator/.gitconfig"), config).unwrap();
    let hook = format!("#!/bin/sh\n{touch}\n");
    let module = format!("[submodule \"x\"]\n\tpath = x\n\turl = ext::{touch}\n");
    scene.fleet.commit_to_main(&[
        (".gitattributes", "*.bin filter=lfs diff=lfs\n"),
        ("big.bin", "version https://git-lfs.github.com/spec/v1\n"),
        ("hooks/post-checkout", &hook),
        ("hooks/reference-transaction", &hook),
        ("hooks/pre-commit", &hook),
        ("hooks/pre-push", &hook),
        (".gitmodules", &module),
    ]);
    scene.fleet.hand_over();
    let (row, all) = scene.attempt(&["poison-own-repository"]);
    assert_eq!(row["outcome"], "OK", "{kernel:?}: {row:#}");
    assert!(all.first().is_some_and(|went| went.through), "{all:?}");
    kernel.is_in(&row);
    assert!(!trap.exists(), "something of the repository's ran");
    scene.is_healthy();
    assert!(!trap.exists(), "something of the repository's ran later");
}

#[test]
fn hooks_submodules_and_planted_filters_do_not_run_outside() {
    for ordinary in less::users() {
        nothing_planted_runs(&Kernel::FULL, ordinary);
    }
}

#[test]
fn nor_do_they_where_the_kernel_has_less() {
    for kernel in Kernel::LESS {
        nothing_planted_runs(kernel, false);
    }
}

/// Without mounts of its own, a session can make its worktree point elsewhere.
#[test]
fn a_worktree_that_leads_elsewhere_harms_only_itself() {
    for kernel in [&Kernel::FULL].into_iter().chain(Kernel::LESS) {
        let mut scene = Scene::on(kernel, "", false);
        let before = scene.outside();
        let (row, all) = scene.attempt(&["break-dot-git"]);
        let through = all.first().is_some_and(|went| went.through);
        assert_eq!(through, !kernel.has_mounts, "{kernel:?}: {all:?}");
        assert!(!row["outcome"].is_null(), "{row:#}");
        table::holds(kernel, false, &row, &all);
        assert!(scene.outside() == before, "something outside is different");
        kernel.is_in(&row);
        scene.is_healthy();
    }
}

/// A remote of somebody else's is refused by git, and Carson does not talk it out of that.
#[test]
fn a_repository_of_somebody_else_s_is_not_trusted() {
    if !nix::unistd::geteuid().is_root() {
        // Only root can give things away; an ordinary user's case is the same code in git.
        return;
    }
    let mut scene = Scene::new("", &[], false);
    let remote = scene.fleet.remote();
    let mine = fs::metadata(&remote).unwrap();
    fs::set_permissions(&remote, fs::Permissions::from_mode(0o755)).unwrap();
    lchown(&remote, Some(65_534), Some(65_534)).unwrap();
    let (row, all) = scene.attempt(&["list-home"]);
    assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
    assert!(
        row["reason"].to_string().contains("safe.directory"),
        "{row:#}"
    );
    assert!(all.is_empty());
    // Given back, it is worked on as if nothing had been.
    lchown(&remote, Some(mine.uid()), Some(mine.gid())).unwrap();
    scene.fleet.issue("good", "Work", "Well.");
    assert_eq!(scene.fleet.fire("good").json()["outcome"], "OK");
    scene.is_healthy();
}
