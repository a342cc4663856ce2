//! Where a fleet keeps its things.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use carson_core::{FiringId, RepoName, RoleName};

/// `CARSON_HOME`. All methods but [`create`](Self::create) are path arithmetic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The directory.
    pub root: PathBuf,
}

impl Layout {
    /// The home at a directory.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Makes the directories that are always there, readable by their owner only.
    ///
    /// # Errors
    /// What the file system says, and of which directory.
    pub fn create(&self) -> std::io::Result<()> {
        for dir in [
            self.roles(),
            self.state(),
            self.mirrors(),
            self.benches(),
            self.logs(),
        ] {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&dir)
                .map_err(|error| {
                    let what = format!("{} cannot be made: {error}", dir.display());
                    std::io::Error::new(error.kind(), what)
                })?;
        }
        Ok(())
    }

    /// `carson.toml`.
    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.root.join("carson.toml")
    }

    /// The roles.
    #[must_use]
    pub fn roles(&self) -> PathBuf {
        self.root.join("roles")
    }

    /// The sets of settings that were checked and used; `current` is the last good one.
    #[must_use]
    pub fn kept_settings(&self) -> PathBuf {
        self.state().join("settings")
    }

    /// One role's directory.
    #[must_use]
    pub fn role(&self, name: &RoleName) -> PathBuf {
        self.roles().join(name.as_str())
    }

    /// What only Carson reads.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// The lock of the one daemon of this home.
    #[must_use]
    pub fn daemon_lock(&self) -> PathBuf {
        self.state().join("daemon.lock")
    }

    /// Who writes a renewed sign-in holds this.
    #[must_use]
    pub fn sign_in_lock(&self) -> PathBuf {
        self.state().join("sign-in.lock")
    }

    /// Bare clones.
    #[must_use]
    pub fn mirrors(&self) -> PathBuf {
        self.root.join("mirrors")
    }

    /// One repository's bare clone.
    #[must_use]
    pub fn mirror(&self, repo: &RepoName) -> PathBuf {
        self.mirrors().join(format!("{repo}.git"))
    }

    /// Beside them, what sessions made and is kept: carson-git puts it there.
    #[must_use]
    pub fn kept(&self) -> PathBuf {
        self.root.join("kept")
    }

    /// Worktrees of firings.
    #[must_use]
    pub fn benches(&self) -> PathBuf {
        self.root.join("benches")
    }

    /// One firing's bench.
    #[must_use]
    pub fn bench(&self, id: &FiringId) -> PathBuf {
        self.benches().join(id.to_string())
    }

    /// Checkouts and results of setup that workspaces stand on.
    #[must_use]
    pub fn layers(&self) -> PathBuf {
        self.root.join("layers")
    }

    /// Where sessions see their workspaces: empty directories.
    #[must_use]
    pub fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces")
    }

    /// One repository's local forge.
    #[must_use]
    pub fn forge_repo(&self, repo: &RepoName) -> PathBuf {
        self.root.join("forge").join(repo.as_str())
    }

    /// Logs of firings, and of the daemon.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// One firing's log.
    #[must_use]
    pub fn firing_log(&self, id: &FiringId) -> PathBuf {
        self.logs().join(format!("{id}.log"))
    }

    /// One firing's transcripts.
    #[must_use]
    pub fn transcripts(&self, id: &FiringId) -> PathBuf {
        self.root.join("transcripts").join(id.to_string())
    }

    /// The path as messages show it: short where it lies below the home.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}
