//! What is said to the remote: branches go there under their own name, never by force.

mod noted;

use std::path::Path;

use carson_proc::Finished;

use crate::branch::{is_of_a_firing, is_protected};
use crate::error::GitError;
use crate::git::{Git, detail};
use crate::kept::Kept;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::remote::Remote;
use crate::timeouts::{ASK, REMOTE};
use crate::torn;

/// What a push did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has a new branch.
    Created,
    /// The remote's branch has new commits.
    Updated,
    /// The remote had it all before.
    UpToDate,
}

impl Kept {
    /// Pushes a commit as a firing's branch; never forced, never a protected one.
    ///
    /// # Errors
    /// When it is protected, refused, or the remote cannot be reached.
    pub async fn push(
        &self,
        branch: &str,
        commit: &Oid,
        protected: &[String],
    ) -> Result<Pushed, GitError> {
        let near = self.path();
        self.remote.may_change(branch, protected, near).await?;
        let sent = self.send(branch, commit, &[]).await;
        match &sent {
            // An earlier push may have been at it still (of who was killed, or whose connection broke).
            Err(GitError::PushRejected { .. } | GitError::RemoteGone { .. }) => {
                let ask = self.remote.reach(self.bare.git("ls-remote"), near)?;
                let now = self.remote.head_of(ask, branch).await;
                let is_there = now.is_ok_and(|now| now.as_ref() == Some(commit));
                if is_there { Ok(Pushed::UpToDate) } else { sent }
            }
            _ => sent,
        }
    }

    /// Pushes a commit that an operator merged, into a branch that the remote may have checked out: where that
    /// is a directory here, its work tree follows, as long as nothing there is changed.
    ///
    /// # Errors
    /// When it is refused, or the remote cannot be reached.
    pub(crate) async fn push_merged(&self, branch: &str, commit: &Oid) -> Result<Pushed, GitError> {
        let Some(place) = self.remote.directory() else {
            return self.send(branch, commit, &[]).await;
        };
        match self.send(branch, commit, &[WITH_WORK_TREE]).await {
            Err(GitError::PushRejected { branch, detail }) if is_of_the_work_tree(&detail) => {
                Err(GitError::WorkTreeChanged {
                    path: place.to_owned(),
                    branch,
                    detail,
                })
            }
            done => done,
        }
    }

    async fn send(&self, branch: &str, commit: &Oid, more: &[&str]) -> Result<Pushed, GitError> {
        let push = self.remote.reach(self.bare.git("push"), self.path())?;
        let push = push.within(REMOTE).args(more).args([
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--no-signed",
            "--recurse-submodules=no",
            "--",
            "carson",
        ]);
        let refspec = format!("{commit}:refs/heads/{branch}");
        let done = push.arg(refspec).finish().await?;
        match (done.success(), flag(&done)) {
            (true, Some('*')) => Ok(Pushed::Created),
            (true, Some('=')) => Ok(Pushed::UpToDate),
            (true, _) => Ok(Pushed::Updated),
            (false, Some('!')) => Err(GitError::PushRejected {
                branch: branch.to_owned(),
                detail: self.remote.redact(&rejection(&done)),
            }),
            (false, _) => Err(self.remote.refused(&done)),
        }
    }
}

/// What became of a branch that was to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// It went now.
    Now,
    /// It was not there.
    Before,
    /// It has this commit, and stays.
    Moved(Oid),
}

