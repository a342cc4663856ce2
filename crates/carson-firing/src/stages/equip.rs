//! What work needs beside itself: an engine that can be used, and its repository.
//!
//! Looked at when work is found, and before it is claimed. A quiet slot pays nothing for it, and
//! an outage or a missing sign-in costs the work no attempt and the forge no comment.

use std::ffi::OsString;

use carson_config::{Account, Repo};
use carson_core::admission::SkipReason;
use carson_core::settle::Halt;

use super::told;
use crate::bench::Bench;
use crate::egress::{self, Provider};
use crate::environment::Wanted;
use crate::firing::Firing;
use crate::session;

/// Skips the firing when it could not go on with work in this repository.
pub(crate) async fn check(firing: &Firing<'_>, repo: &Repo) -> Result<(), Halt> {
    engine(firing, session::account(firing)?, repo).await?;
    let mirror = firing.house.mirror(repo);
    mirror.refresh().await.map_err(|error| skip(told(&error)))?;
    let base = mirror.resolve(&repo.base).await;
    base.map(drop).map_err(|error| skip(told(&error)))
}

fn skip(why: String) -> Halt {
    Halt::Skipped(SkipReason::Preflight(why))
}

/// Skips the firing when the account's CLI cannot be used.
pub(crate) async fn engine(
    firing: &Firing<'_>,
    account: &Account,
    repo: &Repo,
) -> Result<(), Halt> {
    let engine = session::engine(firing, account)?;
    if let Some(key) = &account.key {
        let unusable = |error| skip(format!("account {}: {error}", account.name));
        Provider::of(key).map_err(unusable)?;
    }
    let env = environment(firing, account, repo);
    let ready = engine.ready(&firing.house.fleet.home.root, &env).await;
    ready.map_err(|error| skip(format!("account {}: {}", account.name, told(&error))))
}

/// The environment that a session would have, but for what is not known yet.
fn environment(firing: &Firing<'_>, account: &Account, repo: &Repo) -> Vec<(OsString, OsString)> {
    Bench::of(firing.house, firing.id).environment(&Wanted {
        house: firing.house,
        id: firing.id,
        role: firing.role,
        account,
        repo: &repo.name,
        protected: &repo.protected,
        work: 0,
        branch: "",
        attempt: 0,
        egress: egress::foreseen(firing.role, account),
    })
}
