//! Whether a usage window is about to start again with a part that nobody will have used.
//!
//! What is left of a window when it starts again is lost: it may as well be spent on something that is worth a try. But
//! only what is really left over: not what is kept for people, not what the firings that are due until then will use, and
//! nothing at all where a longer window, which does not start again so soon, would be missed later.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};

use crate::id::AccountName;
use crate::text::instant;
use crate::usage::UsageWindow;

/// A window that starts again within this time is about to.
pub const SOON: TimeDelta = TimeDelta::minutes(60);
/// The part of it that must be left over.
pub const LEAST: f64 = 0.25;
/// Most second tries of a role in one window.
pub const TRIES: usize = 2;

/// What is known of an account.
#[derive(Clone, Debug)]
pub struct Known {
    /// The account.
    pub account: AccountName,
    /// What was told of its windows.
    pub windows: Vec<UsageWindow>,
    /// The part of each window that is kept for people.
    pub reserve: f64,
    /// When firings that would begin with it are due, within [`SOON`].
    pub due: Vec<DateTime<Utc>>,
    /// When firings with it began, within the longest window.
    pub began: Vec<DateTime<Utc>>,
    /// When second tries of the role began, within the same time.
    pub tried: Vec<DateTime<Utc>>,
}

/// What is left over.
#[derive(Clone, Debug, PartialEq)]
pub struct Spare {
    /// The account.
    pub account: AccountName,
    /// The window.
    pub window: String,
    /// How much of it, from 0 to 1.
    pub left: f64,
    /// When it starts again.
    pub until: DateTime<Utc>,
}

/// Why nothing is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// Nobody told how much is used.
    Untold,
    /// It is not known when a window starts again, or how long it lasts.
    Unknown(String),
    /// No window starts again soon.
    Early {
        /// The one that does so first.
        window: String,
        /// When.
        at: DateTime<Utc>,
    },
    /// Too little is left beside what is kept and what will be used.
    Little {
        /// The window.
        window: String,
        /// How much, from 0 to 1.
        left: f64,
    },
    /// Another window is used up faster than it passes.
    Missed(String),
    /// As much was tried in this window as may be.
    Tried(String),
}

impl fmt::Display for Spare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { account, window, left, until } = self;
        write!(
            f,
            "{:.0} % of {account}'s {window} would be lost when it starts again {}",
            left * 100.0,
            instant(*until)
        )
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untold => f.write_str("no usage window is known"),
            Self::Unknown(window) => write!(f, "nobody knows how long {window} lasts"),
            Self::Early { window, at } => write!(f, "{window} starts again {}", instant(*at)),
            Self::Little { window, left } => {
                let left = left.max(0.0) * 100.0;
                write!(f, "{left:.0} % of {window} is left over, and {:.0} % is the least", LEAST * 100.0)
            }
            Self::Missed(window) => write!(f, "what is left of {window} will be missed later"),
            Self::Tried(window) => write!(f, "{TRIES} second tries were made in {window}"),
        }
    }
}

/// How long a window of this name lasts, as providers name them.
#[must_use]
pub fn length_of(window: &str) -> Option<TimeDelta> {
    match window {
        _ if window.starts_with("five_hour") => Some(TimeDelta::hours(5)),
        _ if window.starts_with("seven_day") => Some(TimeDelta::days(7)),
        _ => None,
    }
}

/// What an account's windows would lose.
///
/// # Errors
/// When they lose nothing, or nobody knows.
pub fn spare(known: &Known, now: DateTime<Utc>) -> Result<Spare, Kept> {
    let own = |window: &&UsageWindow| window.account == known.account && window.stands(now);
    let windows: Vec<Lasting> = known
        .windows
        .iter()
        .filter(own)
        .map(Lasting::of)
        .collect::<Result<_, _>>()?;
    let first = windows.iter().min_by_key(|window| window.ends).ok_or(Kept::Untold)?;
    if first.ends - now > SOON {
        let (window, at) = (first.name.to_owned(), first.ends);
        return Err(Kept::Early { window, at });
    }
    let mut tightest: Option<Spare> = None;
    for window in &windows {
        if window.ends - now > SOON {
            window.is_ahead(now, known.reserve)?;
            continue;
        }
        let left = window.left_over(known);
        if left < LEAST {
            let window = window.name.to_owned();
            return Err(Kept::Little { window, left });
        }
        let tried = known.tried.iter().filter(|at| **at >= window.begins);
        if tried.count() >= TRIES {
            return Err(Kept::Tried(window.name.to_owned()));
        }
        if tightest.as_ref().is_none_or(|known| left < known.left) {
            tightest = Some(Spare {
                account: known.account.clone(),
                window: window.name.to_owned(),
                left,
                until: window.ends,
            });
        }
    }
    tightest.ok_or(Kept::Untold)
}

/// A window whose times are known.
struct Lasting<'w> {
    name: &'w str,
    used: f64,
    begins: DateTime<Utc>,
    ends: DateTime<Utc>,
}

impl<'w> Lasting<'w> {
    fn of(window: &'w UsageWindow) -> Result<Self, Kept> {
        let known = window.resets_at.zip(length_of(&window.name));
        let (ends, length) = known.ok_or_else(|| Kept::Unknown(window.name.clone()))?;
        Ok(Self {
            name: &window.name,
            used: window.utilization.clamp(0.0, 1.0),
            begins: ends - length,
            ends,
        })
    }

