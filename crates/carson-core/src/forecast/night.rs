//! The forecast.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use super::facts::{Purse, RoleFacts, Stopped, WindowFacts};
use super::history::{History, TooLittle};
use super::picks::picks;
use super::purses::{Ended, Pick, drawn};
use super::windows::{self, WindowEnd};
use crate::id::{AccountName, RoleName};

/// A night, as far as it is known beforehand.
#[derive(Clone, Debug)]
pub struct Night {
    /// When it is asked.
    pub from: DateTime<Utc>,
    /// The morning.
    pub until: DateTime<Utc>,
    /// The roles.
    pub roles: Vec<RoleFacts>,
    /// Money that may be spent.
    pub purses: Vec<Purse>,
    /// Usage windows.
    pub windows: Vec<WindowFacts>,
}

/// What firings will take of an account's usage windows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Due {
    /// How many there are.
    pub firings: u32,
    /// Tokens of all, at the average of the newest.
    pub tokens: f64,
}

/// What it will cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// From when.
    pub from: DateTime<Utc>,
    /// Until the morning.
    pub until: DateTime<Utc>,
    /// Role by role, in the order of the facts.
    pub roles: Vec<RoleForecast>,
    /// At the average of the newest firings.
    pub expected: Case,
    /// If every slot becomes a firing that costs all that one may.
    pub worst: Case,
    /// Usage windows that would end, earliest first.
    pub windows: Vec<WindowEnd>,
}

/// All roles together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// What they cost within the purses, as far as it is known.
    pub usd: f64,
    /// The roles of whose money nothing is known, or that nothing bounds: they are not in the sum.
    pub without: Vec<RoleName>,
    /// Purses that end, earliest first.
    pub ends: Vec<Ended>,
}

/// One role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleForecast {
    /// Which.
    pub role: RoleName,
    /// How often it is due.
    pub slots: u32,
    /// What keeps it from firing now.
    pub stopped: Option<Stopped>,
    /// What its newest firings were.
    pub history: History,
    /// Why nothing is expected of its money.
    pub too_little: Option<TooLittle>,
    /// At the average of these.
    pub expected: Sum,
    /// If every slot becomes a firing that costs all that one may.
    pub worst: Sum,
}

/// Firings of a role and their money.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sum {
    /// How many there are.
    pub firings: u32,
    /// What one costs; unknown, or without a bound.
    pub each_usd: Option<f64>,
    /// What they would cost if no purse ended.
    pub wanted_usd: Option<f64>,
    /// What they cost within the purses.
    pub usd: Option<f64>,
}

/// What a role would do in one of the two cases.
struct Plan<'f> {
    facts: &'f RoleFacts,
    picks: Vec<DateTime<Utc>>,
    /// What one firing costs; unknown, or infinite.
    each: Option<f64>,
}

impl Night {
    /// The forecast. No sum is negative, and none exceeds what the purses hold.
    #[must_use]
    pub fn forecast(&self) -> Forecast {
        let plans = |plan: fn(&RoleFacts) -> Plan<'_>| self.roles.iter().map(plan).collect();
        let (likely, worst): (Vec<Plan<'_>>, Vec<Plan<'_>>) = (plans(likely), plans(worst));
        let (expected, expected_sums) = self.case(&likely);
        let (at_worst, worst_sums) = self.case(&worst);
        let sums = expected_sums.into_iter().zip(worst_sums);
        let roles = self.roles.iter().zip(sums);
        let roles = roles.map(|(facts, (expected, worst))| RoleForecast {
            role: facts.role.clone(),
            slots: count(facts.slots.len()),
            stopped: facts.stopped.clone(),
            history: facts.history,
            too_little: each_usd(facts).err(),
            expected,
            worst,
        });
        Forecast {
            from: self.from,
            until: self.until,
            roles: roles.collect(),
            expected,
            worst: at_worst,
            windows: self.windows_that_end(&likely),
        }
    }

