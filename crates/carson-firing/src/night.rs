//! What a forecast is made from, gathered.

mod past;
mod spans;

use carson_config::{Priority, Role};
use carson_core::AccountName;
use carson_core::admission::{Budget, Gate, UsageWindow, admit_account};
use carson_core::forecast::{Cap, Night, Purse, RoleFacts, Stopped, WindowFacts};
use carson_core::stops;
use carson_home::Home;
use carson_home::calendar::{day_of, month_of};
use carson_store::StoreError;
use chrono::{DateTime, TimeDelta, Utc};

use self::spans::over;
use crate::admit;

pub use self::spans::morning;

/// Slots of one role that are looked at: one a minute, for a day.
const SLOTS: usize = 24 * 60;

/// Stops that are over when something else changes than what a forecast counts by itself.
const STANDING: [&str; 4] = ["pause", "block", "forge-limit", "breaker"];

/// What lies ahead until then: the night, or a part of it.
///
/// # Errors
/// When the store does not answer.
pub async fn night(
    home: &Home,
    windows: Vec<UsageWindow>,
    (now, until): (DateTime<Utc>, DateTime<Utc>),
) -> Result<Night, StoreError> {
    let roles: Vec<&Role> = home
        .fleet
        .roles
        .values()
        .filter(|role| role.enabled)
        .collect();
    let gates = admit::gates(home, &roles, now).await?;
    let mut histories = past::histories(home, &roles, now).await?;
    let mut facts = Vec::new();
    let mut purses = Vec::new();
    for (role, gate) in roles.into_iter().zip(&gates) {
        facts.push(RoleFacts {
            history: histories.remove(&role.name).unwrap_or_default(),
            ..facts_of(role, gate, now, until)
        });
        let own = gate.budgets.iter().filter(|budget| !is_fleets(budget));
        purses.extend(own.flat_map(|budget| {
            let day = |at| day_of(gate.zone, at);
            in_each(budget, Some(role), over(day, now, until))
        }));
    }
    // They are the same in every gate.
    let fleets = gates.first().into_iter().flat_map(|gate| &gate.budgets);
    purses.extend(
        fleets
            .filter(|budget| is_fleets(budget))
            .flat_map(|budget| {
                let zone = home.fleet.zone;
                let periods = match budget.key.ends_with("month") {
                    true => over(|at| month_of(zone, at), now, until),
                    false => over(|at| day_of(zone, at), now, until),
                };
                in_each(budget, None, periods)
            }),
    );
    Ok(Night {
        from: now,
        until,
        roles: facts,
        purses,
        windows: window_facts(home, windows, now).await?,
    })
}

fn is_fleets(budget: &Budget) -> bool {
    budget.key.starts_with("fleet.")
}

/// The budget in the time that runs, and whole again in those after it.
fn in_each(
    budget: &Budget,
    role: Option<&Role>,
    periods: Vec<(DateTime<Utc>, DateTime<Utc>)>,
) -> Vec<Purse> {
    let purse = |(index, (from, to))| Purse {
        role: role.map(|role| role.name.clone()),
        from,
        to,
        budget: match index {
            0 => budget.clone(),
            _ => Budget {
                spent: 0.0,
                estimated: false,
                ..budget.clone()
            },
        },
    };
    periods.into_iter().enumerate().map(purse).collect()
}

fn facts_of(role: &Role, gate: &Gate, now: DateTime<Utc>, until: DateTime<Utc>) -> RoleFacts {
    let free = admit_account(&gate.accounts, &gate.blocks, now).ok();
    RoleFacts {
        role: role.name.clone(),
        slots: slots(role, now, until),
        caps: caps(role, gate, now, until),
        stopped: stopped(gate, now),
        history: Default::default(),
        asks_models: gate.asks_models,
        max_cost_usd: role.limits.max_cost_usd,
        account: free.or_else(|| gate.accounts.first().cloned()),
        is_low: role.priority == Priority::Low,
    }
}

fn slots(role: &Role, now: DateTime<Utc>, until: DateTime<Utc>) -> Vec<DateTime<Utc>> {
    let next = |at: &DateTime<Utc>| role.cadence.next_after(*at);
    let all = std::iter::successors(role.cadence.next_after(now), next);
    all.take_while(|at| *at < until).take(SLOTS).collect()
}

fn caps(role: &Role, gate: &Gate, now: DateTime<Utc>, until: DateTime<Utc>) -> Vec<Cap> {
    let days = over(|at| day_of(role.cadence.zone(), at), now, until);
    let cap = |(index, (from, to))| Cap {
        from,
        to,
        left: match index {
            0 => gate.max_per_day.saturating_sub(gate.fired_today),
            _ => gate.max_per_day,
        },
        most: gate.max_per_day,
    };
    days.into_iter().enumerate().map(cap).collect()
}

/// What stands now and does not end by what is spent: the first of it, until all of it is over.
fn stopped(gate: &Gate, now: DateTime<Utc>) -> Option<Stopped> {
    let standing = stops::standing(gate, now);
    let standing = standing.filter(|stop| STANDING.contains(&stop.reason.kind().as_str()));
    let mut all: Option<Stopped> = None;
    for stop in standing {
        // Of several accounts the first that is free again is enough.
        let until = stop.causes.iter().filter_map(|cause| cause.until).min();
        all = Some(match all {
            None => Stopped {
                why: stop.reason.to_string(),
                until,
            },
            Some(first) => Stopped {
                until: first.until.zip(until).map(|(one, other)| one.max(other)),
                ..first
            },
        });
    }
    all
}

/// The windows that say something, and how fast each fills: what it was said to be used, by the tokens that
/// sessions took since it began.
async fn window_facts(
    home: &Home,
    windows: Vec<UsageWindow>,
    now: DateTime<Utc>,
) -> Result<Vec<WindowFacts>, StoreError> {
    let mut all = Vec::new();
    for window in windows.into_iter().filter(|window| window.stands(now)) {
        let Some(account) = home.fleet.accounts.get(&window.account) else {
            continue;
        };
        let length = WindowFacts::length_of(&window.name);
        let began = window
            .resets_at
            .zip(length)
            .map(|(resets, length)| resets - length);
        let per_token = match began {
            Some(began) => {
                let tokens = tokens(home, &window.account, (began, window.seen_at)).await?;
                (tokens > 0).then(|| window.utilization / tokens as f64)
            }
            None => None,
        };
        all.push(WindowFacts {
            window,
            length,
            per_token,
            warn_at: account.warn_at,
            reserve: account.reserve,
        });
    }
    Ok(all)
}

async fn tokens(
    home: &Home,
    account: &AccountName,
    (from, to): (DateTime<Utc>, DateTime<Utc>),
) -> Result<u64, StoreError> {
    let used = home.store.used((from, to + TimeDelta::seconds(1))).await?;
    let own = used.iter().filter(|row| row.used.account == *account);
    Ok(own.map(|row| row.used.tokens).sum())
}
