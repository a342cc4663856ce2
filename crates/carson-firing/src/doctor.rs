//! What is in order on this machine and in this home, and what to do about the rest.
//!
//! A list of independent checks. Each has an id that stays, says what it found in one line, and
//! what would mend it. None changes anything; none needs another.

mod accounts;
mod hook;
mod sandbox;

use carson_config::{Finding, Severity};
use serde::Serialize;

use crate::household::Household;

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Ok,
    /// It works, and somebody should know.
    Warning,
    /// It does not work.
    Broken,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// Its id, dotted; it stays the same over versions.
    pub id: String,
    /// How it went.
    pub health: Health,
    /// What was found.
    pub found: String,
    /// What to do, where there is something.
    pub remedy: Option<String>,
}

impl Checked {
    pub(crate) fn ok(id: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            health: Health::Ok,
            found: found.into(),
            remedy: None,
        }
    }

    pub(crate) fn warning(id: impl Into<String>, found: impl Into<String>, remedy: &str) -> Self {
        Self {
            health: Health::Warning,
            remedy: Some(remedy.to_owned()),
            ..Self::ok(id, found)
        }
    }

    pub(crate) fn broken(id: impl Into<String>, found: impl Into<String>, remedy: &str) -> Self {
        Self {
            health: Health::Broken,
            ..Self::warning(id, found, remedy)
        }
    }
}

/// What can be told of the machine alone.
#[must_use]
pub fn machine() -> Vec<Checked> {
    sandbox::machine()
}

/// What can be told of a home, beside its findings.
pub async fn home(house: &Household) -> Vec<Checked> {
    let mut all = sandbox::roles(house);
    all.push(hook::answers(house).await);
    all.extend(accounts::sign_ins(house));
    all
}

/// Findings about the settings, errors or warnings.
#[must_use]
pub fn settings(findings: &[Finding]) -> Vec<Checked> {
    if findings.is_empty() {
        return vec![Checked::ok("settings", "no findings")];
    }
    let each = |finding: &Finding| {
        let remedy = finding.hint.as_deref().unwrap_or("see docs/CONFIG.md");
        let line = finding
            .line
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let place = finding.file.display();
        let found = format!("{place}{line}: {}: {}", finding.key, finding.problem);
        match finding.severity {
            Severity::Error => Checked::broken("settings", found, remedy),
            Severity::Warning => {
                let id = format!("settings.{}", finding.key);
                Checked::warning(id, found, remedy)
            }
        }
    };
    findings.iter().map(each).collect()
}

/// The worst of them.
#[must_use]
pub fn worst(all: &[Checked]) -> Health {
    let each = all.iter().map(|one| one.health);
    each.max().unwrap_or(Health::Ok)
}
