//! A firing that has a place to work in, and what its sessions are told of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use carson_config::Repo;
use carson_core::limits::Limits;
use carson_core::settle::Halt;
use carson_core::{Stage, Work};

use crate::ctx::Ctx;
use crate::reached::{Place, Taken};
use crate::record::Record;
use carson_bench::bench::Bench;
use carson_bench::environment::Wanted;
use carson_bench::proxy::Proxy;

/// What every prompt of a firing tells.
#[derive(Clone, Copy)]
pub(crate) struct Brief<'f> {
    pub repo: &'f Repo,
    pub work: &'f Work,
    pub branch: &'f str,
    /// Where its execute sessions ask for what is to be done on the forge.
    pub outbox: &'f Path,
    /// What a pull request changes that is the work.
    pub diff: Option<&'f str>,
    /// The file that tests are to be written for, and what no test runs of it.
    pub aim: Option<&'f str>,
    /// Whether an earlier attempt's commits are on it.
    pub goes_on: bool,
    /// What the repository tells agents about itself.
    pub guidance: &'f str,
    /// What the fleet learned before, as a prompt tells it.
    pub lessons: &'f str,
    /// Where its execute sessions propose what later ones should know.
    pub proposals: Option<&'f Path>,
    pub limits: &'f Limits,
}

impl Brief<'_> {
    /// The turn ceiling of a stage's session.
    pub(crate) fn max_turns(&self, stage: Stage) -> u32 {
        match stage {
            Stage::Execute => self.limits.max_turns,
            _ => self.limits.max_turns_read,
        }
    }
}

/// The firing has a place to work in.
pub(crate) struct Placed<'r, 'h> {
    pub taken: &'r Taken<'h>,
    pub place: &'r mut Place,
    /// The patterns of branches that its sessions do not push.
    pub protected: Vec<String>,
    /// What the repository tells agents about itself.
    pub guidance: String,
    /// What the fleet learned before, as a prompt tells it.
    pub lessons: String,
    /// Where its execute sessions propose what later ones should know.
    pub proposals: Option<PathBuf>,
    /// How the promise failed on the untouched base, if it did.
    pub failed_before: Option<FailedBefore>,
}

/// A promise that fails before any work.
pub(crate) struct FailedBefore {
    /// The fingerprint of what it printed.
    pub how: String,
    /// The end of that, on one line.
    pub said: String,
}

impl Placed<'_, '_> {
    /// What a prompt tells.
    pub(crate) fn brief<'f>(&'f self, ctx: &'f Ctx<'_>, outbox: &'f Path) -> Brief<'f> {
        Brief {
            repo: self.taken.repo,
            work: &self.taken.work,
            branch: &self.place.worktree.branch,
            outbox,
            diff: self.taken.diff.as_deref(),
            aim: self.place.aim.as_ref().map(|aim| aim.told.as_str()),
            goes_on: self.place.goes_on.is_some(),
            guidance: &self.guidance,
            lessons: &self.lessons,
            proposals: self.proposals.as_deref(),
            limits: &ctx.role.limits,
        }
    }

    /// The complete environment of a session, or of the promise, that works in this bench or room.
    pub(crate) fn environment(
        &self,
        ctx: &Ctx<'_>,
        rec: &Record,
        bench: &Bench,
        attempt: u32,
    ) -> Result<Vec<(OsString, OsString)>, Halt> {
        Ok(bench.environment(&Wanted {
            home: ctx.home,
            id: ctx.id,
            role: ctx.role,
            account: rec.required_account(ctx)?,
            repo: &self.taken.repo.name,
            protected: &self.protected,
            work: self.taken.work.key,
            branch: &self.place.worktree.branch,
            attempt,
            egress: rec.proxy.as_ref().map_or_else(Vec::new, Proxy::variables),
            toolchains: &rec.toolchains,
        }))
    }
}
