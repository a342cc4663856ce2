//! The database: its log, its health, its backups.

use carson_home::Home;
use carson_store::StoreError;
use tracing::error;

use super::runner::{Done, Report};
use super::said;
use crate::health::Health;

pub(super) async fn checkpoint(house: Home) -> Done {
    house.store.still_there().map_err(said)?;
    house.store.checkpoint().await.map_err(said)?;
    Ok(Report::nothing("its log is in the file"))
}

/// Looks through all of it. Damage stops the firing, and the writing, until a person has looked.
pub(super) async fn check(house: &Home, health: &Health) -> Done {
    match house.store.must_be_whole(false).await {
        Ok(()) => Ok(Report::nothing("it is whole")),
        Err(wrong) => {
            if wrong.is_damage() {
                lost(health, &wrong);
            }
            Err(said(wrong))
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

pub(super) async fn back_up(house: Home) -> Done {
    house.store.still_there().map_err(said)?;
    let made = house.store.back_up(house.clock.now()).await;
    let Some(path) = made.map_err(said)? else {
        return Ok(Report::nothing("a server has backups of its own"));
    };
    let keep = house.fleet.housekeeping.keep_backups as usize;
    house.store.drop_old_backups(keep).map_err(said)?;
    Ok(Report {
        did: 1,
        said: house.fleet.home.shown(&path),
    })
}
