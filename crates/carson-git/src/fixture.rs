//! Real repositories for tests.

#![expect(
    clippy::disallowed_methods,
    reason = "tests play the session and the operator, who have no supervisor"
)]

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use carson_proc::inspector::Inspector;
use tempfile::TempDir;

use crate::{GitError, Kept, Mirror, Oid, Pushed, Salvaged, TreeFacts, Worktree};

/// A remote with one commit on `main`, and a mirror of it.
pub(crate) struct World {
    pub dir: TempDir,
    pub mirror: Mirror,
}

/// Runs git the way a session does: in a directory, with an identity and hooks.
pub(crate) fn try_git<A: AsRef<OsStr>>(dir: &Path, args: impl IntoIterator<Item = A>) -> Output {
    Command::new("git")
        .args([
            "-c",
            "user.name=Agent",
            "-c",
            "user.email=agent@example.org",
        ])
        .args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LC_ALL", "C")
        .output()
        .unwrap()
}

/// The same, and it must succeed; what it printed.
pub(crate) fn git<A: AsRef<OsStr>>(dir: &Path, args: impl IntoIterator<Item = A>) -> String {
    let done = try_git(dir, args);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success(),
        "git failed in {}: {errors}",
        dir.display()
    );
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A mirror whose tests ask themselves.
pub(crate) fn mirror(path: &Path, remote: &Path) -> Mirror {
    let remote = remote.to_str().unwrap();
    Mirror::at(path.to_owned(), remote, Inspector::here())
}

impl World {
    /// The mirror is not cloned yet.
    pub(crate) fn bare() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let seed = dir.path().join("seed");
        fs::create_dir(&seed).unwrap();
        git(&seed, ["init", "--quiet"]);
        write(&seed.join("README.md"), "# widget\none\ntwo\n");
        write(&seed.join("src/lib.rs"), "pub fn one() {}\n");
        write(&seed.join("src/old.rs"), "pub fn old() {}\n");
        write(&seed.join(".gitignore"), "target/\n*.log\n");
        git(&seed, ["add", "--all"]);
        git(&seed, ["commit", "--quiet", "-m", "Begin"]);
        let origin = dir.path().join("origin.git");
        git(
            dir.path(),
            ["clone", "--quiet", "--bare", "seed", "origin.git"],
        );
        let mirror = mirror(&dir.path().join("home/widget.git"), &origin);
        Self { dir, mirror }
    }

    /// The store of what is kept.
    pub(crate) fn kept(&self) -> Kept {
        self.mirror.kept()
    }

    pub(crate) async fn keep_ref(&self, firing: &str, oid: &Oid) -> Result<String, GitError> {
        self.kept().keep_ref(firing, oid).await
    }

    /// Pushes a firing's branch as it was seen last.
    pub(crate) async fn push(&self, branch: &str) -> Result<Pushed, GitError> {
        let kept = self.kept();
        let at = kept
            .bare
            .ref_target(&format!("refs/heads/{branch}"))
            .await?;
        kept.push(branch, &at.unwrap(), &[]).await
    }

    pub(crate) async fn new() -> Self {
        let world = Self::bare();
        world.mirror.refresh().await.unwrap();
        world
    }

    pub(crate) fn origin(&self) -> PathBuf {
        self.dir.path().join("origin.git")
    }

    /// The operator's checkout, from which the remote was made.
    pub(crate) fn seed(&self) -> PathBuf {
        self.dir.path().join("seed")
    }

    /// Somebody else's commit on a branch of the remote.
    pub(crate) fn upstream(&self, branch: &str, path: &str, content: &str) -> Oid {
        let seed = self.seed();
        if !try_git(&seed, ["checkout", "--quiet", branch])
            .status
            .success()
        {
            git(&seed, ["checkout", "--quiet", "-b", branch]);
        }
        write(&seed.join(path), content);
        git(&seed, ["add", "--all"]);
        git(&seed, ["commit", "--quiet", "-m", "Upstream"]);
        git(
            &seed,
            ["push", "--quiet", "--force", "../origin.git", branch],
        );
        git(&seed, ["rev-parse", "HEAD"]).parse().unwrap()
    }

    /// A worktree of a firing.
    pub(crate) async fn worktree(&self, name: &str) -> Worktree {
        let base = self.mirror.resolve("main").await.unwrap();
        self.worktree_at(name, &base).await
    }

    /// The same, begun at a commit.
    pub(crate) async fn worktree_at(&self, name: &str, base: &Oid) -> Worktree {
        let path = self.dir.path().join("benches").join(name).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let branch = format!("carson/implementer/{name}");
        self.mirror
            .add_worktree(&path, &branch, base)
            .await
            .unwrap()
    }

    /// Whether the mirror or the store has a ref.
    pub(crate) fn has_ref(&self, name: &str) -> bool {
        let ask = ["rev-parse", "--verify", "--quiet", name];
        let has = |path: &Path| try_git(path, ask).status.success();
        has(self.mirror.path()) || has(self.kept().path())
    }

    /// Everything that a ref, or `--all`, leads to.
    pub(crate) fn reachable(&self, from: &str) -> HashSet<Oid> {
        let list = git(
            self.kept().path(),
            ["rev-list", "--objects", "--no-object-names", from],
        );
        list.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// The content of a file in a commit.
    pub(crate) fn show(&self, commit: &Oid, path: impl AsRef<OsStr>) -> Option<Vec<u8>> {
        let mut spec = commit.as_str().as_bytes().to_vec();
        spec.push(b':');
        spec.extend(path.as_ref().as_bytes());
        let done = try_git(
            self.kept().path(),
            [OsStr::new("show"), OsStr::from_bytes(&spec)],
        );
        done.status.success().then_some(done.stdout)
    }

    /// The paths of a commit, with their modes.
    pub(crate) fn files(&self, commit: &Oid) -> Vec<String> {
        let format = "--format=%(objectmode) %(path)";
        let list = git(
            self.kept().path(),
            ["ls-tree", "-r", format, commit.as_str()],
        );
        list.lines().map(str::to_owned).collect()
    }
}

