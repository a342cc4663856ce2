//! What a run that died left behind: its task goes on without it, in the tree that is ours now.

use std::path::Path;
use std::time::Duration;

use crate::digest::Digest;
use crate::executor::GRACE;
use crate::lock::Lock;
use crate::mark::Mark;
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
        Some(_) => end(MARKER, &marker(place), &place.mark(), GRACE).await,
        None => 0,
    }
}

/// Ends whoever has this variable in its environment, or the mark of a run that died; how many processes.
pub(crate) async fn end(name: &str, value: &str, mark: &Path, grace: Duration) -> u32 {
    match Mark::of(mark) {
        Some(mark) => carson_proc::reap_marked_or_locking((name, value), &mark, grace).await,
        None => carson_proc::reap_marked(name, value, grace).await,
    }
}
