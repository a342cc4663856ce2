//! The database: its log, its health, its backups.

use carson_home::Home;
use carson_proc::ProcessId;
use carson_store::StoreError;
use tracing::error;

use super::error_chain;
use super::runner::{Done, Report};
use crate::health::Health;

/// What is said of a database that can be read at best.
const NO_ANSWER: &str = "the store does not answer";

/// The database refused something, and what. Said once: with a cadence of seconds it would else
/// fill the disk that may be full.
pub(crate) fn refused(health: &Health, error: &StoreError) {
    if error.is_damage() {
        lost(health, error);
    } else if health.trouble(NO_ANSWER) {
        let hint = error.hint();
        let cause = std::error::Error::source(error).map(ToString::to_string);
        error!(%error, cause, hint, "the store does not answer; nothing fires until it does");
    }
}

/// Where the database refused something, whether it takes a row again. A full disk is still read
/// from: only a write that stays shows that there is room.
///
/// # Errors
/// When it does not.
pub(crate) async fn takes_rows_again(home: &Home, health: &Health) -> Result<(), StoreError> {
    if health.is_troubled_by(NO_ANSWER) {
        sign_of_life(home).await?;
    }
    Ok(())
}

/// Writes down that we live: what a later start reads to know how long nobody did.
async fn sign_of_life(home: &Home) -> Result<(), StoreError> {
    let me = ProcessId::current();
    let version = env!("CARGO_PKG_VERSION");
    let now = home.clock.now();
    home.store
        .heartbeat(&home.fleet.host, me.pid, me.start, version, now)
        .await
}

pub(super) async fn alive(home: &Home, health: &Health) -> Done {
    match sign_of_life(home).await {
        Ok(()) => Ok(Report::counted(1, "sign of life", "")),
        Err(error) => {
            refused(health, &error);
            Err(error_chain(error))
        }
    }
}

pub(super) async fn checkpoint(home: Home) -> Done {
    home.store.still_there().map_err(error_chain)?;
    home.store.checkpoint().await.map_err(error_chain)?;
    Ok(Report::nothing("its log is in the file"))
}

/// Looks through all of it. Damage stops the firing, and the writing, until a person has looked.
pub(super) async fn check(home: &Home, health: &Health) -> Done {
    match home.store.must_be_whole(false).await {
        Ok(()) => Ok(Report::nothing("it is whole")),
        Err(wrong) => {
            if wrong.is_damage() {
                lost(health, &wrong);
            }
            Err(error_chain(wrong))
        }
    }
}

/// The database is beyond use, and how.
pub(crate) fn lost(health: &Health, wrong: &StoreError) {
    if health.lose(wrong.to_string()) {
        let hint = wrong.hint();
        error!(%wrong, hint, "nothing fires, and nothing is written, until this daemon is restarted");
    }
}

pub(super) async fn back_up(home: Home) -> Done {
    home.store.still_there().map_err(error_chain)?;
    let made = home.store.back_up(home.clock.now()).await;
    let Some(path) = made.map_err(error_chain)? else {
        return Ok(Report::nothing("a server has backups of its own"));
    };
    let keep = home.fleet.housekeeping.keep_backups as usize;
    home.store.drop_old_backups(keep).map_err(error_chain)?;
    Ok(Report {
        did: 1,
        said: home.fleet.layout.shown(&path),
    })
}
