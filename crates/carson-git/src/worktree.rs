//! A firing's throwaway worktree.

use std::path::{Path, PathBuf};

use crate::error::GitError;
use crate::git::Git;
use crate::mirror::{Mirror, remove_dir};
use crate::oid::Oid;
use crate::salvaged::Salvaged;

/// A worktree of a mirror, as the row of its firing describes it. It may be damaged or gone.
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
    /// Staged, unstaged or untracked changes that are not ignored.
    pub dirty: bool,
    /// HEAD stands on commits that the branch does not have.
    pub head_strayed: bool,
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

    /// The branch's newest commit; the base when the branch was never made.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn tip(&self) -> Result<Oid, GitError> {
        let name = format!("refs/heads/{}", self.branch);
        Ok(self
            .mirror
            .ref_target(&name)
            .await?
            .unwrap_or_else(|| self.base.clone()))
    }

    /// Measures.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn facts(&self) -> Result<TreeFacts, GitError> {
        let tip = self.tip().await?;
        let commits = self.ahead(&tip).await?;
        let head_strayed = self.stray_head(&tip).await?.is_some();
        let exists = self.path.is_dir();
        let dirty = exists && self.is_dirty(&tip).await?;
        Ok(TreeFacts {
            exists,
            commits,
            dirty,
            head_strayed,
        })
    }

    async fn ahead(&self, tip: &Oid) -> Result<u32, GitError> {
        let (tip, base) = (tip.clone(), self.base.clone());
        let ahead = self.mirror.read(move |repo| {
            let (tip, base) = (
                git2::Oid::from_str(tip.as_str())?,
                git2::Oid::from_str(base.as_str())?,
            );
            repo.graph_ahead_behind(tip, base).map(|(ahead, _)| ahead)
        });
        Ok(u32::try_from(ahead.await?).unwrap_or(u32::MAX))
    }

    /// The commit of HEAD, when neither the branch nor its history has it.
    pub(crate) async fn stray_head(&self, tip: &Oid) -> Result<Option<Oid>, GitError> {
        let Ok(head) = std::fs::read_to_string(self.admin().join("HEAD")) else {
            return Ok(None);
        };
        let head = match head.trim().strip_prefix("ref: ") {
            Some(name) if name == format!("refs/heads/{}", self.branch) => return Ok(None),
            Some(name) => self.mirror.ref_target(name).await?,
            None => head.parse().ok(),
        };
        let Some(head) = head else { return Ok(None) };
        let known = self.mirror.git("merge-base");
        let known = known
            .args(["--is-ancestor", head.as_str(), tip.as_str()])
            .succeeds()
            .await?;
        Ok((!known).then_some(head))
    }

    /// What the commits since the base changed, up to `max_bytes`.
    ///
    /// # Errors
    /// When git fails.
    pub async fn diff(&self, max_bytes: usize) -> Result<DiffText, GitError> {
        let tip = self.tip().await?;
        let mut text = self
            .mirror
            .git("diff")
            .args([
                "--no-ext-diff",
                "--no-textconv",
                "--no-color",
                "--submodule=short",
            ])
            .args([self.base.as_str(), tip.as_str(), "--"])
            .text()
            .await?;
        let truncated = text.len() > max_bytes;
        if truncated {
            let cut = (0..=max_bytes)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap_or(0);
            text.truncate(cut);
        }
        Ok(DiffText { text, truncated })
    }

    /// Removes the directory and git's note of it. The branch stays when only the mirror has it.
    ///
    /// # Errors
    /// When something in it is not saved: then nothing is removed.
    pub async fn remove(&self) -> Result<(), GitError> {
        if let Salvaged::No { why } = self.is_salvaged().await? {
            return Err(GitError::NotSalvaged {
                path: self.path.clone(),
                why,
            });
        }
        remove_dir(&self.path)?;
        remove_dir(&self.admin())?;
        let remote = self
            .mirror
            .ref_target(&format!("refs/remotes/origin/{}", self.branch))
            .await?;
        let tip = self.tip().await?;
        if remote.as_ref() == Some(&tip) || tip == self.base {
            let name = format!("refs/heads/{}", self.branch);
            self.mirror
                .git("update-ref")
                .args(["-d", name.as_str()])
                .text()
                .await?;
        }
        Ok(())
    }

    /// Git's own directory for this worktree: named after the last part of its path.
    pub(crate) fn admin(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default();
        self.mirror.path().join("worktrees").join(name)
    }

    /// A command on the mirror with this directory as its work tree. The worktree's own `.git`
    /// file is never asked: the session could have written it.
    pub(crate) fn git(&self, verb: &str, index: &Path) -> Git {
        self.mirror
            .git(verb)
            .env("GIT_WORK_TREE", &self.path)
            .env("GIT_INDEX_FILE", index)
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "core.bare")
            .env("GIT_CONFIG_VALUE_0", "false")
    }
}
