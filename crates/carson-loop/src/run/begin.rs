//! What running a loop again means: pure.

use crate::config::MOST_ATTEMPTS;
use crate::digest::Digest;
use crate::error::LoopError;
use crate::state::State;
use crate::status::Status;

/// How a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// With the first attempt.
    First,
    /// Where a run that died left it, under the same bounds.
    GoesOn,
    /// With so many more attempts than were made, and the whole time again.
    More(u32),
    /// Anew: the attempts so far are put away.
    Fresh,
    /// It was done: with as many more attempts as one may make, if its promise is kept no more.
    Again,
}

/// What the caller wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// So many more attempts.
    pub more: Option<u32>,
    /// Begin anew.
    pub fresh: bool,
}

/// How a run begins that finds a loop in this state. Nobody else runs it.
///
/// # Errors
/// When it has ended, and the caller did not say what that means now.
pub fn begin(state: &State, subject: Digest, wish: Wish) -> Result<Begin, LoopError> {
    if wish.more == Some(0) {
        let said = "--more 0 is no attempt: say how many more may be made";
        return Err(LoopError::Unfit(said.to_owned()));
    }
    let made = state.attempt;
    if let Some(more) = wish
        .more
        .filter(|more| more.saturating_add(made) > MOST_ATTEMPTS)
    {
        let said = format!(
            "--more {more} is too many: {made} were made, and a loop makes {MOST_ATTEMPTS} at most"
        );
        return Err(LoopError::Unfit(said));
    }
    let is_new = state.last_attempt == 0;
    let is_another = state.subject.is_some_and(|known| known != subject);
    match (state.status, wish.more) {
        _ if wish.fresh => Ok(if is_new { Begin::First } else { Begin::Fresh }),
        (Status::Idle, _) if is_new => Ok(Begin::First),
        (Status::AlreadyDone | Status::Failed, None) => Ok(match is_new {
            true => Begin::First,
            false => Begin::GoesOn,
        }),
        // Another task was never done.
        (Status::Done | Status::AlreadyDone, _) if is_another => Ok(Begin::Fresh),
        (_, Some(more)) => Ok(Begin::More(more)),
        (Status::Done, None) => Ok(Begin::Again),
        (Status::Idle | Status::Running, None) => Ok(Begin::GoesOn),
        (status, None) => Err(LoopError::Ended {
            status,
            reason: state.reason.clone().unwrap_or_default(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(status: Status, last_attempt: u32) -> State {
        State {
            status,
            last_attempt,
            subject: Some(Digest::of(b"this")),
            ..State::default()
        }
    }

    #[test]
    fn each_end_has_its_own_way_on() {
        let (this, other) = (Digest::of(b"this"), Digest::of(b"other"));
        let none = Wish::default();
        let more = |more| Wish {
            more: Some(more),
            fresh: false,
        };
        let fresh = Wish {
            more: None,
            fresh: true,
        };
        for (status, last, subject, wish, wanted) in [
            (Status::Idle, 0, this, none, Some(Begin::First)),
            (Status::Running, 3, this, none, Some(Begin::GoesOn)),
            (Status::Running, 0, this, none, Some(Begin::GoesOn)),
            (Status::Running, 3, this, more(2), Some(Begin::More(2))),
            (Status::Done, 3, this, none, Some(Begin::Again)),
            (Status::Done, 3, this, more(2), Some(Begin::More(2))),
            (Status::Done, 3, other, none, Some(Begin::Fresh)),
            (Status::Done, 3, this, fresh, Some(Begin::Fresh)),
            (Status::AlreadyDone, 0, this, none, Some(Begin::First)),
            (Status::Failed, 0, this, none, Some(Begin::First)),
            (Status::Failed, 1, this, none, Some(Begin::GoesOn)),
            (Status::Exhausted, 10, this, none, None),
            (Status::Exhausted, 10, other, none, None),
            (Status::Exhausted, 10, this, more(0), None),
            (Status::Exhausted, 10, this, more(1), Some(Begin::More(1))),
            (Status::Exhausted, 10, this, more(1_000_001), None),
            (Status::Stagnated, 3, this, none, None),
            (Status::Stagnated, 3, this, more(0), None),
            (Status::Idle, 0, this, more(0), None),
            (Status::Stopped, 3, this, none, None),
            (Status::Stopped, 0, this, fresh, Some(Begin::First)),
            (Status::TimedOut, 3, this, none, None),
            (Status::TimedOut, 3, this, fresh, Some(Begin::Fresh)),
        ] {
            let begun = begin(&found(status, last), subject, wish).ok();
            assert_eq!(begun, wanted, "{status} {last} {wish:?}");
        }
    }
}
