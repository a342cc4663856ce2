//! What a role's newest firings were.

use chrono::TimeDelta;
use serde::Serialize;

/// Firings from which an average says something.
pub const ENOUGH: u32 = 5;

/// One firing of the past, of which tests make histories.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Past {
    pub cost_usd: Option<f64>,
    pub estimated: bool,
    pub tokens: u64,
    pub ran: TimeDelta,
}

/// What the newest firings of a role add up to that ended by themselves; a skipped slot is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct History {
    /// Firings.
    pub firings: u32,
    /// Those of them whose cost is known.
    pub known: u32,
    /// What these cost together.
    pub cost_usd: f64,
    /// Whether part of that was priced from tokens.
    pub estimated: bool,
    /// Tokens of all.
    pub tokens: u64,
    /// How long all of them ran, in seconds.
    pub ran_seconds: u64,
}

/// Why nothing is expected of a role's money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "because")]
pub enum TooLittle {
    /// There are too few firings.
    Few {
        /// How many there are.
        firings: u32,
        /// How many say something.
        enough: u32,
    },
    /// Nobody told what most of them cost.
    Untold {
        /// How many there are.
        firings: u32,
        /// Of how many the cost is known.
        known: u32,
    },
}

impl std::fmt::Display for TooLittle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Few { firings: 0, .. } => f.write_str("it has not fired lately"),
            Self::Few { firings, enough } => {
                write!(f, "too little history: {firings} of {enough} firings")
            }
            Self::Untold { firings, known } => {
                write!(f, "the cost of only {known} of {firings} firings is known")
            }
        }
    }
}

impl History {
    #[cfg(test)]
    pub(crate) fn of(firings: impl IntoIterator<Item = Past>) -> Self {
        let mut all = Self::default();
        for one in firings {
            all.firings += 1;
            all.tokens = all.tokens.saturating_add(one.tokens);
            let ran = u64::try_from(one.ran.num_seconds()).unwrap_or(0);
            all.ran_seconds = all.ran_seconds.saturating_add(ran);
            if let Some(cost) = one.cost_usd.filter(|cost| cost.is_finite()) {
                all.known += 1;
                all.cost_usd += cost.max(0.0);
                all.estimated |= one.estimated;
            }
        }
        all
    }

    /// What one firing costs on average.
    ///
    /// # Errors
    /// When that would be a guess.
    pub fn each_usd(&self) -> Result<f64, TooLittle> {
        let Self { firings, known, .. } = *self;
        if firings < ENOUGH {
            let enough = ENOUGH;
            return Err(TooLittle::Few { firings, enough });
        }
        // One that is not known may be dearer than all that are.
        if known * 2 <= firings {
            return Err(TooLittle::Untold { firings, known });
        }
        Ok(self.cost_usd / f64::from(known))
    }

    /// How long one firing runs on average; not at all where there was none.
    #[must_use]
    pub fn each_runs(&self) -> TimeDelta {
        let seconds = self.ran_seconds / u64::from(self.firings.max(1));
        TimeDelta::seconds(i64::try_from(seconds).unwrap_or(0))
    }

    /// How many tokens one firing takes on average.
    #[must_use]
    pub fn each_tokens(&self) -> f64 {
        self.tokens as f64 / f64::from(self.firings.max(1))
    }
}
