//! Asks whether the promise is kept.

use std::time::Duration;

use carson_proc::Cancel;

use super::ground::Ground;
use crate::config::Config;
use crate::digest::Digest;
use crate::error::LoopError;
use crate::executor::{self, Call, How, Ran, Unable};
use crate::meta::Checked;
use crate::normal::normalised;
use crate::output::Output;
use crate::walls::Walls;

/// What came of asking.
#[derive(Debug)]
pub(super) struct Asked {
    pub checked: Checked,
    /// What its last run printed.
    pub output: Output,
    /// Why there is nothing that could be asked.
    pub unable: Option<Unable>,
    /// Somebody asked to stop meanwhile.
    pub stopped: bool,
    /// The whole time was over meanwhile.
    pub out_of_time: bool,
}

/// Asks as often as it is to be kept, or until it is not. All of it takes no longer than `left`.
pub(super) async fn ask(
    ground: &Ground,
    config: &Config,
    left: Duration,
    cancel: &Cancel,
) -> Result<Asked, LoopError> {
    let (mut passes, mut took, mut leaked) = (0, Duration::ZERO, 0_u32);
    loop {
        let left = left.saturating_sub(took);
        let timeout = config.verify_timeout().min(left);
        let ran = once(ground, config, timeout, cancel).await?;
        took += ran.elapsed;
        leaked = leaked.saturating_add(ran.leaked);
        passes += u32::from(ran.passed());
        if ran.passed() && passes < config.verify_runs && !cancel.is_cancelled() {
            continue;
        }
        let is_kept = ran.passed() && passes >= config.verify_runs;
        let checked = Checked {
            passed: is_kept,
            passes,
            runs: config.verify_runs,
            exit: exit(ran.how),
            ended_by: match ran.how == How::TimedOut && timeout == left {
                true => out_of_time(config),
                false => said(&ran, config),
            },
            took_ms: millis(took),
            failure_hash: (!is_kept).then(|| failure(ground, &ran)),
            leaked,
        };
        return Ok(Asked {
            checked,
            unable: ran.unable(),
            stopped: !is_kept && (ran.how == How::Stopped || cancel.is_cancelled()),
            out_of_time: !is_kept && ran.how == How::TimedOut && timeout == left,
            output: ran.output,
        });
    }
}

async fn once(
    ground: &Ground,
    config: &Config,
    timeout: Duration,
    cancel: &Cancel,
) -> Result<Ran, LoopError> {
    let profile = ground.walls.as_ref().map(Walls::profile).transpose();
    let profile = profile.map_err(LoopError::io("the sandbox's profile"))?;
    let call = Call {
        words: &config.promise,
        cwd: ground.place.root(),
        env: ground.env(),
        stdin: Vec::new(),
        timeout,
        walls: profile.as_ref().map(|profile| profile.path().to_owned()),
    };
    Ok(executor::run(&call, cancel, |_| {}).await)
}

/// How it failed, without what only is another time.
fn failure(ground: &Ground, ran: &Ran) -> Digest {
    let said = normalised(&ran.output.content(), &ground.places);
    Digest::of_parts([ran.how.to_string().as_bytes(), said.as_bytes()])
}

fn said(ran: &Ran, config: &Config) -> String {
    match ran.how {
        How::TimedOut => format!("it did not end within {} s", config.verify_timeout_seconds),
        how => how.to_string(),
    }
}

/// How something ended when the whole time was over.
pub(super) fn out_of_time(config: &Config) -> String {
    let total = config.total_seconds;
    format!("the whole time of {total} s was over")
}

/// The exit code; `None` where there is none.
pub(super) fn exit(how: How) -> Option<i32> {
    match how {
        How::Exited(code) => Some(code),
        How::Signal(_) | How::TimedOut | How::Stopped => None,
    }
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
