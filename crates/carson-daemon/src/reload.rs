//! Settings and roles, read again when they change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use carson_config::{Findings, Layout, LoadOptions, load};
use carson_core::Event;
use carson_core::text::counted;
use carson_home::Home;
use notify::{RecursiveMode, Watcher};
use tokio::sync::Notify;
use tracing::{error, info, warn};

use crate::operator_alert::alert_operator;

/// Editors write in several steps; this long after the last one the files are read.
pub(crate) const SETTLE: Duration = Duration::from_millis(200);

/// Watches the files an operator writes. Dropping it ends the watching.
pub(crate) struct Watch(
    #[expect(dead_code, reason = "held for its drop")] Option<notify::RecommendedWatcher>,
);

impl Watch {
    /// Wakes `changed` at every change. A system without watching still has SIGHUP.
    pub(crate) fn start(layout: &Layout, changed: Arc<Notify>) -> Self {
        let (settings, roles) = (layout.settings(), layout.roles());
        let ours = move |path: &PathBuf| *path == settings || path.starts_with(&roles);
        let seen = move |event: Result<notify::Event, notify::Error>| {
            if event.is_ok_and(|event| !event.kind.is_access() && event.paths.iter().any(&ours)) {
                changed.notify_one();
            }
        };
        let watched = notify::recommended_watcher(seen).and_then(|mut watcher| {
            watcher.watch(&layout.root, RecursiveMode::NonRecursive)?;
            watch_roles(&mut watcher, &layout.roles())?;
            Ok(watcher)
        });
        match watched {
            Ok(watcher) => Self(Some(watcher)),
            Err(error) => {
                warn!(%error, "files are not watched; send SIGHUP after a change");
                Self(None)
            }
        }
    }
}

fn watch_roles(watcher: &mut impl Watcher, roles: &Path) -> notify::Result<()> {
    if roles.is_dir() {
        watcher.watch(roles, RecursiveMode::Recursive)
    } else {
        Ok(())
    }
}

/// Reads everything again. A fleet that does not check leaves the last good one in force, and the
/// findings are said.
pub(crate) async fn reload(
    home: &mut Home,
    settings: &mut PathBuf,
    options: &LoadOptions,
    told: &mut Told,
) -> bool {
    match load(options) {
        // Whoever takes the last role away can stop the daemon; a directory that is not there for a
        // while, such as one that is not mounted, must not.
        Ok(loaded) if loaded.fleet.roles.is_empty() => {
            refused(home, &Findings(loaded.warnings), told).await;
            false
        }
        Ok(loaded) => {
            for warning in &loaded.warnings {
                warn!("{warning}");
            }
            match loaded.sources.keep(&home.fleet.layout) {
                Ok(kept) => *settings = kept,
                Err(error) => {
                    error!(%error, "the changed settings cannot be kept; the last good ones stay");
                    return false;
                }
            }
            *told = Told::default();
            let mut fleet = loaded.fleet;
            // What this process has claimed bears the name that it began with.
            fleet.host = home.fleet.host.clone();
            home.fleet = Arc::new(fleet);
            home.learn_secrets();
            carson_bench::learn_places(home);
            info!(roles = home.fleet.roles.len(), "settings reloaded");
            true
        }
        Err(findings) => {
            refused(home, &findings, told).await;
            false
        }
    }
}

/// What was found wrong last, and told. One edit is seen more than once: editors write in steps, and a
/// SIGHUP may follow.
#[derive(Default)]
pub(crate) struct Told(Option<String>);

impl Told {
    /// Whether it is something else than what was told last.
    fn is_new(&mut self, findings: &Findings) -> bool {
        let found = Some(findings.to_string());
        let is_new = self.0 != found;
        self.0 = found;
        is_new
    }
}

async fn refused(home: &Home, findings: &Findings, told: &mut Told) {
    error!("the changed settings are not used, the last good ones stay:\n{findings}");
    if !told.is_new(findings) {
        return;
    }
    let event = Event::ConfigRejected {
        findings: findings.0.len(),
        first: serde_json::json!(findings.0.first()),
    };
    let first = findings.0.first();
    let first = first.map_or_else(String::new, |first| format!("{first}\n"));
    let count = u64::try_from(findings.0.len()).unwrap_or(u64::MAX);
    let text = format!(
        "The last good settings stay in use. {first}{} in all: `carson config check` lists them.",
        counted(count, "finding")
    );
    alert_operator(home, &event, "Changed settings are not used", &text).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use carson_config::{Finding, Severity};

    #[test]
    fn one_edit_is_told_once() {
        let mut told = Told::default();
        let findings = |why: &str| {
            Findings(vec![Finding {
                file: PathBuf::from("carson.toml"),
                line: Some(1),
                key: "fleet.name".to_owned(),
                problem: why.to_owned(),
                severity: Severity::Error,
                hint: None,
            }])
        };
        assert!(told.is_new(&findings("a")));
        assert!(!told.is_new(&findings("a")));
        assert!(told.is_new(&findings("b")));
        assert!(told.is_new(&findings("a")), "it came back");
    }
}
