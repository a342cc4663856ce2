//! An issue, and the repository that it is in: a plan may be for several.

use std::fmt;

use carson_core::{Effect, RepoName};
use carson_home::Home;
use carson_store::{EffectRow, EffectState};

use crate::queue::Reference;

/// An issue of one of the fleet's repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueIn {
    /// The repository.
    pub repo: RepoName,
    /// Its number there.
    pub number: u64,
}

impl fmt::Display for IssueIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.repo, self.number)
    }
}

impl IssueIn {
    /// The issue that an effect filed; `own` is the repository of the work.
    #[must_use]
    pub fn filed(row: &EffectRow, own: &RepoName) -> Option<Self> {
        let Effect::FileIssue { repo, .. } = &row.effect else {
            return None;
        };
        let said = row.said.as_deref();
        let said = said.filter(|_| row.state == EffectState::Done)?;
        let (_, number) = said.rsplit_once('#')?;
        Some(Self {
            repo: repo.as_ref().unwrap_or(own).clone(),
            number: number.parse().ok()?,
        })
    }

    /// What its row says of it, so that it is read back from there.
    pub(super) fn said(&self, own: &RepoName) -> String {
        match self.repo == *own {
            true => format!("#{}", self.number),
            false => self.to_string(),
        }
    }

    /// How a text in this repository names it, so that its readers find it, the queue among them.
    pub(crate) fn named_in(&self, home: &Home, here: &RepoName) -> Reference {
        let there = home.fleet.repos.get(&self.repo);
        let slug = there.map_or("", |there| there.slug.as_str());
        Reference::to((&self.repo, slug), self.number, here)
    }
}
