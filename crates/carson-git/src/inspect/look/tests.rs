//! A session that means harm: the mirror keeps every byte, and what the session worked on is saved
//! as far as it left it whole.

#![expect(
    clippy::disallowed_methods,
    reason = "tests play the session, which has no supervisor"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use carson_proc::inspector::Inspector;

use crate::fixture::{World, blob, git, try_git, write};
use crate::{Mirror, Oid, Salvaged, Worktree};

mod broken;

/// What each session works on before it turns on us.
const COMMITTED: &str = "committed work";
const STAGED: &str = "staged work";
const CHANGED: &str = "changed work";
const UNTRACKED: &str = "untracked work";

/// Two repositories of one operator, and a file that shows that a program ran.
pub(super) struct Scene {
    pub world: World,
    pub other: Mirror,
    pub secret: Oid,
    pub proof: PathBuf,
}

impl Scene {
    pub async fn new() -> Self {
        let world = World::new().await;
        let seed = world.dir.path().join("other");
        write(&seed.join("key.txt"), "the key of another repository");
        git(&seed, ["init", "--quiet"]);
        git(&seed, ["add", "--all"]);
        git(&seed, ["commit", "--quiet", "-m", "Private"]);
        let other = Mirror::at(
            world.dir.path().join("home/other.git"),
            seed.to_str().unwrap(),
            Inspector::here(),
        );
        other.refresh().await.unwrap();
        let secret = other.resolve("main").await.unwrap();
        let proof = world.dir.path().join("proof");
        Self {
            world,
            other,
            secret,
            proof,
        }
    }

    pub fn program(&self) -> String {
        let program = self.world.dir.path().join("program");
        let text = format!("#!/bin/sh\ntouch '{}'\nexec cat\n", self.proof.display());
        write(&program, text);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program.to_str().unwrap().to_owned()
    }

    /// A worktree with every kind of work in it; the commit.
    pub async fn worked(&self, name: &str) -> (Worktree, Oid) {
        let tree = self.world.worktree(name).await;
        tree.put("work/committed", COMMITTED);
        let commit = tree.commit_as_session("Work");
        tree.put("work/staged", STAGED);
        tree.run(["add", "work/staged"]);
        tree.put("work/staged", CHANGED);
        tree.put("work/untracked", UNTRACKED);
        (tree, commit)
    }

    /// What Carson does after a session, within a bound.
    pub async fn conclude(&self, tree: &Worktree) -> Salvaged {
        let begun = Instant::now();
        tree.inspect(true).await.unwrap();
        tree.snapshot("Salvage").await.unwrap();
        let tip = tree.tip().await.unwrap();
        self.world.keep_ref(&tree.name(), &tip).await.unwrap();
        let salvaged = tree.is_salvaged().await.unwrap();
        if salvaged == Salvaged::Yes {
            tree.remove().await.unwrap();
            assert!(tree.path.symlink_metadata().is_err());
            assert!(tree.repository().symlink_metadata().is_err());
        }
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{:?}",
            begun.elapsed()
        );
        salvaged
    }

    /// Every file of the mirrors that is there before and after, byte for byte.
    pub fn bytes(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut todo = vec![
            self.world.mirror.path().to_owned(),
            self.other.path().to_owned(),
        ];
        while let Some(dir) = todo.pop() {
            for item in fs::read_dir(dir).unwrap() {
                let path = item.unwrap().path();
                if path.is_dir() {
                    todo.push(path);
                } else {
                    let bytes = fs::read(&path).unwrap();
                    found.insert(path, bytes);
                }
            }
        }
        found
    }

    /// The mirrors are what they were, but for objects that are whole and refs of this firing.
    pub fn is_unharmed(&self, before: &BTreeMap<PathBuf, Vec<u8>>, tree: &Worktree) {
        let after = self.bytes();
        for (path, bytes) in before {
            assert_eq!(after.get(path), Some(bytes), "{}", path.display());
        }
        let mirror = self.world.mirror.path();
        let base = format!("refs/carson/base/{}", tree.base);
        for path in after.keys().filter(|path| !before.contains_key(*path)) {
            let name = path.strip_prefix(mirror).unwrap().to_str().unwrap();
            let one = name.strip_prefix("logs/").unwrap_or(name);
            assert_eq!(
                one, base,
                "the mirror has what the remote has, and nothing else"
            );
        }
        git(mirror, ["fsck", "--full", "--strict", "--no-dangling"]);
        assert!(!self.proof.exists(), "a program of the session ran");
        let kept = self.world.kept();
        git(kept.path(), ["fsck", "--full", "--strict", "--no-dangling"]);
        for repository in [mirror, kept.path()] {
            let stolen = try_git(repository, ["cat-file", "-e", self.secret.as_str()]);
            assert!(
                !stolen.status.success(),
                "an object of another repository came in"
            );
        }
    }

    pub fn kept(&self) -> BTreeSet<String> {
        let all = self.world.reachable("--all");
        all.iter().map(|oid| oid.as_str().to_owned()).collect()
    }
}

