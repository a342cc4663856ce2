//! What a remote offers before anything of it is here: its branches, and a few of its files.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use crate::error::GitError;
use crate::git::Git;
use crate::mirror::Mirror;
use crate::remote::Remote;
use crate::timeouts::ASK;

/// How long the newest commit of a branch may take to come; a large one is not worth the wait.
const PEEK: Duration = Duration::from_secs(60);

/// How many files below directories are read at most.
const MOST_BELOW: usize = 64;

/// Where the peeked commit stands.
const PEEKED: &str = "refs/carson/peek";

/// The branches of a remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heads {
    /// The one that its HEAD names, where it names one. Of somebody's checkout it is the one that
    /// *its* remote names, as far as the checkout has it: what is checked out is today's work.
    pub default: Option<String>,
    /// All of them.
    pub branches: Vec<String>,
}

impl Mirror {
    /// The branch that the remote's HEAD names now, where it names one. Asked there each time.
    ///
    /// # Errors
    /// When the remote cannot be read, or has no commit.
    pub async fn default_branch(&self) -> Result<Option<String>, GitError> {
        Ok(self.remote.heads_near(self.path()).await?.default)
    }
}

impl Remote {
    /// Asks for its branches.
    ///
    /// # Errors
    /// When it cannot be read, or has no commit.
    pub async fn heads(&self) -> Result<Heads, GitError> {
        self.heads_near(Path::new("/")).await
    }

    /// The same; `near` is a repository of ours, beside which the credential lies meanwhile.
    pub(crate) async fn heads_near(&self, near: &Path) -> Result<Heads, GitError> {
        let ask = Git::new(Path::new("/"), "ls-remote");
        let ask = self.known(ask, near)?.within(ASK);
        let ask = ask.args([
            "--quiet",
            "--symref",
            "--",
            "carson",
            "HEAD",
            "refs/heads/*",
        ]);
        let done = ask.finish().await?;
        if !done.success() {
            return Err(self.refused(&done));
        }
        let heads = Heads::read(&done.stdout.text());
        if heads.branches.is_empty() {
            return Err(GitError::Empty { url: self.shown() });
        }
        Ok(heads)
    }

    /// The content of those of these files that a branch has; of a name that ends in `/`, what lies below it. `dir` is
    /// an empty directory of ours.
    ///
    /// # Errors
    /// When the branch cannot be had in a minute.
    pub async fn peek(
        &self,
        branch: &str,
        names: &[&str],
        dir: &Path,
    ) -> Result<Vec<(String, Vec<u8>)>, GitError> {
        let init = Git::new(dir, "init").args(["--bare", "--quiet", "--template=", "--"]);
        init.arg(dir).text().await?;
        let fetch = self.reach(Git::new(dir, "fetch"), dir)?.within(PEEK);
        let fetch = fetch.args(["--quiet", "--depth=1", "--no-tags", "carson"]);
        let done = fetch
            .arg(format!("+refs/heads/{branch}:{PEEKED}"))
            .finish()
            .await?;
        if !done.success() {
            return Err(self.refused(&done));
        }
        let mut found = Vec::new();
        for name in peeked_names(dir, names).await {
            let show = Git::new(dir, "cat-file").args(["blob", &format!("{PEEKED}:{name}")]);
            if let Ok(content) = show.bytes().await {
                found.push((name, content));
            }
        }
        Ok(found)
    }
}

/// Each name, and in the place of a directory what lies below it, once.
async fn peeked_names(dir: &Path, names: &[&str]) -> Vec<String> {
    let (below, mut all): (Vec<&str>, Vec<&str>) =
        names.iter().copied().partition(|name| name.ends_with('/'));
    let list = Git::new(dir, "ls-tree").args(["-r", "-z", "--name-only", PEEKED, "--"]);
    let listed = list.args(&below).text().await.unwrap_or_default();
    let listed = listed.split('\0').filter(|name| !name.is_empty());
    // Without a directory everything is listed.
    all.extend(listed.take(if below.is_empty() { 0 } else { MOST_BELOW }));
    let mut seen = HashSet::new();
    all.retain(|name| seen.insert(*name));
    all.into_iter().map(str::to_owned).collect()
}

/// The address from which a checkout was got.
pub async fn origin_of(checkout: &Path) -> Option<String> {
    let ask = Git::new(&checkout.join(".git"), "ls-remote").with_settings();
    let said = ask.args(["--get-url", "origin"]).text().await.ok()?;
    // Without such a remote it is taken for an address.
    Some(said.trim().to_owned()).filter(|url| url != "origin")
}

