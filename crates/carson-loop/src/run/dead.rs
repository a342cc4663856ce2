//! An attempt that was under way when the loop died.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::promise::millis;
use crate::checkpoint::Checkpoints;
use crate::config::Config;
use crate::config_file::ConfigFile;
use crate::error::LoopError;
use crate::event::Happened;
use crate::fold::{Begun, interrupted};
use crate::journal::Journal;
use crate::json_file::{self, Sync};
use crate::meta::{Meta, Outcome};
use crate::own_file;
use crate::place::Place;
use crate::tree::Rules;

/// What is known of it. It counts, as it was paid; the tree is as it left it.
pub(super) fn meta(
    (place, rules): (&Place, &Rules),
    checkpoints: &mut Checkpoints,
    config: Option<&Config>,
    begun: Begun,
    now: DateTime<Utc>,
) -> Result<Meta, LoopError> {
    let longest = |config: &Config| config.timeout() + config.verify_timeout() * config.verify_runs;
    let took = (now - begun.at).to_std().unwrap_or_default();
    let took = took.min(config.map_or(Duration::ZERO, longest));
    let left = match checkpoints.has(begun.attempt) {
        true => checkpoints.get(begun.attempt)?,
        false => checkpoints.make(begun.attempt, (place.root(), rules), None)?,
    };
    let found = checkpoints.get(begun.attempt.saturating_sub(1))?.tree;
    let output = place.attempt(begun.attempt).join("output");
    Ok(Meta {
        attempt: begun.attempt,
        outcome: Outcome::Interrupted,
        started_at: begun.at,
        ended_at: now,
        exit: None,
        ended_by: "the loop died".to_owned(),
        took_ms: millis(took),
        output_hash: None,
        output_bytes: std::fs::metadata(output).map_or(0, |found| found.len()),
        tree_hash: Some(left.tree.hash()),
        tree_before_hash: Some(begun.tree_before_hash),
        changed: found.changes(&left.tree).len() as u64,
        prompt_hash: begun.prompt_hash,
        executor_version: None,
        head: left.repository.head,
        leaked: 0,
        not_kept: 0,
        check: None,
    })
}

/// Concludes it for whoever comes to a loop that died and does not run it. Nobody else has its lock.
pub(crate) fn conclude(
    (place, rules): (&Place, &Rules),
    checkpoints: &mut Checkpoints,
    journal: &mut Journal,
    now: DateTime<Utc>,
) -> Result<(), LoopError> {
    let Some(begun) = interrupted(journal.past()) else {
        return Ok(());
    };
    let config = ConfigFile::of(place).ok();
    let meta = meta((place, rules), checkpoints, config.as_ref(), begun, now)?;
    let dir = place.attempt(begun.attempt);
    own_file::make_dir(&dir).map_err(LoopError::io(format!("{}", dir.display())))?;
    json_file::write(&dir.join("meta.json"), &meta, Sync::Later)?;
    let elapsed_ms = journal.state().elapsed_ms.saturating_add(meta.took_ms);
    let meta = Box::new(meta);
    journal.add(Happened::AttemptEnded { meta, elapsed_ms }, Sync::Now)
}
