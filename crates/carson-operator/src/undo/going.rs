//! What one call has open, and knows.

use std::collections::{BTreeMap, BTreeSet};

use carson_config::Repo;
use carson_core::work::WorkKey;
use carson_core::{FiringId, RepoName};
use carson_forge::Forge;
use carson_home::Home;
use carson_store::{Firing, UndoState};

use crate::refusal::Refusal;

/// A call under way.
pub(super) struct Going<'h> {
    pub home: &'h Home,
    /// The firings that this call has taken back so far, or would have.
    pub taken_back: BTreeSet<FiringId>,
    live: Vec<Firing>,
    forges: BTreeMap<RepoName, Forge>,
}

/// Where a firing worked.
pub(super) struct Place<'h> {
    pub repo: &'h Repo,
    pub forge: Forge,
}

impl<'h> Going<'h> {
    pub async fn new(home: &'h Home) -> Result<Self, Refusal> {
        Ok(Self {
            home,
            taken_back: BTreeSet::new(),
            live: home.store.live_firings(None).await?,
            forges: BTreeMap::new(),
        })
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
        if self.taken_back.contains(&id) {
            return Ok(true);
        }
        let rows = self.home.store.undo(id).await?;
        Ok(!rows.is_empty() && rows.iter().all(|row| row.state != UndoState::Owed))
    }

    /// Why a piece of work is not as the firing left it: another firing took it since.
    pub async fn taken_since(
        &self,
        row: &Firing,
        repo: &RepoName,
        work: WorkKey,
    ) -> Result<Option<String>, Refusal> {
        let holds = |one: &&Firing| one.repo.as_ref() == Some(repo) && one.work == Some(work);
        if let Some(live) = self.live.iter().find(holds) {
            let id = live.id.short();
            return Ok(Some(format!(
                "firing {id} works on it now: `carson stop {id}` ends that"
            )));
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
