//! The promise without a run.

use std::time::Duration;

use carson_proc::Cancel;

use super::ground::Ground;
use super::promise;
use crate::caller::Caller;
use crate::config::Config;
use crate::error::LoopError;
use crate::meta::Checked;
use crate::place::Place;
use crate::walls::Walls;

/// The longest that a promise may take behind walls, with all its runs: whoever wrote the directory says how long it may
/// take, and anybody may ask.
const LONGEST: Duration = Duration::from_secs(600);

/// Asks whether the promise is kept; how it was asked, and what it printed. Nothing is written down.
///
/// # Errors
/// None but those of the system.
pub async fn check_alone(
    place: &Place,
    caller: &Caller,
    config: &Config,
    cancel: &Cancel,
) -> Result<(Checked, String), LoopError> {
    let ground = Ground::new(place.clone(), caller.clone(), None);
    let asked = promise::ask(&ground, config, Duration::MAX, cancel).await?;
    Ok((asked.checked, asked.output.text()))
}

/// The same behind walls that nothing of the promise leaves: see [`Walls::closed`].
///
/// # Errors
/// When they are not to be had, and those of the system.
pub async fn check_walled(
    place: &Place,
    caller: &Caller,
    config: &Config,
    cancel: &Cancel,
) -> Result<(Checked, String), LoopError> {
    let walls = Walls::closed(place, caller)?;
    let stand = walls.stand(place).await;
    stand.map_err(|lacks| LoopError::NoWalls { lacks })?;
    let ground = Ground::new(place.clone(), caller.bare(), Some(walls));
    let asked = promise::ask(&ground, config, LONGEST, cancel).await?;
    Ok((asked.checked, asked.output.text()))
}
