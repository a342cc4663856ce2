//! What makes way on a full disk once a session is over: what is no work, so that the work can be looked at and kept, and the row
//! be written.

use std::path::Path;

use carson_bench::bench::Bench;
use carson_bench::layers;
use carson_bench::private_dir;
use carson_git::GitError;
use carson_home::{Home, disk_reserve, disk_space};
use tracing::{info, warn};

use crate::clean_rooms;
use crate::ctx::Ctx;

/// Before any session: layers that nothing stands on go, where a firing may not start for want of room.
pub(crate) async fn before_sessions(home: &Home) {
    if disk_space::check(&home.fleet).is_err() {
        let_layers_go(home).await;
    }
}

/// They can be made again, and take the most.
async fn let_layers_go(home: &Home) {
    let removed = layers::prune(home, 0).await.removed.len();
    if removed > 0 {
        info!(
            layers = removed,
            "the disk is full: layers that nothing stands on made way"
        );
    }
}

/// Behind the last session of a bench: its clean rooms go, too.
pub(crate) async fn after_sessions(home: &Home, bench: &Bench) {
    clean_rooms::make_way(home, bench).await;
    make_way(home, bench).await;
}

/// Behind one of them, which another may follow: that has all that a bench begins with.
pub(crate) async fn after_session(ctx: &Ctx<'_>, bench: &Bench) {
    if make_way(ctx.home, bench).await
        && let Err(error) = bench.create(ctx.role)
    {
        warn!(firing.id = %ctx.id, %error, "the home of the next session could not be made anew");
    }
}

/// What the home holds back is let go, then layers that nothing stands on, and where that is not enough, the session's home and
/// temporary files are emptied: whether they were.
async fn make_way(home: &Home, bench: &Bench) -> bool {
    if disk_reserve::is_scarce(&home.fleet) {
        if disk_reserve::release(&home.fleet) {
            warn!("the disk is full: what was held back of it was let go");
        }
        let_layers_go(home).await;
    }
    if !disk_reserve::is_scarce(&home.fleet) {
        return false;
    }
    if bench.cached().is_empty() {
        warn!(
            "the disk is full, and the home of its sessions stays: a second worktree may lie there"
        );
        return false;
    }
    match emptied(home, bench).await {
        Ok(()) => info!("the disk is full: what its session cached made way"),
        Err(error) => {
            warn!(%error, "the disk is full, and what its session cached could not be removed");
        }
    }
    true
}

/// What it said in its temporary files stays.
async fn emptied(home: &Home, bench: &Bench) -> Result<(), GitError> {
    let said = [bench.outbox(), bench.lessons()];
    let aside = |file: &Path| bench.root.join(file.file_name().unwrap_or_default());
    for file in &said {
        let _ = std::fs::rename(file, aside(file));
    }
    let mut done = Ok(());
    for dir in bench.cached() {
        let gone = bench.remove_dir(home, &dir).await;
        let made = private_dir(&dir).map_err(|source| GitError::Io { path: dir, source });
        done = done.and(gone).and(made);
    }
    for file in &said {
        let _ = std::fs::rename(aside(file), file);
    }
    done
}