    /// What is left beside what is kept for people, and what firings that are due will use: each as much as those of
    /// this window did on average.
    fn left_over(&self, known: &Known) -> f64 {
        let within = |times: &[DateTime<Utc>]| {
            times.iter().filter(|at| (self.begins..self.ends).contains(*at)).count()
        };
        let (began, due) = (within(&known.began), within(&known.due));
        let each = self.used / began.max(1) as f64;
        1.0 - known.reserve - self.used - each * due as f64
    }

    /// Whether it is used more slowly than it passes, so that what is used now is not missed before it starts again.
    fn is_ahead(&self, now: DateTime<Utc>, reserve: f64) -> Result<(), Kept> {
        let length = (self.ends - self.begins).num_seconds().max(1) as f64;
        let passed = (now - self.begins).num_seconds() as f64 / length;
        match self.used < passed * (1.0 - reserve) {
            true => Ok(()),
            false => Err(Kept::Missed(self.name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap()
    }

    fn window(name: &str, used: f64, ends_in: i64) -> UsageWindow {
        UsageWindow {
            account: "claude".parse().unwrap(),
            name: name.to_owned(),
            utilization: used,
            resets_at: Some(now() + TimeDelta::minutes(ends_in)),
            seen_at: now() - TimeDelta::minutes(20),
        }
    }

    fn known(windows: Vec<UsageWindow>) -> Known {
        Known {
            account: "claude".parse().unwrap(),
            windows,
            reserve: 0.1,
            due: Vec::new(),
            began: vec![now() - TimeDelta::hours(1)],
            tried: Vec::new(),
        }
    }

    const WEEK: i64 = 7 * 24 * 60;

    #[test]
    fn what_a_window_would_lose_is_told() {
        // Five days of seven have passed, and half of it is used.
        let windows = vec![window("five_hour", 0.3, 40), window("seven_day", 0.5, WEEK * 2 / 7)];
        let found = spare(&known(windows), now()).unwrap();
        assert_eq!((found.window.as_str(), found.until), ("five_hour", now() + TimeDelta::minutes(40)));
        assert!((found.left - 0.6).abs() < 1e-9, "{found:?}");
        assert!(found.to_string().starts_with("60 % of claude's five_hour would be lost"), "{found}");
    }

    #[test]
    fn nothing_is_left_over_that_somebody_will_want() {
        let early = spare(&known(vec![window("five_hour", 0.1, 90)]), now());
        assert!(matches!(early, Err(Kept::Early { .. })), "{early:?}");
        let little = spare(&known(vec![window("five_hour", 0.7, 30)]), now());
        assert!(matches!(little, Err(Kept::Little { .. })), "{little:?}");
        // Two firings are due, each of which uses as much as the one did.
        let mut due = known(vec![window("five_hour", 0.3, 30)]);
        due.due = vec![now() + TimeDelta::minutes(5), now() + TimeDelta::minutes(20)];
        assert!(matches!(spare(&due, now()), Err(Kept::Little { .. })));
        // One that is due only in the next window is none of this one's.
        due.due = vec![now() + TimeDelta::minutes(31); 2];
        assert!(spare(&due, now()).is_ok());
        let weekly = vec![window("five_hour", 0.2, 30), window("seven_day", 0.8, WEEK * 5 / 7)];
        assert_eq!(spare(&known(weekly), now()), Err(Kept::Missed("seven_day".to_owned())));
    }

    #[test]
    fn what_nobody_knows_is_not_spent() {
        assert_eq!(spare(&known(Vec::new()), now()), Err(Kept::Untold));
        let odd = spare(&known(vec![window("usage", 0.0, 10)]), now());
        assert_eq!(odd, Err(Kept::Unknown("usage".to_owned())));
        let mut others = known(vec![window("five_hour", 0.0, 10)]);
        others.account = "codex".parse().unwrap();
        assert_eq!(spare(&others, now()), Err(Kept::Untold));
        let over = spare(&known(vec![window("five_hour", 0.0, -10)]), now());
        assert_eq!(over, Err(Kept::Untold));
    }

    #[test]
    fn a_window_has_so_many_second_tries() {
        let mut tried = known(vec![window("five_hour", 0.0, 30)]);
        tried.tried = vec![now() - TimeDelta::hours(1), now() - TimeDelta::hours(6)];
        assert!(spare(&tried, now()).is_ok(), "one of them was in the window before");
        tried.tried.push(now() - TimeDelta::minutes(1));
        assert_eq!(spare(&tried, now()), Err(Kept::Tried("five_hour".to_owned())));
    }

    proptest! {
        #[test]
        fn what_is_kept_is_never_spent(
            used in 0.0_f64..1.5, reserve in 0.0_f64..1.0, ends in -60_i64..400, due in 0_usize..5, began in 0_usize..5,
        ) {
            let mut facts = known(vec![window("five_hour", used, ends)]);
            facts.reserve = reserve;
            facts.due = vec![now() + TimeDelta::minutes(1); due];
            facts.began = vec![now() - TimeDelta::minutes(10); began];
            if let Ok(found) = spare(&facts, now()) {
                prop_assert!(found.left >= LEAST && found.left <= 1.0 - reserve - used + 1e-9);
                prop_assert!(found.until > now() && found.until - now() <= SOON);
                // The more is due, the less is left over.
                facts.due.push(now() + TimeDelta::minutes(2));
                let more = spare(&facts, now()).map_or(0.0, |found| found.left);
                prop_assert!(more <= found.left);
            }
        }
    }
}