impl Mirror {
    /// Deletes a branch of the remote, as long as it has exactly this commit when it goes; never a protected
    /// one. Repeating it changes nothing.
    ///
    /// # Errors
    /// When it is protected, refused, or the remote cannot be reached.
    pub async fn delete_branch(
        &self,
        branch: &str,
        commit: &Oid,
        protected: &[String],
    ) -> Result<Deleted, GitError> {
        let near = self.path();
        self.remote.may_change(branch, protected, near).await?;
        if let Some(stands) = self.not_at(branch, commit).await? {
            return Ok(stands);
        }
        // Somebody may push until then: the remote compares it once more.
        let name = format!("refs/heads/{branch}");
        let push = self.remote_git("push")?.within(REMOTE).args([
            "--porcelain",
            "--no-verify",
            "--no-signed",
            &format!("--force-with-lease={name}:{commit}"),
            "--",
            "carson",
        ]);
        let done = push.arg(format!(":{name}")).finish().await?;
        match (done.success(), flag(&done)) {
            (true, _) => Ok(Deleted::Now),
            (false, Some('!')) => {
                let stands = self.not_at(branch, commit).await?;
                stands.ok_or_else(|| GitError::PushRejected {
                    branch: branch.to_owned(),
                    detail: self.remote.redact(&rejection(&done)),
                })
            }
            (false, _) => Err(self.remote.refused(&done)),
        }
    }

    /// What there is to say where the remote's branch has not this commit.
    async fn not_at(&self, branch: &str, commit: &Oid) -> Result<Option<Deleted>, GitError> {
        Ok(match self.remote_head(branch).await? {
            None => Some(Deleted::Before),
            Some(now) if now != *commit => Some(Deleted::Moved(now)),
            Some(_) => None,
        })
    }

    /// Where a branch of the remote stands now; asks the remote.
    ///
    /// # Errors
    /// When the remote cannot be reached.
    pub async fn remote_head(&self, branch: &str) -> Result<Option<Oid>, GitError> {
        let ask = self.remote_git("ls-remote")?;
        self.remote.head_of(ask, branch).await
    }

    /// Asks the remote whether it can be read and has the base; needs no clone.
    ///
    /// # Errors
    /// When it cannot be reached, is empty, has no such branch, or is no repository that can be worked
    /// with.
    pub async fn check_base(&self, base: &str) -> Result<(), GitError> {
        self.is_whole()?;
        // There is no repository to fetch into. Outside of one, git 2.47 dies over HTTP when it is to
        // read where that goes.
        let ask = Git::new(Path::new("/"), "ls-remote");
        let ask = self.remote.known(ask, self.path())?.within(ASK);
        let ask = ask.args(["--quiet", "--heads", "--", "carson"]);
        let done = ask.finish().await?;
        if !done.success() {
            return Err(self.remote.refused(&done));
        }
        let said = done.stdout.text();
        if said.lines().any(|line| line.find('\t') == Some(SHA256)) {
            return Err(GitError::Sha256 {
                url: self.remote.shown(),
            });
        }
        let names = said.lines().filter_map(|line| line.split_once('\t'));
        let mut names = names.filter_map(|(_, name)| name.strip_prefix("refs/heads/"));
        if names.clone().any(|name| name == base) {
            return Ok(());
        }
        let have: Vec<String> = names.by_ref().take(10).map(str::to_owned).collect();
        Err(match have.is_empty() {
            true => GitError::Empty {
                url: self.remote.shown(),
            },
            false => GitError::BaseMissing {
                base: base.to_owned(),
                have,
            },
        })
    }

    /// A command that talks to the remote, under a name and an address of our own: nothing written
    /// into the mirror's configuration decides where we go.
    pub(crate) fn remote_git(&self, verb: &str) -> Result<Git, GitError> {
        torn::mend_head(self.path())?;
        self.remote.reach(self.bare.git(verb), self.path())
    }
}

