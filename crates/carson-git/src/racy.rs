//! Entries of an index that git does not believe.
//!
//! git compares whole seconds: a file that changed in the second in which the index was written may
//! have changed again since, so `git add` hashes it anew (Documentation/technical/racy-git.txt of git).
//! And it writes its object anew, since behind the walls it cannot mark the mirror's pack as used. After
//! a checkout of many files that is most of them: the first `git add` of a session took 4 to 12 s with
//! 57,000 files. An index that was touched a second later is believed.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use nix::sys::stat::futimens;
use nix::sys::time::TimeSpec;
use tokio::time::sleep;

use crate::many_files::has_many_files;

/// How often an index is touched, and how many times: together longer than a second.
const STEP: Duration = Duration::from_millis(20);
const STEPS: u32 = 60;

/// Touches an index that git has just written until that is in a later second than any file of its
/// checkout, by the file system's own clock; one that was set back is not waited for. Nobody may have
/// changed the files since.
pub(crate) async fn settle(index: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(index)?;
    // Few are hashed in no time; waiting takes half a second.
    if !has_many_files(&file)? {
        return Ok(());
    }
    let written = file.metadata()?.mtime();
    for _ in 0..STEPS {
        sleep(STEP).await;
        futimens(&file, &TimeSpec::UTIME_NOW, &TimeSpec::UTIME_NOW)?;
        if file.metadata()?.mtime() > written {
            break;
        }
    }
    Ok(())
}
