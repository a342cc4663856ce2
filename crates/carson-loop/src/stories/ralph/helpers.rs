//! The scripts that a team keeps beside its PRD. One that is there is run, as `ralph.sh` does, because it may be
//! the team's own; where none is, we do what the original would.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Cancel, Command, Limits, run};

/// The longest that one of them may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs scripts.
#[derive(Clone, Debug)]
pub struct Helpers<'h> {
    /// The directory of the PRD.
    pub own: &'h Path,
    /// Where they are started.
    pub cwd: &'h Path,
    /// What they find in their environment.
    pub env: &'h [(OsString, OsString)],
    /// Ends them early.
    pub cancel: &'h Cancel,
}

impl Helpers<'_> {
    /// The script of this name, if it is there and may be run.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.own.join("scripts").join(name);
        let found = fs::metadata(&path).ok()?;
        (found.is_file() && found.permissions().mode() & 0o111 != 0).then_some(path)
    }

    /// Runs one; whether it went well.
    pub async fn run(&self, script: &Path, words: &[&str]) -> bool {
        let command = Command::new(script, self.cwd)
            .args(words.iter().copied())
            .exact_env(self.env.to_vec());
        let limits = Limits::within(PATIENCE);
        let done = run(&command, &limits, self.cancel, |_| {
            std::ops::ControlFlow::Continue(())
        })
        .await;
        done.is_ok_and(|done| done.success())
    }
}