impl Heads {
    /// What `git ls-remote --symref` says: `ref: NAME<tab>HEAD` and `OID<tab>NAME`.
    fn read(said: &str) -> Self {
        let lines = said.lines().filter_map(|line| line.split_once('\t'));
        let (mut named, mut branches) = (Vec::new(), Vec::new());
        for (what, name) in lines {
            match (what.strip_prefix("ref: "), name.strip_prefix("refs/heads/")) {
                (Some(to), _) => named.push((name, to)),
                (None, Some(branch)) => branches.push(branch.to_owned()),
                (None, None) => {}
            }
        }
        let leads = |from: &str, below: &str| {
            let (_, to) = named.iter().find(|(name, _)| *name == from)?;
            let branch = to.strip_prefix(below)?;
            branches.iter().find(|one| *one == branch).cloned()
        };
        let default = leads("refs/remotes/origin/HEAD", "refs/remotes/origin/")
            .or_else(|| leads("HEAD", "refs/heads/"));
        Self { default, branches }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::git;

    fn repository(dir: &Path, branch: &str) -> Remote {
        let head = format!("--initial-branch={branch}");
        git(dir, ["init", "--quiet", &head]);
        Remote::new(dir.to_str().unwrap())
    }

    fn commit(dir: &Path) {
        std::fs::write(dir.join("go.mod"), "module widget\n").unwrap();
        git(dir, ["add", "--all"]);
        git(dir, ["commit", "--quiet", "--message", "One"]);
    }

    #[tokio::test]
    async fn a_remote_says_which_branch_work_starts_from() {
        let dir = tempfile::tempdir().unwrap();
        let remote = repository(dir.path(), "master");
        assert!(matches!(remote.heads().await, Err(GitError::Empty { .. })));
        commit(dir.path());
        git(dir.path(), ["branch", "a/b"]);
        let heads = remote.heads().await.unwrap();
        assert_eq!(heads.default.as_deref(), Some("master"));
        assert_eq!(heads.branches, ["a/b", "master"]);
        // Somebody who works on a branch of theirs means the one that they got it from.
        git(dir.path(), ["checkout", "--quiet", "a/b"]);
        assert_eq!(
            remote.heads().await.unwrap().default.as_deref(),
            Some("a/b")
        );
        git(
            dir.path(),
            ["update-ref", "refs/remotes/origin/master", "HEAD"],
        );
        let origin = ["refs/remotes/origin/HEAD", "refs/remotes/origin/master"];
        git(dir.path(), ["symbolic-ref", origin[0], origin[1]]);
        let heads = remote.heads().await.unwrap();
        assert_eq!(heads.default.as_deref(), Some("master"));
        // A head that stands on no branch names none.
        git(dir.path(), ["symbolic-ref", "--delete", origin[0]]);
        git(dir.path(), ["checkout", "--quiet", "--detach"]);
        assert_eq!(remote.heads().await.unwrap().default, None);

        assert_eq!(origin_of(dir.path()).await, None);
        git(dir.path(), ["remote", "add", "origin", "git@host:a/b"]);
        assert_eq!(origin_of(dir.path()).await.as_deref(), Some("git@host:a/b"));

        let gone = Remote::new(dir.path().join("gone").to_str().unwrap());
        assert!(matches!(
            gone.heads().await,
            Err(GitError::RemoteGone { .. })
        ));
    }

    #[tokio::test]
    async fn some_files_of_a_branch_can_be_read_before_it_is_cloned() {
        let (dir, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let remote = repository(dir.path(), "main");
        commit(dir.path());
        let found = remote
            .peek("main", &["Makefile", "go.mod"], into.path())
            .await;
        let module = ("go.mod".to_owned(), b"module widget\n".to_vec());
        assert_eq!(found.unwrap(), [module]);
    }

    #[tokio::test]
    async fn what_lies_below_a_directory_of_a_branch_can_be_read_too() {
        let (dir, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let remote = repository(dir.path(), "main");
        let below = dir.path().join("env/deep");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(below.join("é.toml"), "a\n").unwrap();
        std::fs::write(dir.path().join("environment"), "b\n").unwrap();
        commit(dir.path());
        let names = ["go.mod", "env/", "env/deep/é.toml", "none/"];
        let found = remote.peek("main", &names, into.path()).await.unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["go.mod", "env/deep/é.toml"]);
    }
}
