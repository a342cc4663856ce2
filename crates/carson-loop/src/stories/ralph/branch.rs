//! The branch that a PRD names is checked out, or made.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Command, Limits, capture};

use super::ended::Ended;

/// Asks git in the repository.
#[derive(Clone, Debug)]
pub struct Branches<'b> {
    /// The program.
    pub git: PathBuf,
    /// The top of the repository.
    pub root: &'b Path,
    /// What it finds in its environment.
    pub env: &'b [(OsString, OsString)],
}

impl Branches<'_> {
    /// Checks `target` out, or makes it on the base; what to write down of it.
    ///
    /// # Errors
    /// When git refuses.
    pub async fn sync(&self, target: &str) -> Result<String, Ended> {
        if self
            .git(&["rev-parse", "--is-inside-work-tree"])
            .await
            .is_none()
        {
            return Err(Ended::failed("Branch sync requested outside git worktree"));
        }
        // A name that git would take for an option, or for something else than a branch.
        if target.starts_with('-')
            || self
                .git(&["check-ref-format", "--branch", target])
                .await
                .is_none()
        {
            return Err(Ended::Failed(format!(
                "The PRD's branch is no name of one: {target}"
            )));
        }
        let current = self.current().await;
        if current.as_deref() == Some(target) {
            return Ok(format!("branch_sync_already_on_target branch={target}"));
        }
        if self.has(target).await {
            let done = self.git(&["checkout", target, "--"]).await;
            done.ok_or_else(|| {
                Ended::Failed(format!("Failed to checkout branch from PRD: {target}"))
            })?;
            return Ok(format!("branch_sync_checked_out_existing branch={target}"));
        }
        match self.base(current).await.filter(|base| base != target) {
            Some(base) => {
                let done = self.git(&["checkout", "-b", target, &base, "--"]).await;
                let failed =
                    || Ended::Failed(format!("Failed to create branch {target} from {base}"));
                done.ok_or_else(failed)?;
                Ok(format!("branch_sync_created branch={target} base={base}"))
            }
            None => {
                let done = self.git(&["checkout", "-b", target]).await;
                done.ok_or_else(|| {
                    Ended::Failed(format!("Failed to create branch from PRD: {target}"))
                })?;
                Ok(format!("branch_sync_created branch={target}"))
            }
        }
    }

    async fn base(&self, current: Option<String>) -> Option<String> {
        for name in ["main", "master"] {
            if self.has(name).await {
                return Some(name.to_owned());
            }
        }
        current.filter(|name| name != "HEAD")
    }

    async fn current(&self) -> Option<String> {
        self.git(&["rev-parse", "--abbrev-ref", "HEAD"]).await
    }

    async fn has(&self, branch: &str) -> bool {
        let name = format!("refs/heads/{branch}");
        self.git(&["show-ref", "--verify", "--quiet", &name])
            .await
            .is_some()
    }

    async fn git(&self, words: &[&str]) -> Option<String> {
        let command = Command::new(&self.git, self.root)
            .args(words.iter().copied())
            .exact_env(self.env.to_vec());
        let done = capture(&command, &Limits::within(Duration::from_secs(120)))
            .await
            .ok()?;
        done.success().then(|| done.stdout.text().trim().to_owned())
    }
}
