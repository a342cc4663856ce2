//! What is wrong with the settings, and where.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// What a finding means for the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// They are not taken.
    #[default]
    Error,
    /// They are, and somebody should look.
    Warning,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file, or the environment variable.
    pub file: PathBuf,
    /// The line, from 1, where the file has it.
    pub line: Option<usize>,
    /// The key, dotted.
    pub key: String,
    /// What is wrong.
    pub problem: String,
    /// Whether the settings are taken all the same.
    pub severity: Severity,
    /// What to do.
    pub hint: Option<String>,
}

impl Finding {
    pub(crate) fn new(file: &Path, line: Option<usize>, key: &str, problem: String) -> Self {
        Self {
            file: file.to_owned(),
            line,
            key: key.to_owned(),
            problem,
            severity: Severity::Error,
            hint: None,
        }
    }

    /// A key under its old name, which is taken all the same.
    pub(crate) fn renamed(file: &Path, line: Option<usize>, key: &str, now: &str) -> Self {
        let finding = Self::new(file, line, key, "it has another name now".into());
        finding.warning().hint(format!("rename it to {now}"))
    }

    /// The same, and the settings are taken all the same.
    pub(crate) fn warning(self) -> Self {
        Self {
            severity: Severity::Warning,
            ..self
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Finding {
    /// Whether the other finding is about the same key, or one above or below it.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let above = |up: &str, down: &str| {
            down.strip_prefix(up)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let keyed = !self.key.is_empty() && !other.key.is_empty();
        keyed
            && self.file == other.file
            && (above(&self.key, &other.key) || above(&other.key, &self.key))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        if self.severity == Severity::Warning {
            f.write_str(": warning")?;
        }
        write!(f, ": {}", self.problem)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings(pub Vec<Finding>);

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, finding) in self.0.iter().enumerate() {
            if nth > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Findings {}
