//! Whether what a session says that it used can be.
//!
//! Money, tokens and turns are a CLI's own words. What no session could have used in its time does
//! not count toward any cap: one line would stop a fleet for a month. It is no measurement: the
//! bounds lie about ten times above what a busy session uses.

use std::time::Duration;

/// Responses that may have been under way when it ended: full windows of large models.
const FIRST_IN: u64 = 4_000_000;
const FIRST_OUT: u64 = 256_000;
/// Tokens of one second, of all agents that a session runs beside each other. Those that are
/// read again from a provider's cache count.
const IN_PER_SECOND: u64 = 1_000_000;
const OUT_PER_SECOND: u64 = 4_000;
/// One in so many of them is paid in full, over a session.
const PAID_SHARE: u64 = 10;
/// Responses of one second, where nobody else bounds the turns.
const TURNS_PER_SECOND: u64 = 4;
/// Turns beyond a ceiling: a CLI counts the one that it stopped at, or its own requests.
const SPARE_TURNS: u64 = 10;

/// What a session used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Used {
    /// Turns.
    pub turns: u32,
    /// Input tokens, cached ones included.
    pub tokens_in: u64,
    /// Output tokens.
    pub tokens_out: u64,
    /// Money in dollars, as it was told or estimated.
    pub cost_usd: Option<f64>,
}

/// The most that a session can have used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Possible {
    turns: u32,
    tokens_in: u64,
    tokens_out: u64,
    cost_usd: f64,
}

impl Possible {
    /// Of a session that took so long and had this ceiling; `price` is what so many input and
    /// output tokens of the dearest model cost.
    #[must_use]
    pub fn within(elapsed: Duration, max_turns: u32, price: impl Fn(u64, u64) -> f64) -> Self {
        let seconds = elapsed.as_secs().saturating_add(1);
        let grown = |first: u64, each: u64| first.saturating_add(each.saturating_mul(seconds));
        let tokens_in = grown(FIRST_IN, IN_PER_SECOND);
        let tokens_out = grown(FIRST_OUT, OUT_PER_SECOND);
        let by_time = TURNS_PER_SECOND.saturating_mul(seconds);
        let turns = by_time.max(max_turns.into()).saturating_add(SPARE_TURNS);
        Self {
            turns: u32::try_from(turns).unwrap_or(u32::MAX),
            tokens_in,
            tokens_out,
            cost_usd: price(
                grown(FIRST_IN, IN_PER_SECOND / PAID_SHARE),
                grown(FIRST_OUT, OUT_PER_SECOND / PAID_SHARE),
            ),
        }
    }
}

impl Used {
    /// What counts of it when it cannot be; `None` when it can. Money that cannot be counts as the
    /// firing's own limit, where it has one: that ends this firing, and costs no other one more
    /// than it could have spent.
    #[must_use]
    pub fn held_to(&self, possible: &Possible, own_limit: Option<f64>) -> Option<Self> {
        let is_dear = |cost: f64| !(0.0..=possible.cost_usd).contains(&cost);
        let held = Self {
            turns: self.turns.min(possible.turns),
            tokens_in: self.tokens_in.min(possible.tokens_in),
            tokens_out: self.tokens_out.min(possible.tokens_out),
            cost_usd: match self.cost_usd {
                // Less than nothing would make room for others.
                Some(cost) if cost < 0.0 => None,
                Some(cost) if is_dear(cost) => own_limit.map(|own| own.min(possible.cost_usd)),
                cost => cost,
            },
        };
        (held != *self).then_some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// $5 and $25 for a million.
    fn price(tokens_in: u64, tokens_out: u64) -> f64 {
        (tokens_in * 5 + tokens_out * 25) as f64 / 1e6
    }

    fn possible(seconds: u64) -> Possible {
        Possible::within(Duration::from_secs(seconds), 60, price)
    }

    const BUSY: Used = Used {
        turns: 61,
        tokens_in: 40_000_000,
        tokens_out: 400_000,
        cost_usd: Some(60.0),
    };

    #[test]
    fn what_a_busy_session_uses_is_possible() {
        assert_eq!(BUSY.held_to(&possible(45 * 60), None), None);
        let short = Used {
            turns: 3,
            tokens_in: 1_000_000,
            tokens_out: 1_000,
            cost_usd: Some(5.0),
        };
        assert_eq!(short.held_to(&possible(0), None), None);
    }

    #[test]
    fn what_cannot_be_is_held_to_what_can() {
        let night = Duration::from_secs(8 * 60 * 60);
        let night = Possible::within(night, 60, price);
        for cost in [1e7, f64::INFINITY, f64::NAN, -1.0] {
            let told = Used {
                cost_usd: Some(cost),
                ..BUSY
            };
            let own = told.held_to(&night, Some(2.0)).unwrap().cost_usd;
            assert_eq!(own, (cost != -1.0).then_some(2.0), "{cost}");
            let none = told.held_to(&night, None).unwrap().cost_usd;
            assert_eq!(none, None, "{cost}");
        }
        let told = Used {
            turns: u32::MAX,
            tokens_in: u64::MAX,
            tokens_out: u64::MAX,
            cost_usd: None,
        };
        let held = told.held_to(&possible(60), None).unwrap();
        assert!(
            held.turns < 1_000 && held.tokens_in < 100_000_000,
            "{held:?}"
        );
        assert!(held.tokens_out < 1_000_000, "{held:?}");
    }

    #[test]
    fn no_time_is_too_long_to_be_reckoned_with() {
        let ever = Possible::within(Duration::MAX, u32::MAX, |_, _| f64::MAX);
        assert_eq!(ever.tokens_in, u64::MAX);
        assert_eq!(BUSY.held_to(&ever, None), None);
    }
}
