//! Puts the attempts of a loop away, so that it begins anew.

use std::fs;

use crate::error::LoopError;
use crate::own_file;
use crate::place::Place;

/// What belongs to the attempts so far.
const PARTS: [&str; 3] = ["attempts", "checkpoints", "first-check"];

/// Moves them into the next free directory of `runs/`; its name. The state goes first: what dies between is found
/// as a loop that has no attempts, or by its events.
pub(super) fn put_away(place: &Place) -> Result<String, LoopError> {
    let runs = place.runs();
    let io = |what: &std::path::Path| LoopError::io(format!("{}", what.display()));
    own_file::make_dir(&runs).map_err(io(&runs))?;
    let names = fs::read_dir(&runs)
        .map_err(io(&runs))?
        .filter_map(Result::ok);
    let numbers = names.filter_map(|item| item.file_name().to_str()?.parse::<u32>().ok());
    let name = format!("{:03}", numbers.max().unwrap_or(0) + 1);
    let to = runs.join(&name);
    fs::create_dir(&to).map_err(io(&to))?;
    // A copy: it says which task these attempts were of.
    let _ = fs::copy(place.config(), to.join("config.json"));
    for part in ["events.jsonl", "state.json"].into_iter().chain(PARTS) {
        let from = place.dir().join(part);
        match fs::rename(&from, to.join(part)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io(&from)(error));
            }
            _ => {}
        }
    }
    place.make()?;
    Ok(format!("runs/{name}"))
}
