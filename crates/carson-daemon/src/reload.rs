//! Settings and roles, read again when they change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use carson_config::{Findings, Layout, LoadOptions, load};
use carson_core::Event;
use carson_home::Home;
use notify::{RecursiveMode, Watcher};
use tokio::sync::Notify;
use tracing::{error, info, warn};

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
pub(crate) async fn reload(home: &mut Home, settings: &mut PathBuf, options: &LoadOptions) -> bool {
    match load(options) {
        // Whoever takes the last role away can stop the daemon; a directory that is not there for a
        // while, such as one that is not mounted, must not.
        Ok(loaded) if loaded.fleet.roles.is_empty() => {
            refused(home, &Findings(loaded.warnings)).await;
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
            refused(home, &findings).await;
            false
        }
    }
}

async fn refused(home: &Home, findings: &Findings) {
    error!("the changed settings are not used, the last good ones stay:\n{findings}");
    let event = Event::ConfigRejected {
        findings: findings.0.len(),
        first: serde_json::json!(findings.0.first()),
    };
    let now = home.clock.now();
    if let Err(error) = home.store.event(&event, None, None, now).await {
        warn!(%error, "the rejection could not be noted");
    }
}
