//! The database: its log, its health, its backups.

use carson_home::Home;
use carson_store::StoreError;
use tracing::error;

use super::error_chain;
use super::runner::{Done, Report};
use crate::health::Health;

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
