//! Somebody ends the demo before its end: nothing that it started goes on without it.

use std::path::Path;
use std::time::Duration;

use carson_home::Home;
use carson_proc::{ProcessId, kill_orphans};
use carson_store::{Firing, StoreError};

use super::EVERY_ROW;
use crate::print;

/// How long each firing has to save its work before it is killed.
const GRACE: Duration = Duration::from_secs(15);

/// How often it is looked whether a firing that was claimed has become a process, and how long is waited in between.
const LOOKS: usize = 20;
const BETWEEN: Duration = Duration::from_millis(250);

/// Ends the firings that the daemon left, as `carson stop` would and then by force; those too whose row has ended and
/// whose process still puts its bench away. One that could not save its work is concluded as the daemon would.
pub async fn end_firings(home: &Home) -> Result<(), StoreError> {
    for _ in 0..LOOKS {
        let rows = home.store.firings(&EVERY_ROW).await?;
        let process = |row: &Firing| {
            let (pid, start) = (row.pid?, row.pid_start?);
            Some(ProcessId { pid, start })
        };
        let all_began = rows
            .iter()
            .all(|row| row.outcome.is_some() || process(row).is_some());
        let ends: Vec<_> = rows
            .iter()
            .filter_map(process)
            .map(|process| tokio::spawn(async move { process.terminate(GRACE).await }))
            .collect();
        for end in ends {
            // One that panics ended nothing; the pass tells.
            let _ = end.await;
        }
        if all_began {
            break;
        }
        tokio::time::sleep(BETWEEN).await;
    }
    // What a firing had below it when it was killed.
    kill_orphans().await;
    carson_firing::recover::pass(home).await.map(drop)
}

/// What is left, and how it goes.
pub fn say_what_is_left(root: &Path) {
    let root = root.display();
    print::error(&format!(
        "the demo was stopped; its daemon and its firings have ended. What they made is in {root}: \
         `rm -rf {root}` removes it"
    ));
}
