//! Which versions of the CLIs Carson was measured with.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use carson_proc::{Command, Limits, capture};

use crate::adapters::adapter;
use crate::cli::Release;
use crate::engine::Engine;
use crate::not_ready::NotReady;
use crate::version::Version;

/// When the versions were measured that the CLIs' files name.
pub const DATED: &str = "2026-11-25";

/// How long `--version` may take: 15 ms is usual for a binary, 1.5 s for a script of Node.
const PATIENCE: Duration = Duration::from_secs(20);

impl Engine {
    fn release(&self) -> Option<&'static Release> {
        let driven = adapter(self.kind).cli();
        let cli = driven.or(self.limits)?;
        // Any program may be run as a command: only what carries the CLI's own name is asked.
        let own = self
            .program
            .file_stem()
            .is_some_and(|name| name == cli.name);
        (own || driven.is_some())
            .then_some(cli.release.as_ref())
            .flatten()
    }

    /// The oldest version that Carson was measured with, where it knows the CLI.
    #[must_use]
    pub fn oldest(&self) -> Option<Version> {
        self.release().map(|known| known.oldest)
    }

    /// Asks the CLI for its version. Starts one process.
    ///
    /// # Errors
    /// When it cannot be started, or does not say a version.
    pub async fn version(
        &self,
        cwd: &Path,
        env: &[(OsString, OsString)],
    ) -> Result<Version, NotReady> {
        let command = Command::new(&self.program, cwd)
            .arg("--version")
            .exact_env(env.to_vec());
        let done = capture(&command, &Limits::within(PATIENCE)).await?;
        let said = done.stdout.text();
        Version::find_in(&said).ok_or_else(|| {
            let said = format!("{} {}", said.trim(), done.stderr.text().trim());
            NotReady::NoVersion {
                program: self.program.clone(),
                said: said.trim().chars().take(200).collect(),
            }
        })
    }

    /// Judges a version.
    ///
    /// # Errors
    /// When it is older than the oldest that is known to work.
    pub fn is_new_enough(&self, found: Version) -> Result<(), NotReady> {
        match self.release() {
            Some(known) if found < known.oldest => Err(NotReady::TooOld {
                program: self.program.clone(),
                found: found.to_string(),
                needed: known.oldest.to_string(),
                update: known.update,
            }),
            _ => Ok(()),
        }
    }
}

/// A version that is newer than any that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The newest one that was measured.
    pub newest: Version,
    /// What brings it back.
    pub back: &'static str,
}

impl Engine {
    /// Whether a version is newer than any that Carson was measured with: it may have other flags and
    /// other events.
    #[must_use]
    pub fn drift(&self, found: Version) -> Option<Drift> {
        let known = self.release().filter(|known| found > known.newest)?;
        Some(Drift {
            newest: known.newest,
            back: known.back,
        })
    }
}

#[cfg(test)]
mod tests {
    use carson_core::EngineKind;

    use super::*;
    use crate::adapters::cli;

    fn engine(name: &str, program: &str, limits: Option<&str>) -> Engine {
        Engine {
            kind: EngineKind::named(name).unwrap(),
            program: program.into(),
            args: Vec::new(),
            model: None,
            effort: None,
            script: None,
            limits: limits.and_then(cli),
        }
    }

    #[test]
    fn only_a_known_cli_under_its_own_name_is_judged() {
        let old = Version([0, 0, 1]);
        let codex = |program| engine("command", program, Some("codex"));
        let refused = codex("/opt/codex").is_new_enough(old).unwrap_err();
        assert!(refused.hint().contains("@openai/codex"), "{refused}");
        assert!(codex("/opt/wrapper.sh").is_new_enough(old).is_ok());
        assert!(engine("command", "/opt/codex", None).oldest().is_none());
        let claude = engine("claude", "/opt/claude-2", None);
        assert!(claude.is_new_enough(old).is_err());
        assert!(claude.is_new_enough(claude.oldest().unwrap()).is_ok());
    }

    #[test]
    fn of_every_cli_an_older_version_is_refused_and_a_newer_one_is_drift() {
        for kind in EngineKind::all() {
            let Some(program) = kind.cli() else { continue };
            let engine = engine(kind.facts().name, program, None);
            let known = engine.release().unwrap();
            assert!(known.oldest <= known.newest, "{kind}");
            let Version([major, minor, patch]) = known.newest;
            assert_eq!(engine.drift(known.newest), None, "{kind}");
            for newer in [[major, minor, patch + 1], [major + 1, 0, 0]] {
                let drift = engine.drift(Version(newer)).unwrap();
                assert_eq!(drift.newest, known.newest, "{kind}");
                assert!(engine.is_new_enough(Version(newer)).is_ok(), "{kind}");
            }
            let older = engine.is_new_enough(Version([0, 0, 1])).unwrap_err();
            assert!(
                older.to_string().contains(&known.oldest.to_string()),
                "{older}"
            );
        }
    }
}
