//! What a run that died left behind: its task goes on without it, in the tree that is ours now.

use crate::digest::Digest;
use crate::executor::GRACE;
use crate::lock::Lock;
use crate::place::Place;

/// The variable that everything has which a loop runs.
pub(super) const MARKER: &str = "CARSON_LOOP_ID";

/// Its value: which loop.
pub(super) fn marker(place: &Place) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    Digest::of(place.dir().as_os_str().as_bytes()).short()
}

/// Ends what an owner left behind that died with the lock; how many processes.
pub(crate) async fn end_orphans(place: &Place, lock: &Lock) -> u32 {
    match lock.after() {
        Some(_) => carson_proc::reap_marked(MARKER, &marker(place), GRACE).await,
        None => 0,
    }
}