impl Worktree {
    /// Writes a file.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        write(&self.path.join(path), content);
    }

    /// Git's own directory for it.
    pub(crate) fn admin(&self) -> PathBuf {
        self.git_dir()
    }

    pub(crate) async fn facts(&self) -> Result<TreeFacts, GitError> {
        Ok(self.inspect(false).await?.facts().clone())
    }

    pub(crate) async fn snapshot(&self, message: &str) -> Result<Option<Oid>, GitError> {
        self.inspect(false).await?.snapshot(message).await
    }

    pub(crate) async fn snapshot_aside(&self, message: &str) -> Result<Option<Oid>, GitError> {
        self.inspect(false).await?.snapshot_aside(message).await
    }

    pub(crate) async fn is_salvaged(&self) -> Result<Salvaged, GitError> {
        self.inspect(false).await?.is_salvaged().await
    }

    pub(crate) async fn remove(&self) -> Result<(), GitError> {
        self.inspect(false).await?.put_away(None).await?;
        let bench = self.path.parent().unwrap();
        crate::remove_tree(&self.mirror.inspector, self.mirror.path(), bench).await
    }

    /// Runs git as the session.
    pub(crate) fn run<const N: usize>(&self, args: [&str; N]) -> String {
        git(&self.path, args)
    }

    /// Commits everything as the session; the commit.
    pub(crate) fn commit_as_session(&self, message: &str) -> Oid {
        self.run(["add", "--all"]);
        self.run(["commit", "--quiet", "-m", message]);
        self.head()
    }

    /// The same, and Carson has looked.
    pub(crate) async fn commit_seen(&self, message: &str) -> Oid {
        let oid = self.commit_as_session(message);
        self.facts().await.unwrap();
        oid
    }

    pub(crate) fn head(&self) -> Oid {
        self.run(["rev-parse", "HEAD"]).parse().unwrap()
    }
}

/// The name that git gives to this content.
pub(crate) fn blob(content: &[u8]) -> Oid {
    git2::Oid::hash_object(git2::ObjectType::Blob, content)
        .unwrap()
        .into()
}
