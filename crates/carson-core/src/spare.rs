//! Whether a usage window is about to start again with a part that nobody will have used.
//!
//! What is left of a window when it starts again is lost: it may as well be spent on something that is worth a try.
//! But only what is really left over. Within the window that is what remains beside the part kept for people and
//! what the [forecast](crate::forecast) says that firings will take until then. And everything that does not start
//! again so soon must be used more slowly than it passes, this firing among it: longer windows, budgets, and the firings that a
//! role may have in a day. What nobody knows is not spent.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};

use crate::forecast::{Night, RoleFacts, WindowFacts};
use crate::id::{AccountName, RoleName};
use crate::text::instant;
use crate::usage::UsageWindow;

/// A window that starts again within this time is about to.
pub const SOON: TimeDelta = TimeDelta::minutes(60);
/// The part of it that must be left over.
pub const LEAST: f64 = 0.25;
/// Most second tries with an account in one window.
pub const TRIES: u32 = 2;

/// Who asks for what is left over.
#[derive(Clone, Copy, Debug)]
pub struct Asks<'a> {
    /// The role.
    pub role: &'a RoleFacts,
    /// The account.
    pub account: &'a AccountName,
    /// Whether the firing that would spend it is one of the role's day already.
    pub is_counted: bool,
    /// Roles of which another firing runs now.
    pub running: &'a [RoleName],
    /// When the window began that is about to start again, as [`soon`] says.
    pub begins: DateTime<Utc>,
    /// Second tries that began with the account since then.
    pub tried: u32,
}

/// What is left over.
#[derive(Clone, Debug, PartialEq)]
pub struct Spare {
    /// The account.
    pub account: AccountName,
    /// The window: of several that are about to start again the one with the least.
    pub window: String,
    /// How much of it, from 0 to 1.
    pub left: f64,
    /// How much of it a token takes, where that was counted.
    pub per_token: Option<f64>,
    /// Since when its second tries are counted.
    pub begins: DateTime<Utc>,
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
    /// This host has no place free beside it, for firings that have something new.
    Crowded,
    /// As much was tried in this window as may be.
    Tried,
    /// Firings are due, and nobody counted how much of a window they take.
    Uncounted(String),
    /// A role is due that never fired lately.
    New(RoleName),
    /// Too little is left beside what is kept and what will be used.
    Little {
        /// The window.
        window: String,
        /// How much, from 0 to 1.
        left: f64,
    },
    /// Another window is used up faster than it passes.
    Missed(String),
    /// The firings of the role's day are used up faster than that passes.
    Cap(u32),
    /// A budget would be used up faster than its time passes.
    Budget(&'static str),
    /// A budget holds it, and nobody knows what it would cost.
    Unpriced,
}

impl fmt::Display for Spare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (account, window) = (&self.account, &self.window);
        let (left, until) = (self.left * 100.0, instant(self.until));
        write!(
            f,
            "{left:.0} % of {account}'s {window} would be lost when it starts again {until}"
        )
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untold => f.write_str("no usage window is known"),
            Self::Unknown(window) => write!(f, "nobody knows how long {window} lasts"),
            Self::Early { window, at } => write!(f, "{window} starts again {}", instant(*at)),
            Self::Crowded => f.write_str(
                "no other firing could begin on this host beside it (fleet.max_firings)",
            ),
            Self::Tried => write!(f, "there were {TRIES} second tries in this window"),
            Self::Uncounted(window) => {
                write!(
                    f,
                    "firings are due, and nobody counted how much of {window} they take"
                )
            }
            Self::New(role) => write!(f, "{role} is due, and nobody knows yet how much it takes"),
            Self::Little { window, left } => {
                let (left, least) = (left.max(0.0) * 100.0, LEAST * 100.0);
                write!(
                    f,
                    "{left:.0} % of {window} is left over, and {least:.0} % is the least"
                )
            }
            Self::Missed(window) => write!(f, "what is left of {window} will be missed later"),
            Self::Cap(most) => write!(
                f,
                "the firings of its day (limits.max_firings_per_day = {most}) would not last"
            ),
            Self::Budget(what) => write!(f, "the budget of {what} would not last"),
            Self::Unpriced => f.write_str(
                "a budget holds it, and nobody knows what it would cost (limits.max_cost_usd)",
            ),
        }
    }
}

impl Spare {
    /// Whether work that took so many tokens fits into it.
    #[must_use]
    pub fn has_room_for(&self, tokens: u64) -> bool {
        self.per_token
            .is_none_or(|each| each * tokens as f64 <= self.left)
    }
}

