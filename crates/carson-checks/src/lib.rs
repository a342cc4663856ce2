//! What must be in order on a machine, in a home and with everything it names: one list.
//!
//! `carson doctor` asks all of it, preflight what its firing needs. Each check has an id that
//! stays, says in one line what it found, and what would mend it. None needs another's answer, and
//! none changes anything. [`LIST`] is the list; [`doctor`] and `preflight.rs` go through it. The
//! files beside it hold a family of checks each; `docs/CHECKS.md` is made of the list.
//!
//! A check of preflight is cheap: system calls, or a fact that was measured before and is known to
//! hold (`measured.rs`). What needs a process or the network is asked once there is work.

mod accounts;
mod agents;
mod clock;
mod command;
mod coverage;
mod database;
mod disk;
mod egress;
mod embedder;
mod findings;
mod forges;
mod given;
mod grants;
mod hook;
mod identity;
mod labels;
mod list;
mod machine;
mod measured;
mod memory;
mod place;
mod preflight;
mod promise;
mod remote;
mod sandbox;
mod signing;
mod sinks;
mod sinks_of_role;
mod stories;
mod streak;
mod subject;
mod versions;
mod workspaces;

use carson_config::{Finding, Severity};
use carson_git::Remote;
use serde::Serialize;

pub use labels::{StrayLabel, stray_label};
pub use list::{Asked, Check, LIST, table};
pub use machine::{Machine, know_sandbox};
pub use subject::{Scene, Trouble};

pub use findings::{Failed, Findings};
pub use measured::note_checkout;
pub use preflight::{account_is_usable, always, refuse, with_work};
pub use promise::{Baseline, BaselineEnd, FAILS, beside, fails_on_base};
pub use streak::{Streak, Word};

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Ok,
    /// It works, and somebody should know.
    Warning,
    /// It does not work.
    Error,
}

/// One check that was made.
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

/// What a check found; its id is known to who asked.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub health: Health,
    pub found: String,
    /// `None` is what the list says of the check.
    pub remedy: Option<String>,
}

impl Verdict {
    pub(crate) fn ok(found: impl Into<String>) -> Self {
        Self {
            health: Health::Ok,
            found: found.into(),
            remedy: None,
        }
    }

    pub(crate) fn warning(found: impl Into<String>) -> Self {
        Self {
            health: Health::Warning,
            ..Self::ok(found)
        }
    }

    pub(crate) fn error(found: impl Into<String>) -> Self {
        Self {
            health: Health::Error,
            ..Self::ok(found)
        }
    }

    /// With a remedy that says more than the list.
    pub(crate) fn mend(self, remedy: impl Into<String>) -> Self {
        Self {
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

/// Everything that can be told of a machine alone.
pub async fn doctor_of_machine(machine: &Machine) -> Vec<Checked> {
    let mut all = Vec::new();
    for check in LIST {
        all.extend(check.on_machine(machine).await);
    }
    all
}

/// What matters besides where there is no home yet.
#[must_use]
pub fn doctor_without_home() -> Vec<Checked> {
    LIST.iter().filter_map(list::Check::without_home).collect()
}

/// Everything that can be told of a home, beside its machine and the findings in its settings.
pub async fn doctor(scene: &Scene<'_>) -> Vec<Checked> {
    let mut all = Vec::new();
    for check in LIST {
        all.extend(check.in_home(scene).await);
    }
    all
}

/// Some checks of the list, by their ids.
pub async fn some_of(scene: &Scene<'_>, ids: &[&str]) -> Vec<Checked> {
    let mut all = Vec::new();
    for check in LIST.iter().filter(|check| ids.contains(&check.id)) {
        all.extend(check.in_home(scene).await);
    }
    all
}

/// What the settings name on this machine, asked without a network: programs, scripts, included files, and
/// the remotes that are directories here. What is as it should be is left out.
pub async fn offline(scene: &Scene<'_>) -> Vec<Checked> {
    let named = [
        "account.NAME.program",
        "account.NAME.script",
        "repo.NAME.include",
    ];
    let mut all = some_of(scene, &named).await;
    let remotes = LIST.iter().filter(|check| check.id == REMOTE);
    for check in remotes {
        for repo in scene.home.fleet.repos.values() {
            if Remote::new(repo.url.as_str()).directory().is_some() {
                let found = remote::reachable(scene, repo).await;
                all.extend(found.map(|verdict| check.checked(repo.name.as_str(), verdict)));
            }
        }
    }
    all.retain(|one| one.health != Health::Ok);
    all
}

/// The check that asks a remote.
const REMOTE: &str = "repo.NAME.remote";

/// Findings about the settings, errors or warnings.
#[must_use]
pub fn settings(findings: &[Finding]) -> Vec<Checked> {
    if findings.is_empty() {
        let fine = Verdict::ok("no findings");
        return vec![checked("settings".to_owned(), fine, "")];
    }
    let each = |finding: &Finding| {
        let remedy = finding.hint.as_deref().unwrap_or("see docs/CONFIG.md");
        let line = finding
            .line
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let place = finding.file.display();
        let key = match finding.key.as_str() {
            "" => String::new(),
            key => format!("{key}: "),
        };
        let found = format!("{place}{line}: {key}{}", finding.problem);
        match finding.severity {
            Severity::Error => checked("settings".into(), Verdict::error(found), remedy),
            Severity::Warning => {
                let id = format!("settings.{}", finding.key);
                let id = id.trim_end_matches('.').to_owned();
                checked(id, Verdict::warning(found), remedy)
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

fn checked(id: String, verdict: Verdict, usual: &str) -> Checked {
    let Verdict {
        health,
        found,
        remedy,
    } = verdict;
    let remedy = remedy.unwrap_or_else(|| usual.to_owned());
    // Parsers draw what they mean over several lines.
    let lines: Vec<&str> = found.lines().map(str::trim).collect();
    let found = lines.join(" ").trim_end().to_owned();
    Checked {
        id,
        health,
        found,
        remedy: (health != Health::Ok).then_some(remedy),
    }
}
