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
