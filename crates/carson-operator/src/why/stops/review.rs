//! Repositories where people have enough of the fleet's pull requests to read.

use std::time::Duration;

use carson_config::{Repo, Role};
use carson_core::SkipKind;
use carson_core::stops::{Change, SettingsFile};
use carson_firing::review_queue;
use carson_home::Home;
use tokio::time::timeout;

use super::Stop;

/// How long one forge is asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where people have enough. Of a forge that does not answer nothing is known.
pub(in crate::why) async fn full(home: &Home, role: &Role) -> Vec<Stop> {
    let mut stops = Vec::new();
    let repos = role.repos.iter();
    for repo in repos.filter_map(|name| home.fleet.repos.get(name)) {
        let asked = timeout(PATIENCE, full_in(home, role, repo)).await;
        stops.extend(asked.ok().flatten());
    }
    // Where some have time to read, the role works.
    let works_elsewhere = stops.len() < role.repos.len();
    for stop in &mut stops {
        stop.partial = works_elsewhere;
    }
    stops
}

async fn full_in(home: &Home, role: &Role, repo: &Repo) -> Option<Stop> {
    let forge = home.forge(repo).await.ok()?;
    let full = review_queue::look(home, role, repo, &forge).await.ok()??;
    let kind = full.reason.kind();
    let listed = match home.fleet.repos.len() {
        1 => "pr list".to_owned(),
        _ => format!("pr list --repo {}", repo.name),
    };
    let change = Change::default()
        .text("review its pull requests (")
        .command(listed)
        .text("), or raise ");
    let change = match kind {
        SkipKind::REVIEW_MINUTES => {
            let key = format!("repos.{}.review_minutes_per_day", repo.name);
            change.key(&key, SettingsFile::Fleet)
        }
        _ => change.key("limits.max_open_prs", SettingsFile::Role(role.name.clone())),
    };
    Some(Stop::new(kind.as_str(), full.reason.to_string(), change))
}