/// When the window began that is about to start again, of several the last: what is asked before a night is looked at.
///
/// # Errors
/// When none is, or nobody knows.
pub fn soon(
    windows: &[UsageWindow],
    account: &AccountName,
    now: DateTime<Utc>,
) -> Result<DateTime<Utc>, Kept> {
    let own = |window: &&UsageWindow| window.account == *account && window.stands(now);
    let own = windows.iter().filter(own).map(Lasting::of);
    let windows: Vec<Lasting<'_>> = own.collect::<Result<_, _>>()?;
    let first = windows.iter().min_by_key(|window| window.ends);
    let first = first.ok_or(Kept::Untold)?;
    let ending = windows.iter().filter(|window| window.is_soon(now));
    let begins = ending.map(|window| window.begins).max();
    begins.ok_or_else(|| Kept::Early {
        window: first.name.to_owned(),
        at: first.ends,
    })
}

/// What the account's windows would lose.
///
/// # Errors
/// When they lose nothing, or nobody knows.
pub fn spare(night: &Night, asks: &Asks<'_>) -> Result<Spare, Kept> {
    let now = night.from;
    if asks.tried >= TRIES {
        return Err(Kept::Tried);
    }
    let own = |facts: &&WindowFacts| facts.window.account == *asks.account;
    let mut tightest: Option<Spare> = None;
    for facts in night.windows.iter().filter(own) {
        let window = Lasting::of(&facts.window)?;
        if !window.is_soon(now) {
            window.is_ahead(now, facts.reserve)?;
            continue;
        }
        let left = left_over(night, asks, (facts, &window))?;
        if tightest.as_ref().is_none_or(|known| left < known.left) {
            tightest = Some(Spare {
                account: asks.account.clone(),
                window: window.name.to_owned(),
                left,
                per_token: facts.per_token,
                begins: asks.begins,
                until: window.ends,
            });
        }
    }
    lasts(night, asks)?;
    tightest.ok_or(Kept::Untold)
}

/// What is left beside what is kept for people, and what firings will use until it starts again.
fn left_over(
    night: &Night,
    asks: &Asks<'_>,
    (facts, window): (&WindowFacts, &Lasting<'_>),
) -> Result<f64, Kept> {
    let due = night.due(asks.account, window.ends, asks.running);
    let due = due.map_err(Kept::New)?;
    let used = match (due.firings, facts.per_token.filter(|each| each.is_finite())) {
        (0, _) => 0.0,
        (_, Some(each)) => due.tokens * each.max(0.0),
        (_, None) => return Err(Kept::Uncounted(window.name.to_owned())),
    };
    let left = 1.0 - facts.reserve - window.used - used;
    match left < LEAST {
        true => Err(Kept::Little {
            window: window.name.to_owned(),
            left,
        }),
        false => Ok(left),
    }
}

/// Whether the day's firings and the budgets last, with one more firing now.
fn lasts(night: &Night, asks: &Asks<'_>) -> Result<(), Kept> {
    let (now, role) = (night.from, asks.role);
    let mut caps = role.caps.iter();
    if let Some(cap) = caps.find(|cap| cap.from <= now && now < cap.to) {
        let fired = cap.most.saturating_sub(cap.left) + u32::from(!asks.is_counted);
        if f64::from(fired) > f64::from(cap.most) * passed(cap.from, cap.to, now) {
            return Err(Kept::Cap(cap.most));
        }
    }
    let purses = night.purses.iter();
    for purse in purses.filter(|purse| purse.is_of(&role.role, now)) {
        let each = role.max_cost_usd.or_else(|| role.history.each_usd().ok());
        let usd = purse.budget.spent + each.ok_or(Kept::Unpriced)?;
        if usd > purse.budget.max * passed(purse.from, purse.to, now) {
            return Err(Kept::Budget(purse.budget.what));
        }
    }
    Ok(())
}

/// Which part of a time is over, from 0 to 1.
fn passed(from: DateTime<Utc>, to: DateTime<Utc>, now: DateTime<Utc>) -> f64 {
    let length = (to - from).num_seconds().max(1) as f64;
    ((now - from).num_seconds() as f64 / length).clamp(0.0, 1.0)
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
        let known = window.resets_at.zip(WindowFacts::length_of(&window.name));
        let (ends, length) = known.ok_or_else(|| Kept::Unknown(window.name.clone()))?;
        Ok(Self {
            name: &window.name,
            used: window.utilization.clamp(0.0, 1.0),
            begins: ends - length,
            ends,
        })
    }

    fn is_soon(&self, now: DateTime<Utc>) -> bool {
        self.ends - now <= SOON
    }

    /// Whether it is used more slowly than it passes, so that what is used now is not missed before it starts again.
    fn is_ahead(&self, now: DateTime<Utc>, reserve: f64) -> Result<(), Kept> {
        match self.used < passed(self.begins, self.ends, now) * (1.0 - reserve) {
            true => Ok(()),
            false => Err(Kept::Missed(self.name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
