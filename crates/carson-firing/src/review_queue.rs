//! What people have to read, and whether that is enough: then nothing is begun that adds to it.
//!
//! There are two bounds. `limits.max_open_prs` of a role counts its own pull requests in a repository;
//! `review_minutes_per_day` of a repository measures those of the whole fleet. Both are asked of each
//! repository by itself: people who are busy in one keep nobody from another.

use carson_config::{Repo, Role};
use carson_core::RoleName;
use carson_core::admission::SkipReason;
use carson_core::reading::{Offered, Reading, Weight, waited};
use carson_core::settle::Goal;
use carson_core::work::WorkKey;
use carson_forge::{Forge, ForgeError, Issue, Pull};
use carson_home::Home;
use carson_home::halt::Hinted;
use carson_store::{EffectState, Firing as Row, Store, StoreError};

use crate::asked_forge::AskedForge;
use crate::roles::kind_of;

/// What the branches of all firings begin with.
pub(crate) const FLEET: &str = "carson/";

/// People have enough to read.
#[derive(Debug)]
pub struct Full {
    /// Which bound, and what fills it.
    pub reason: SkipReason,
    /// Drafts of the role with which it may go on all the same: people saw them before.
    drafts: Vec<u64>,
}

/// What waits for people could not be found out.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The forge does not answer.
    #[error("the pull requests cannot be listed")]
    Forge(#[from] ForgeError),
    /// The store does not answer.
    #[error("what is owed to the forge cannot be read")]
    Store(#[from] StoreError),
}

impl AskedForge for QueueError {
    fn is_away(&self) -> bool {
        matches!(self, Self::Forge(error) if error.is_away())
    }
}

impl Hinted for QueueError {
    fn hint(&self) -> &str {
        match self {
            Self::Forge(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}

/// Whether people have enough to read in this repository for a role to begin nothing there.
///
/// # Errors
/// When the store or the forge does not answer.
pub async fn look(
    home: &Home,
    role: &Role,
    repo: &Repo,
    forge: &Forge,
) -> Result<Option<Full>, QueueError> {
    let open = forge.open_pulls_of(FLEET).await?;
    let (drafts, ready): (Vec<Pull>, Vec<Pull>) = open.into_iter().partition(|pull| pull.draft);
    // Those that the forge does not take now will be there for people to read, too.
    let owed = owed(home, repo).await?;
    let own = branches_of(&role.name);
    let own_ready = ready.iter().filter(|pull| pull.head.starts_with(&own));
    let own_owed = owed.iter().filter(|row| row.role == role.name);
    let count = u32::try_from(own_ready.count() + own_owed.count()).unwrap_or(u32::MAX);
    let most = role.limits.max_open_prs;
    if count >= most {
        return Ok(Some(Full {
            reason: SkipReason::open_pull_requests(count, most),
            drafts: Vec::new(),
        }));
    }
    let makes_commits = (kind_of(role).goal)(role) == Goal::Commits;
    let Some(most) = repo.review_minutes_per_day.filter(|_| makes_commits) else {
        return Ok(None);
    };
    let mut offered = Vec::new();
    for pull in ready {
        offered.push(Offered {
            lines: lines(home, repo, forge, &pull).await?,
            pull: Some(pull.number),
        });
    }
    offered.extend(owed.iter().map(|row| Offered {
        pull: None,
        lines: lines_of(row).unwrap_or_default(),
    }));
    if offered.is_empty() {
        return Ok(None);
    }
    let weight = weight(home, forge).await?;
    let why = Reading { offered, weight }.fills(repo.name.as_str(), most);
    Ok(why.map(|why| Full {
        reason: SkipReason::review_minutes(&why),
        drafts: drafts
            .iter()
            .filter(|pull| pull.head.starts_with(&own))
            .map(|pull| pull.number)
            .collect(),
    }))
}

impl Full {
    /// Of these issues those that the role may go on with.
    pub(crate) async fn lets_go_on(
        &self,
        store: &Store,
        role: &Role,
        repo: &Repo,
        issues: Vec<Issue>,
    ) -> Result<Vec<Issue>, StoreError> {
        let mut goes_on = Vec::new();
        if self.drafts.is_empty() {
            return Ok(goes_on);
        }
        for issue in issues {
            let key = WorkKey::Issue(issue.number);
            let rows = store.firings_of(&repo.name, key).await?;
            let own = rows.iter().rev().filter(|row| row.role == role.name);
            let newest = own.filter_map(|row| row.pr_number).next();
            if newest.is_some_and(|pull| self.drafts.contains(&pull)) {
                goes_on.push(issue);
            }
        }
        Ok(goes_on)
    }
}

fn branches_of(role: &RoleName) -> String {
    format!("{FLEET}{role}/")
}

/// Firings whose finished work the forge has still to be told of.
async fn owed(home: &Home, repo: &Repo) -> Result<Vec<Row>, StoreError> {
    let mut owed = Vec::new();
    for row in home.store.owing_in(&repo.name).await? {
        let effects = home.store.effects(row.id).await?;
        let asks = effects
            .iter()
            .any(|one| one.state == EffectState::Owed && one.effect.asks_for_review());
        owed.extend(asks.then_some(row));
    }
    Ok(owed)
}

/// Lines as they were counted when the firing ended, lock files left out.
fn lines_of(row: &Row) -> Option<u64> {
    row.facts.as_ref()?.lines
}

/// Lines of a pull request. Of what this database does not know the forge is asked; what it cannot
/// compare any more counts as the smallest change.
async fn lines(home: &Home, repo: &Repo, forge: &Forge, pull: &Pull) -> Result<u64, QueueError> {
    let row = home.store.firing_of_pull(&repo.name, pull.number).await?;
    if let Some(lines) = row.as_ref().and_then(lines_of) {
        return Ok(lines);
    }
    match forge.changed_files(pull.number).await {
        Ok(files) => Ok(files
            .iter()
            .map(|file| file.additions.saturating_add(file.deletions))
            .fold(0, u64::saturating_add)),
        Err(ForgeError::NotFound { .. } | ForgeError::Lacks { .. }) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// By how long the fleet's pull requests waited here before they were merged.
async fn weight(home: &Home, forge: &Forge) -> Result<Weight, ForgeError> {
    let now = home.clock.now();
    let merged = forge.merged_lately().await?;
    let ours = merged.iter().filter(|one| one.head.starts_with(FLEET));
    let waited = ours.filter_map(|one| waited(one.opened_at, one.merged_at, now));
    Ok(Weight::measured(waited.collect()))
}
