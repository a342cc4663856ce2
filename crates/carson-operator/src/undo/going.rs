//! What one call has open, and knows.

use std::collections::{BTreeMap, BTreeSet};

use carson_config::Repo;
use carson_core::work::WorkKey;
use carson_core::{FiringId, RepoName};
use carson_forge::Forge;
use carson_home::Home;
use carson_store::Firing;

use crate::refusal::Refusal;

/// What the log has of a firing that was taken back.
const UNDONE: &str = "firing.undone";

/// A call under way.
pub(super) struct Going<'h> {
    pub home: &'h Home,
    /// The firings that this call has taken back so far, or would have.
    pub taken_back: BTreeSet<FiringId>,
    forges: BTreeMap<RepoName, Forge>,
}

/// Where a firing worked.
pub(super) struct Place<'h> {
    pub repo: &'h Repo,
    pub forge: Forge,
}

impl<'h> Going<'h> {
    pub fn new(home: &'h Home) -> Self {
        Self {
            home,
            taken_back: BTreeSet::new(),
            forges: BTreeMap::new(),
        }
    }

    /// A repository with its forge, which is opened once.
    pub async fn place(&mut self, name: &RepoName) -> Result<Place<'h>, Refusal> {
        let home = self.home;
        let repo = home.fleet.repos.get(name);
        let repo = repo.ok_or_else(|| Refusal::Unknown {
            what: "repository",
            name: name.to_string(),
            known: home.fleet.repos.keys().map(ToString::to_string).collect(),
        })?;
        if !self.forges.contains_key(name) {
            let forge = home.forge(repo).await?;
            self.forges.insert(name.clone(), forge);
        }
        let forge = self.forges[name].clone();
        Ok(Place { repo, forge })
    }

    /// Whether nothing of a firing stands any more, as far as it could be taken back.
    pub async fn is_taken_back(&self, id: FiringId) -> Result<bool, Refusal> {
        Ok(self.taken_back.contains(&id) || self.was_taken_back(id).await?)
    }

    /// Whether a call before this one took a firing back, and nothing of that is still to come. One of which there was
    /// nothing to take back has no rows.
    pub async fn was_taken_back(&self, id: FiringId) -> Result<bool, Refusal> {
        let store = &self.home.store;
        let rows = store.undo(id).await?;
        if !rows.is_empty() {
            return Ok(rows.iter().all(|row| row.state.is_over()));
        }
        let events = store.events_of(id).await?;
        Ok(events.iter().any(|event| event.kind == UNDONE))
    }

    /// Why nothing is changed on which a firing works now.
    pub async fn works_now(
        &self,
        is_on_it: impl Fn(&Firing) -> bool,
    ) -> Result<Option<String>, Refusal> {
        let live = self.home.store.live_firings(None).await?;
        Ok(live.iter().find(|live| is_on_it(live)).map(|live| {
            let id = live.id.short();
            format!("firing {id} works on it now: `carson stop {id}` ends that")
        }))
    }

    /// Why a piece of work is not as the firing left it: another firing took it since.
    pub async fn taken_since(
        &self,
        row: &Firing,
        repo: &RepoName,
        work: WorkKey,
    ) -> Result<Option<String>, Refusal> {
        let holds =
            |one: &Firing| one.repo.as_ref() == Some(repo) && one.work.as_ref() == Some(&work);
        if let Some(why) = self.works_now(holds).await? {
            return Ok(Some(why));
        }
        for other in self.home.store.firings_of(repo, work).await? {
            let is_later = other.claimed_at > row.claimed_at && other.id != row.id;
            if is_later && !self.is_taken_back(other.id).await? {
                return Ok(Some(went_on(&other)));
            }
        }
        Ok(None)
    }
}

/// What there is to say where a later firing stands on what is to be taken back.
pub(super) fn went_on(other: &Firing) -> String {
    let id = other.id.short();
    format!("firing {id} went on with it: `carson undo {id}` comes first")
}
