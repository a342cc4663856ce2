//! What makes way on a full disk once a session is over: what is no work, so that the work can be looked at and kept, and the row
//! be written.

use carson_bench::bench::Bench;
use carson_git::GitError;
use carson_home::{Home, disk_reserve};
use tracing::{info, warn};

use crate::clean_rooms;

/// Behind the last session of a bench: its clean rooms go, too.
pub(crate) async fn after_sessions(home: &Home, bench: &Bench) {
    clean_rooms::make_way(home, bench).await;
    after_session(home, bench).await;
}

/// Behind one of them: what the home holds back is let go, and where that is not enough, the session's home and temporary
/// files are emptied.
pub(crate) async fn after_session(home: &Home, bench: &Bench) {
    if disk_reserve::is_scarce(&home.fleet) && disk_reserve::release(&home.fleet) {
        warn!("the disk is full: what was held back of it was let go");
    }
    if !disk_reserve::is_scarce(&home.fleet) {
        return;
    }
    match emptied(home, bench).await {
        Ok(()) => info!("the disk is full: what its session cached made way"),
        Err(error) => {
            warn!(%error, "the disk is full, and what its session cached could not be removed");
        }
    }
}

/// What it said in its temporary files stays.
async fn emptied(home: &Home, bench: &Bench) -> Result<(), GitError> {
    let said = [bench.outbox(), bench.lessons()];
    let aside = |file: &std::path::Path| bench.root.join(file.file_name().unwrap_or_default());
    for file in &said {
        let _ = std::fs::rename(file, aside(file));
    }
    for dir in bench.cached() {
        bench.remove_dir(home, &dir).await?;
        carson_bench::private_dir(&dir).map_err(|source| GitError::Io { path: dir, source })?;
    }
    for file in &said {
        let _ = std::fs::rename(aside(file), file);
    }
    Ok(())
}