pub(super) fn fifo(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Plays one act; everything that was worked on must be kept, and the bench may go.
async fn survives(act: impl FnOnce(&Scene, &Worktree)) {
    let scene = Scene::new().await;
    let (tree, commit) = scene.worked("one").await;
    let before = scene.bytes();
    act(&scene, &tree);
    assert_eq!(
        scene.bytes(),
        before,
        "the act itself left the mirror alone"
    );
    let salvaged = scene.conclude(&tree).await;
    scene.is_unharmed(&before, &tree);
    assert_eq!(salvaged, Salvaged::Yes);
    let kept = scene.kept();
    assert!(kept.contains(commit.as_str()), "the commit is lost");
    for content in [COMMITTED, STAGED, CHANGED, UNTRACKED] {
        assert!(
            kept.contains(blob(content.as_bytes()).as_str()),
            "lost: {content}"
        );
    }
    assert_eq!(
        fs::read_dir(scene.world.mirror.path().with_extension("scratch"))
            .unwrap()
            .count(),
        0
    );
}

#[tokio::test]
async fn refs_of_others_are_moved_and_deleted() {
    survives(|scene, tree| {
        tree.run(["update-ref", "refs/heads/main", "HEAD"]);
        tree.run(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        tree.run(["update-ref", "refs/carson/salvage/other", "HEAD"]);
        tree.run(["tag", "v1"]);
        tree.run(["pack-refs", "--all"]);
        let own = tree.repository();
        tree.run(["replace", "--force", tree.base.as_str(), "HEAD"]);
        let packed = fs::read_to_string(own.join("packed-refs")).unwrap();
        let more = format!("{packed}{} refs/heads/zzz\ngarbage\n", scene.secret);
        fs::write(own.join("packed-refs"), more).unwrap();
    })
    .await;
}

#[tokio::test]
async fn every_kind_of_setting_names_a_program() {
    survives(|scene, tree| {
        let program = scene.program();
        for key in [
            "alias.log",
            "core.fsmonitor",
            "core.pager",
            "core.sshCommand",
            "core.gitProxy",
            "core.editor",
            "diff.external",
            "diff.evil.textconv",
            "diff.evil.command",
            "filter.evil.clean",
            "filter.evil.smudge",
            "filter.evil.process",
            "merge.evil.driver",
            "credential.helper",
            "gpg.program",
            "uploadpack.packObjectsHook",
            "remote.origin.uploadpack",
            "url.ext::sh.insteadOf",
            "protocol.ext.allow",
            "core.alternateRefsCommand",
        ] {
            git(&tree.repository(), ["config", key, &program]);
        }
        let included = scene.world.dir.path().join("included");
        write(&included, format!("[core]\n\tfsmonitor = {program}\n"));
        for scope in [
            vec!["--add", "include.path", included.to_str().unwrap()],
            vec!["core.hooksPath", tree.path.to_str().unwrap()],
            vec!["core.worktree", "/"],
            vec!["extensions.worktreeConfig", "true"],
            vec!["core.bare", "false"],
        ] {
            try_git(&tree.repository(), [vec!["config"], scope].concat());
        }
        fs::write(
            tree.admin().join("config.worktree"),
            format!("[core]\n\tfsmonitor = {program}\n"),
        )
        .unwrap();
        write(
            &tree.path.join(".gitattributes"),
            "* filter=evil diff=evil merge=evil\n",
        );
        for dir in [
            tree.repository().join("hooks"),
            tree.path.clone(),
            tree.admin().join("hooks"),
        ] {
            for hook in [
                "pre-commit",
                "reference-transaction",
                "post-index-change",
                "pre-push",
                "update",
            ] {
                fs::create_dir_all(&dir).unwrap();
                fs::copy(&program, dir.join(hook)).unwrap();
            }
        }
        write(
            &tree.path.join(".gitmodules"),
            "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c 'touch x'\n\tupdate = none\n",
        );
        write(&tree.repository().join("info/exclude"), "*\n");
        write(
            &tree.repository().join("info/attributes"),
            "* filter=evil\n",
        );
    })
    .await;
}

#[tokio::test]
async fn another_repositorys_objects_are_borrowed() {
    survives(|scene, tree| {
        let (own, other) = (tree.repository(), scene.other.path().join("objects"));
        let both = format!(
            "{}/objects\n{}\n",
            scene.world.mirror.path().display(),
            other.display()
        );
        fs::write(own.join("objects/info/alternates"), both).unwrap();
        // As a branch, as the second parent of its own commit, and by links of both kinds.
        write(
            &own.join("refs/heads/stolen"),
            format!("{}\n", scene.secret),
        );
        let here = scene.secret.as_str();
        let (from, to) = (other.join(&here[..2]), own.join("objects").join(&here[..2]));
        // One in 256 begins as one of its own does.
        match to.exists() {
            true => symlink(from.join(&here[2..]), to.join(&here[2..])).unwrap(),
            false => symlink(from, to).unwrap(),
        }
    })
    .await;
}

#[tokio::test]
async fn grafts_and_a_shallow_file_hide_history() {
    survives(|_, tree| {
        let own = tree.repository();
        let head = tree.head();
        write(&own.join("info/grafts"), format!("{head}\n"));
        write(&own.join("shallow"), format!("{head}\n"));
        write(&tree.admin().join("shallow"), format!("{head}\n"));
    })
    .await;
}

#[tokio::test]
async fn locks_and_pipes_lie_everywhere() {
    survives(|_, tree| {
        let own = tree.repository();
        for lock in [
            "packed-refs.lock".to_owned(),
            "config.lock".to_owned(),
            "shallow.lock".to_owned(),
            "HEAD.lock".to_owned(),
            format!("{}.lock", tree.branch_ref()),
        ] {
            write(&own.join(lock), "");
        }
        fs::write(tree.admin().join("index.lock"), "").unwrap();
        for pipe in [
            "refs/heads/pipe",
            "refs/pipe",
            "logs/refs/heads/pipe",
            "objects/info/alternates",
            "objects/aa/pipe",
            "objects/pack/pack-1.pack",
            "config",
            "shallow",
            "info/grafts",
        ] {
            fifo(&own.join(pipe));
        }
        fifo(&tree.admin().join("commondir"));
        fifo(&tree.admin().join("ORIG_HEAD"));
        for pipe in [
            ".gitignore",
            ".gitattributes",
            "src/.gitignore",
            "pipe",
            ".gitmodules",
        ] {
            fifo(&tree.path.join(pipe));
        }
        for inner in ["inner/.git", "work/deep/.git"] {
            let git_dir = tree.path.join(inner);
            let dir = git_dir.parent().unwrap();
            write(&dir.join("file"), "inside");
            git(dir, ["init", "--quiet"]);
            fifo(&git_dir.join("HEAD"));
            fifo(&git_dir.join("refs/heads/main"));
            fifo(&git_dir.join("packed-refs"));
        }
    })
    .await;
}

#[tokio::test]
async fn the_worktree_points_elsewhere() {
    survives(|scene, tree| {
        let other = format!("gitdir: {}\n", scene.other.path().display());
        fs::write(tree.path.join(".git"), &other).unwrap();
        fs::write(tree.admin().join("gitdir"), "/nowhere/.git\n").unwrap();
        let other = scene.other.path().to_str().unwrap();
        fs::write(tree.admin().join("commondir"), other).unwrap();
        // So does a repository inside.
        write(&tree.path.join("inner/.git"), format!("gitdir: {other}\n"));
        write(&tree.path.join("inner2/x"), "x");
        git(&tree.path.join("inner2"), ["init", "--quiet"]);
        write(
            &tree.path.join("inner2/.git/objects/info/alternates"),
            format!("{other}/objects\n"),
        );
        write(
            &tree.path.join("inner2/.git/refs/heads/main"),
            scene.secret.to_string(),
        );
        write(&tree.path.join("inner3/x"), "x");
        git(&tree.path.join("inner3"), ["init", "--quiet"]);
        let own = tree.path.join("inner3/.git");
        fs::write(own.join("commondir"), other).unwrap();
        write(&own.join("refs/heads/main"), scene.secret.to_string());
    })
    .await;
}

#[tokio::test]
async fn head_and_branch_go_their_own_ways() {
    survives(|_, tree| {
        tree.run(["stash", "--quiet"]);
        tree.run(["checkout", "--quiet", "-b", "other"]);
        tree.run([
            "worktree",
            "add",
            "--quiet",
            "--force",
            "../second",
            &tree.branch,
        ]);
        tree.run(["stash", "pop", "--quiet"]);
        tree.run(["symbolic-ref", "refs/heads/loop", "refs/heads/loop2"]);
        write(
            &tree.repository().join("refs/heads/loop2"),
            "ref: refs/heads/loop\n",
        );
        write(
            &tree.repository().join("refs/heads/out"),
            "ref: refs/../../../etc/passwd\n",
        );
        tree.put("work/staged", STAGED);
        tree.run(["add", "work/staged"]);
        tree.put("work/staged", CHANGED);
    })
    .await;
}

#[tokio::test]
async fn the_session_collects_its_garbage() {
    survives(|_, tree| {
        tree.run(["gc", "--quiet", "--prune=now"]);
        tree.run(["repack", "-a", "-d", "-q", "--write-bitmap-index"]);
        tree.run(["commit-graph", "write", "--reachable"]);
        tree.run(["multi-pack-index", "write"]);
    })
    .await;
}

#[tokio::test]
async fn its_daily_work_needs_nothing_of_the_mirror() {
    survives(|_, tree| {
        tree.run(["log", "--oneline", "origin/main"]);
        tree.run(["diff", "origin/main"]);
        tree.run(["worktree", "list"]);
        tree.run(["status"]);
        tree.run(["branch", "topic"]);
        tree.run(["tag", "-a", "-m", "annotated", "v1"]);
        tree.run(["reflog"]);
        assert!(!try_git(&tree.path, ["fetch", "origin"]).status.success());
    })
    .await;
}
