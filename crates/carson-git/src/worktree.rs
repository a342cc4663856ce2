//! A firing's throwaway worktree.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tracing::warn;

use crate::error::{GitError, io};
use crate::intake::Look;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::salvaged::Salvaged;

/// A worktree of a firing's own repository, as the row of the firing describes it. Both may be
/// damaged or gone.
#[derive(Clone, Debug)]
pub struct Worktree {
    /// Its directory.
    pub path: PathBuf,
    /// The firing's branch.
    pub branch: String,
    /// The commit it began at.
    pub base: Oid,
    pub(crate) mirror: Mirror,
}

/// What Carson measured of a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeFacts {
    /// Whether the directory is there.
    pub exists: bool,
    /// Commits on the branch since the base.
    pub commits: u32,
    /// Something is left that only the worktree has: staged, unstaged or untracked changes that
    /// are not ignored, or commits of a repository inside it.
    pub dirty: bool,
    /// HEAD stands on commits that the branch does not have.
    pub head_strayed: bool,
    /// What the session's repository has and Carson cannot take over, and why.
    pub trouble: Vec<String>,
}

/// A ref of the mirror that nothing needs any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleRef {
    pub(crate) name: String,
    /// Where it was: one that moved since is left alone.
    pub(crate) at: Oid,
}

/// A diff as text.
#[derive(Clone, Debug)]
pub struct DiffText {
    /// The text; what is not UTF-8 is replaced.
    pub text: String,
    /// Whether it was cut.
    pub truncated: bool,
}

impl Worktree {
    /// A worktree as a row remembers it; nothing is touched.
    #[must_use]
    pub fn open(mirror: &Mirror, path: PathBuf, branch: String, base: Oid) -> Self {
        Self {
            path,
            branch,
            base,
            mirror: mirror.clone(),
        }
    }

    /// The branch's newest commit, as of the last look at the session's repository; the base when
    /// it never had another.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn tip(&self) -> Result<Oid, GitError> {
        Ok(self
            .branch_tip()
            .await?
            .unwrap_or_else(|| self.base.clone()))
    }

    pub(crate) async fn branch_tip(&self) -> Result<Option<Oid>, GitError> {
        self.mirror.ref_target(&self.branch_ref()).await
    }

    pub(crate) fn branch_ref(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    /// Measures.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn facts(&self) -> Result<TreeFacts, GitError> {
        let look = self.look().await?;
        let tip = self.tip().await?;
        Ok(TreeFacts {
            exists: self.is_there(),
            commits: self.ahead(&tip).await?,
            head_strayed: self.stray_head(&tip, &look).await?.is_some(),
            trouble: look.trouble.clone(),
            dirty: self.is_dirty(&tip, look).await?,
        })
    }

    /// Whether the directory itself is there. A link in its place leads to somebody else's files:
    /// those are never taken up.
    pub(crate) fn is_there(&self) -> bool {
        self.path
            .symlink_metadata()
            .is_ok_and(|found| found.is_dir())
    }

    async fn ahead(&self, tip: &Oid) -> Result<u32, GitError> {
        let (tip, base) = (tip.git2(), self.base.git2());
        let ahead = self
            .mirror
            .read(move |repo| repo.graph_ahead_behind(tip, base));
        Ok(u32::try_from(ahead.await?.0).unwrap_or(u32::MAX))
    }

    /// The commit of HEAD, when neither the branch nor its history has it.
    pub(crate) async fn stray_head(&self, tip: &Oid, look: &Look) -> Result<Option<Oid>, GitError> {
        let Some(head) = &look.head else {
            return Ok(None);
        };
        if !self.mirror.has_commit(head).await? || self.mirror.descends(tip, head).await? {
            return Ok(None);
        }
        Ok(Some(head.clone()))
    }

    /// What the commits since the base changed, up to `max_bytes`. Neither programs nor attributes
    /// that the session chose have a say in how it looks.
    ///
    /// # Errors
    /// When git fails.
    pub async fn diff(&self, max_bytes: usize) -> Result<DiffText, GitError> {
        self.look().await?;
        let tip = self.tip().await?;
        let plain = [
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--submodule=short",
        ];
        let diff = self.mirror.git("diff").args(plain).keeping(max_bytes);
        let done = diff
            .args([self.base.as_str(), tip.as_str(), "--"])
            .finish()
            .await?;
        if !done.success() && done.stopped.is_none() {
            let detail = crate::git::detail(&done);
            return Err(GitError::Failed {
                verb: "diff".into(),
                detail,
            });
        }
        let mut text = done.stdout.text();
        let truncated = done.stdout.total_bytes() > max_bytes as u64;
        if truncated {
            text.truncate(text.floor_char_boundary(max_bytes));
        }
        Ok(DiffText { text, truncated })
    }

    /// Removes the directory and the firing's own repository. The branch goes only when it is at
    /// the base, or the remote says that it has the same commit.
    ///
    /// # Errors
    /// When something in it is not saved: then nothing is removed.
    pub async fn remove(&self) -> Result<(), GitError> {
        let idle = self.clear_away().await?;
        self.mirror.delete_refs(&idle).await
    }

    /// The same, but the refs of the mirror that nothing needs any more are given back: whoever
    /// removes many worktrees deletes the refs of all of them at once.
    ///
    /// # Errors
    /// When something in it is not saved: then nothing is removed.
    pub async fn clear_away(&self) -> Result<Vec<IdleRef>, GitError> {
        let look = self.look().await?;
        let remembered = look.remembered.clone();
        if let Salvaged::No { why } = self.judge(look).await? {
            return Err(GitError::NotSalvaged {
                path: self.path.clone(),
                why,
            });
        }
        self.keep_abandoned(remembered).await?;
        let git = self.own().map(|own| own.git);
        for path in [Some(self.path.clone()), git, Some(self.repository())] {
            let Some(path) = path else { continue };
            let removed = tokio::task::spawn_blocking(move || discard(&path)).await;
            removed.map_err(|panic| GitError::Failed {
                verb: "worktree remove".into(),
                detail: panic.to_string(),
            })??;
        }
        let mut idle = Vec::new();
        let Some(at) = self.branch_tip().await? else {
            return Ok(idle);
        };
        if at == self.base || self.is_on_remote(&at).await {
            let name = self.branch_ref();
            idle.push(IdleRef { name, at });
        }
        let name = self.seen_ref();
        if let Some(at) = self.mirror.ref_target(&name).await? {
            idle.push(IdleRef { name, at });
        }
        Ok(idle)
    }

    /// Asks the remote; no answer is no.
    async fn is_on_remote(&self, tip: &Oid) -> bool {
        match self.mirror.remote_head(&self.branch).await {
            Ok(found) => found.as_ref() == Some(tip),
            Err(error) => {
                warn!(branch = %self.branch, %error, "the branch stays in the mirror");
                false
            }
        }
    }

    /// Its name among the worktrees.
    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// Takes a directory out of sight before it is removed: one that is half removed would look like
