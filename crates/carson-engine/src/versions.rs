//! Which versions of the CLIs Carson was measured with.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use carson_proc::{Command, Limits, capture};

use carson_core::EngineKind;

use crate::engine::Engine;
use crate::ready::NotReady;
use crate::rules::RuleSet;

/// When the table below was measured.
pub const DATED: &str = "2026-11-20";

/// How long `--version` may take: 15 ms is usual for a binary, 1.5 s for a script of Node.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is known of one CLI.
struct Known {
    rules: RuleSet,
    /// The name of its program.
    program: &'static str,
    /// The oldest version whose flags and events were measured.
    oldest: Version,
    /// What makes it newer.
    update: &'static str,
}

const TABLE: [Known; 4] = [
    Known {
        rules: RuleSet::Claude,
        program: "claude",
        oldest: Version([2, 1, 329]),
        update: "run `claude update`, or set the account's binary to a newer one",
    },
    Known {
        rules: RuleSet::Codex,
        program: "codex",
        oldest: Version([0, 169, 0]),
        update: "run `npm install -g @openai/codex`, or set the account's binary to a newer one",
    },
    Known {
        rules: RuleSet::Gemini,
        program: "gemini",
        oldest: Version([0, 61, 0]),
        update: "run `npm install -g @google/gemini-cli`, or set the account's binary to a newer one",
    },
    Known {
        rules: RuleSet::Opencode,
        program: "opencode",
        oldest: Version([1, 18, 33]),
        update: "run `opencode upgrade`, or set the account's binary to a newer one",
    },
];

/// `2.1.329`
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u32; 3]);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl Version {
    /// The first word that is one: `2.1.329 (Claude Code)`, `codex-cli 0.169.0`.
    #[must_use]
    pub fn said(text: &str) -> Option<Self> {
        text.lines().next()?.split_whitespace().find_map(Self::word)
    }

    fn word(word: &str) -> Option<Self> {
        let mut parts = word.split('.');
        let mut number = || parts.next()?.parse().ok();
        Some(Self([number()?, number()?, number()?]))
    }
}

impl Engine {
    fn known(&self) -> Option<&'static Known> {
        let rules = self.rules()?;
        let known = TABLE.iter().find(|known| known.rules == rules)?;
        // Any program may be run as a command: only what carries the CLI's own name is asked.
        let own = self
            .program
            .file_stem()
            .is_some_and(|name| name == known.program);
        (own || self.kind == EngineKind::Claude).then_some(known)
    }

    /// The oldest version that Carson was measured with, where it knows the CLI.
    #[must_use]
    pub fn oldest(&self) -> Option<Version> {
        self.known().map(|known| known.oldest)
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
        Version::said(&said).ok_or_else(|| {
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
        match self.known() {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(kind: EngineKind, program: &str, limits: Option<RuleSet>) -> Engine {
        Engine {
            kind,
            program: program.into(),
            args: Vec::new(),
            model: None,
            script: None,
            limits,
        }
    }

    #[test]
    fn versions_are_read_and_compared() {
        let claude = Version::said("2.1.329 (Claude Code)\n").unwrap();
        assert_eq!(claude.to_string(), "2.1.329");
        assert_eq!(
            Version::said("codex-cli 0.169.0"),
            Some(Version([0, 169, 0]))
        );
        for none in ["v2.1.329", "", "2.1", "hello\n1.2.3"] {
            assert_eq!(Version::said(none), None, "{none}");
        }
        assert!(Version::said("2.1.1000") > Some(claude));
        assert!(Version::said("2.0.999") < Some(claude));
    }

    #[test]
    fn only_a_known_cli_under_its_own_name_is_judged() {
        let old = Version([0, 0, 1]);
        let codex = |program| engine(EngineKind::Command, program, Some(RuleSet::Codex));
        let refused = codex("/opt/codex").is_new_enough(old).unwrap_err();
        assert!(refused.hint().contains("@openai/codex"), "{refused}");
        assert!(codex("/opt/wrapper.sh").is_new_enough(old).is_ok());
        assert!(
            engine(EngineKind::Command, "/opt/codex", None)
                .oldest()
                .is_none()
        );
        let claude = engine(EngineKind::Claude, "/opt/claude-2", None);
        assert!(claude.is_new_enough(old).is_err());
        assert!(claude.is_new_enough(claude.oldest().unwrap()).is_ok());
    }
}
