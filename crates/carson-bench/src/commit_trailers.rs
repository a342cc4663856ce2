//! What every commit of a session says of where it comes from: `Carson-Firing`, `Carson-Role`, `Issue`.
//!
//! Git adds the lines itself, by a hook of the firing's own repository that runs where the session's git
//! runs. They are for people and for `git interpret-trailers --parse`; nothing of Carson's believes them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use carson_core::work::WorkKey;
use carson_core::{FiringId, RoleName};

use crate::bench::Bench;

/// The lines that end a commit's message; what they hold are names and numbers of ours.
#[must_use]
pub fn trailers(firing: FiringId, role: &RoleName, work: WorkKey) -> Vec<String> {
    let mut lines = vec![
        format!("Carson-Firing: {firing}"),
        format!("Carson-Role: {role}"),
    ];
    if let WorkKey::Issue(number) = work {
        lines.push(format!("Issue: #{number}"));
    }
    lines
}

impl Bench {
    /// Has git end each new commit's message with these lines.
    ///
    /// # Errors
    /// What the file system says.
    pub fn end_messages_with(&self, trailers: &[String]) -> std::io::Result<()> {
        let given: String = trailers
            .iter()
            .map(|line| format!(" \\\n  --trailer '{line}'"))
            .collect();
        // A message without them is better than no commit.
        let script = format!(
            "#!/bin/sh\n# Says which firing made the commit.\n\
             git interpret-trailers --in-place --if-exists addIfDifferent{given} \\\n  -- \"$1\" 2>/dev/null\nexit 0\n"
        );
        let hooks = self.repository().join("hooks");
        fs::create_dir_all(&hooks)?;
        let hook = hooks.join("prepare-commit-msg");
        fs::write(&hook, script)?;
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755))
    }
}