/// a session that deleted files.
fn discard(path: &Path) -> Result<(), GitError> {
    let mut gone = path.as_os_str().to_owned();
    gone.push(".gone");
    let gone = PathBuf::from(gone);
    remove_tree(&gone)?;
    match fs::rename(path, &gone) {
        Ok(()) => remove_tree(&gone),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(io(path, source)),
    }
}

/// Removes a directory with all that is in it; a link or file in its place only itself. Tools
/// leave directories that even their owner may not change (a Go module cache): those are opened.
///
/// # Errors
/// When something in it cannot be removed; nothing there is no error.
pub fn remove_tree(path: &Path) -> Result<(), GitError> {
    let gone = |result: std::io::Result<()>| match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    };
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => match gone(fs::remove_dir_all(path)) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                loosen(path);
                gone(fs::remove_dir_all(path))
            }
            other => other,
        },
        Ok(_) => gone(fs::remove_file(path)),
        Err(error) => gone(Err(error)),
    };
    removed.map_err(|source| io(path, source))
}

/// Gives the owner every right below a directory of ours that was taken away. Best effort: who
/// calls this tries again what failed, and that decides.
pub(crate) fn loosen(root: &Path) {
    let mut todo = vec![root.to_owned()];
    while let Some(path) = todo.pop() {
        let Ok(found) = path.symlink_metadata() else {
            continue;
        };
        let (mode, wanted) = (
            found.permissions().mode(),
            if found.is_dir() { 0o700 } else { 0o400 },
        );
        if (found.is_dir() || found.is_file()) && mode & wanted != wanted {
            let _ = fs::set_permissions(&path, Permissions::from_mode(mode | wanted));
        }
        if found.is_dir() {
            let items = fs::read_dir(&path).into_iter().flatten().flatten();
            todo.extend(items.map(|item| item.path()));
        }
    }
}

#[cfg(test)]
mod tests;