impl Remote {
    /// Refuses a branch that the settings protect, or that the remote's own HEAD names. A firing's is never that
    /// one, so for those nobody is asked.
    async fn may_change(
        &self,
        branch: &str,
        protected: &[String],
        near: &Path,
    ) -> Result<(), GitError> {
        let refused = is_protected(protected, branch)
            || !is_of_a_firing(branch)
                && self.heads_near(near).await?.default.as_deref() == Some(branch);
        match refused {
            true => Err(GitError::Protected {
                branch: branch.to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Where a branch stands now, asked by this `ls-remote`, which can reach it.
    async fn head_of(&self, ask: Git, branch: &str) -> Result<Option<Oid>, GitError> {
        let name = format!("refs/heads/{branch}");
        let ask = ask.within(ASK).args(["--quiet", "--", "carson", &name]);
        let done = ask.finish().await?;
        if !done.success() {
            return Err(self.refused(&done));
        }
        // The pattern also matches at the end of longer names.
        let said = done.stdout.text();
        let lines = said.lines().filter_map(|line| line.split_once('\t'));
        let mut found = lines.filter(|(_, found)| *found == name);
        Ok(found.next().and_then(|(oid, _)| oid.parse().ok()))
    }

    /// Lets a command of a repository reach the remote as `carson`.
    pub(crate) fn reach(&self, git: Git, near: &Path) -> Result<Git, GitError> {
        let to = "+refs/heads/*:refs/remotes/origin/*";
        self.known(git.config("remote.carson.fetch", to), near)
    }

    /// Lets a command know the remote as `carson`. `near` is a repository of ours, beside which the
    /// credential lies meanwhile.
    pub(crate) fn known(&self, git: Git, near: &Path) -> Result<Git, GitError> {
        let mut git = git
            .with_settings()
            .config("remote.carson.url", self.address());
        if let Some(file) = self.credential_file(near)? {
            // Git gives this line to a shell.
            let path = file.path().to_string_lossy().replace('\'', r"'\''");
            git = git.config("credential.helper", "");
            git = git.config("credential.helper", format!("store --file='{path}'"));
            git = git.holding(file);
        }
        Ok(git)
    }

    /// Why the remote could not be used.
    pub(crate) fn refused(&self, done: &Finished) -> GitError {
        let (url, detail) = (self.shown(), self.redact(&detail(done)));
        let said = done.stderr.text().to_lowercase();
        if said.contains(OTHER_NAMES) {
            return GitError::Sha256 { url };
        }
        match SIGN_IN.iter().any(|sign| said.contains(sign)) {
            true => GitError::AuthFailed { url, detail },
            false => GitError::RemoteGone { url, detail },
        }
    }
}

/// Git changes a branch that is checked out only when it may change the files with it. It does so only where
/// no file that it knows is changed, and overwrites none that it does not know.
const WITH_WORK_TREE: &str =
    "--receive-pack=git -c receive.denyCurrentBranch=updateInstead receive-pack";

/// Whether files of the remote's work tree are in the way (`update_worktree` in git's `receive-pack.c`).
fn is_of_the_work_tree(detail: &str) -> bool {
    let words = ["Working directory has", "Could not update working tree"];
    words.iter().any(|words| detail.contains(words))
}

/// How git and ssh say that we were not let in.
const SIGN_IN: [&str; 8] = [
    "authentication failed",
    "could not read username",
    "could not read password",
    "unable to read askpass",
    "terminal prompts disabled",
    "permission denied (",
    "returned error: 401",
    "returned error: 403",
];

/// How git says that a remote names its objects otherwise.
const OTHER_NAMES: &str = "mismatched algorithms: client sha1; server sha256";

/// Letters of a name by SHA-256.
const SHA256: usize = 64;

/// The sign in front of the one ref of a porcelain report.
fn flag(done: &Finished) -> Option<char> {
    let said = done.stdout.text();
    let line = said.lines().find(|line| line.contains(":refs/heads/"))?;
    line.chars().next()
}

/// The reason in the report, and what the remote's hooks said.
fn rejection(done: &Finished) -> String {
    let said = done.stdout.text();
    let reason = said.lines().find(|line| line.starts_with('!'));
    let reason = reason
        .and_then(|line| line.rsplit('\t').next())
        .unwrap_or_default();
    let errors = done.stderr.text();
    let hooks = errors
        .lines()
        .filter_map(|line| line.strip_prefix("remote:"));
    let hooks: Vec<&str> = hooks
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    if hooks.is_empty() {
        reason.to_owned()
    } else {
        format!("{reason}; {}", hooks.join("; "))
    }
}

#[cfg(test)]
mod tests;