    /// All firings of a case in the order of time, and what they take from the purses.
    fn case(&self, plans: &[Plan<'_>]) -> (Case, Vec<Sum>) {
        let mut all: Vec<(usize, Pick<'_>)> = Vec::new();
        for (index, plan) in plans.iter().enumerate() {
            let Some(usd) = plan.each else { continue };
            let role = &plan.facts.role;
            let pick = |at: &DateTime<Utc>| (index, Pick { at: *at, role, usd });
            all.extend(plan.picks.iter().map(pick));
        }
        all.sort_by_key(|(index, pick)| (pick.at, *index));
        let picks: Vec<Pick<'_>> = all.iter().map(|(_, pick)| *pick).collect();
        let (taken, ends) = drawn(&picks, &self.purses);
        let mut of_role = vec![0.0; plans.len()];
        for ((index, _), usd) in all.iter().zip(taken) {
            of_role[*index] += usd;
        }
        let sums: Vec<Sum> = plans.iter().zip(of_role).map(Plan::sum).collect();
        let without = plans.iter().zip(&sums);
        let without = without.filter(|(plan, sum)| !plan.picks.is_empty() && sum.usd.is_none());
        let case = Case {
            usd: sums.iter().filter_map(|sum| sum.usd).sum(),
            without: without.map(|(plan, _)| plan.facts.role.clone()).collect(),
            ends,
        };
        (case, sums)
    }

    /// What the firings take that will begin with this account before `until`, and those of these roles that run now,
    /// each of which counts whole.
    ///
    /// # Errors
    /// The first role of which nobody knows that.
    pub fn due(
        &self,
        account: &AccountName,
        until: DateTime<Utc>,
        running: &[RoleName],
    ) -> Result<Due, RoleName> {
        let mut due = Due::default();
        let own = |facts: &&RoleFacts| facts.asks_models && facts.account.as_ref() == Some(account);
        for facts in self.roles.iter().filter(own) {
            let picks = picks(facts, facts.history.each_runs());
            let begin = picks.into_iter().filter(|at| *at < until).count();
            let run = usize::from(running.contains(&facts.role));
            let firings = count(begin + run);
            if firings > 0 && facts.history.firings == 0 {
                return Err(facts.role.clone());
            }
            due.firings += firings;
            due.tokens += f64::from(firings) * facts.history.each_tokens();
        }
        Ok(due)
    }

    fn windows_that_end(&self, plans: &[Plan<'_>]) -> Vec<WindowEnd> {
        let mut firings: Vec<(DateTime<Utc>, &RoleFacts)> = plans
            .iter()
            .flat_map(|plan| plan.picks.iter().map(|at| (*at, plan.facts)))
            .collect();
        firings.sort_by_key(|(at, _)| *at);
        let windows = self.windows.iter();
        let mut ends: Vec<WindowEnd> = windows
            .filter_map(|window| windows::end(window, &firings))
            .collect();
        ends.sort_by_key(|end| end.at);
        ends
    }
}

impl Plan<'_> {
    fn sum((plan, usd): (&Self, f64)) -> Sum {
        let firings = count(plan.picks.len());
        let bounded = |usd: f64| usd.is_finite().then_some(usd);
        let wanted = plan.each.map(|each| match firings {
            0 => 0.0,
            firings => each * f64::from(firings),
        });
        Sum {
            firings,
            each_usd: plan.each.and_then(bounded),
            wanted_usd: wanted.and_then(bounded),
            usd: plan.each.and_then(|_| bounded(usd)),
        }
    }
}

/// As the newest firings were. A bound that they exceeded holds the next ones.
fn likely(facts: &RoleFacts) -> Plan<'_> {
    let most = most_usd(facts);
    Plan {
        facts,
        picks: picks(facts, facts.history.each_runs()),
        each: each_usd(facts).ok().map(|each| each.min(most)),
    }
}

/// Every slot, at all that it may cost.
fn worst(facts: &RoleFacts) -> Plan<'_> {
    Plan {
        facts,
        picks: picks(facts, TimeDelta::zero()),
        each: Some(most_usd(facts)),
    }
}

fn each_usd(facts: &RoleFacts) -> Result<f64, TooLittle> {
    match facts.asks_models {
        true => facts.history.each_usd(),
        false => Ok(0.0),
    }
}

fn most_usd(facts: &RoleFacts) -> f64 {
    match facts.asks_models {
        true => facts.max_cost_usd.map_or(f64::INFINITY, |max| max.max(0.0)),
        false => 0.0,
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
