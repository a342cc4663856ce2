//! Whose effects they are, and what came of them.

use carson_config::Repo;
use carson_core::FiringId;
use carson_forge::{Claim, Forge};
use carson_store::{AsFiring, Epoch, Firing as Row};

use super::issue_in::IssueIn;
use crate::ctx::Ctx;
use crate::reached::Taken;
use carson_home::Home;

/// What came of a list of effects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    /// The pull request of the firing.
    pub pull: Option<OpenedPull>,
    /// Why the forge will not have it.
    pub pull_refused: Option<String>,
    /// Why what was to be merged is not.
    pub not_merged: Option<String>,
    /// The issues that it files, in their order; none in the place of one that will not be.
    pub filed: Vec<Option<IssueIn>>,
    /// Why nothing is done of what comes after.
    pub(super) dropped: Option<String>,
    /// What could not be done at all, for the report.
    pub trouble: Vec<String>,
    /// What could not be done yet. It says so for now only: no row keeps it.
    pub owed: Option<String>,
    /// How many were done now.
    pub done: u32,
}

/// A pull request that the forge has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenedPull {
    pub number: u64,
    pub url: String,
    pub draft: bool,
}

/// What became of a call.
pub(super) enum Went {
    /// It is done; what people may want to know of that.
    Done(String),
    /// It waits for a person; nothing is wrong.
    Waits(String),
    /// It is not to be done any more.
    Never(String),
}

/// Whose effects they are, and where they go.
pub(crate) struct Bearer<'a> {
    pub home: &'a Home,
    pub repo: &'a Repo,
    pub forge: &'a Forge,
    /// That of the firing's row, as we know it.
    pub epoch: Epoch,
    /// Only its firing is compared: the claim of a firing without one is never looked for.
    pub claim: Claim,
}

impl<'a> Bearer<'a> {
    /// Of a firing, as its row has it.
    pub(crate) fn of_row(home: &'a Home, repo: &'a Repo, forge: &'a Forge, row: &Row) -> Self {
        let claim = Claim {
            firing: row.id,
            role: row.role.clone(),
            host: row.host.clone(),
            at: row.claimed_at,
        };
        Self {
            home,
            repo,
            forge,
            epoch: row.epoch,
            claim,
        }
    }

    /// Of a firing that runs, or is concluded.
    pub(crate) fn of(ctx: &'a Ctx<'_>, taken: &'a Taken<'_>) -> Self {
        Self {
            home: ctx.home,
            repo: taken.repo,
            forge: &taken.forge,
            epoch: ctx.epoch,
            claim: Claim {
                firing: ctx.id,
                role: ctx.role.name.clone(),
                host: ctx.home.fleet.host.clone(),
                at: ctx.claimed_at,
            },
        }
    }

    /// The firing as who writes its row.
    pub(super) fn as_firing(&self) -> AsFiring<'_> {
        self.home.store.as_firing(self.id(), self.epoch)
    }

    /// Its firing.
    pub(super) fn id(&self) -> FiringId {
        self.claim.firing
    }
}
