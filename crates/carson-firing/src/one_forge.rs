//! One forge for all hosts.
//!
//! A local forge is files of one home. Where hosts share a database they must share those files too: else each has an
//! issue 1 of its own, and the rows of one stand in the way of the other.

use std::io;

use carson_home::{Home, forge_id};
use carson_store::StoreError;
use thiserror::Error;

/// Why nothing may fire here.
#[derive(Debug, Error)]
pub enum OneForge {
    /// Others have a local forge of their own.
    #[error(
        "forge = \"local\" keeps the issues of {repo} in this home, and {} on the same database has issues of its own: \
         their numbers would be taken for each other's; use a forge that every host reaches, mount one forge/ directory \
         on all of them, or forget a host that is gone (`carson hosts remove`)",
        .others.join(", ")
    )]
    Apart {
        /// A repository of such a forge.
        repo: String,
        /// The hosts with another one.
        others: Vec<String>,
    },
    /// The directory cannot be told from others.
    #[error("the directory forge/ of this home cannot be marked: {0}")]
    Unmarked(#[from] io::Error),
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whether this home may fire beside the other hosts of its database.
///
/// # Errors
/// When it may not, and why.
pub async fn check(home: &Home, is_daemon: bool) -> Result<(), OneForge> {
    let mut repos = home.fleet.repos.values();
    let Some(repo) = repos.find(|repo| repo.forge.name() == "local") else {
        return Ok(());
    };
    if !home.store.has_leases() {
        return Ok(());
    }
    let id = forge_id(&home.fleet.layout)?;
    let (me, now) = (&home.fleet.host, home.clock.now());
    let others = home.store.other_forges(me, &id, is_daemon, now).await?;
    match others.is_empty() {
        true => Ok(()),
        false => Err(OneForge::Apart {
            repo: repo.name.to_string(),
            others,
        }),
    }
}
