//! The list.

use std::collections::BTreeMap;

use carson_core::Outcome;
use carson_store::{BOUNDS, UsedBy};
use chrono::{DateTime, Utc};

use super::exposition::{Kind, Sample};
use super::facts::Facts;
use crate::daemons::Life;

/// A metric: what a name means.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// What kind of number it is.
    pub kind: Kind,
    /// What it says, in one line.
    pub what: &'static str,
    /// Its labels; a histogram has `le` beside these.
    pub labels: &'static [&'static str],
    pub(super) of: fn(&Facts) -> Vec<Sample>,
}

/// Every metric there is. docs/LOGGING.md has the same table, and the dashboard uses no other.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "carson_build_info",
        kind: Kind::Gauge,
        what: "Always 1; which Carson answers, and which database it stands on.",
        labels: &["store", "version"],
        of: |facts| {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let labels = [("version", version), ("store", facts.store.to_owned())];
            vec![sample(labels, 1.0)]
        },
    },
    Metric {
        name: "carson_daemon_up",
        kind: Kind::Gauge,
        what: "Whether the daemon of this host runs.",
        labels: &[],
        of: |facts| vec![sample([], f64::from(u8::from(here(facts).is_some())))],
    },
    Metric {
        name: "carson_daemons",
        kind: Kind::Gauge,
        what: "Hosts whose daemons run.",
        labels: &[],
        of: |facts| {
            let hosts = facts.seen.hosts.iter();
            let run = hosts.filter(|daemon| daemon.life == Life::Runs);
            vec![sample([], number(run.count()))]
        },
    },
    Metric {
        name: "carson_daemon_beat_timestamp_seconds",
        kind: Kind::Gauge,
        what: "When the daemon of this host said last that it lives.",
        labels: &[],
        of: |facts| {
            let beat = here(facts).map(|at| sample([], seconds(at)));
            beat.into_iter().collect()
        },
    },
    Metric {
        name: "carson_firings_total",
        kind: Kind::Counter,
        what: "Firings that ended, skipped slots among them.",
        labels: &["outcome", "role"],
        of: firings,
    },
    Metric {
        name: "carson_firings_running",
        kind: Kind::Gauge,
        what: "Firings that run, on all hosts.",
        labels: &["role"],
        of: |facts| {
            let running = facts.seen.running.iter();
            per_role(
                facts,
                running.map(|firing| (facts.role(firing.role.as_str()), 1.0)),
            )
        },
    },
    Metric {
        name: "carson_firing_duration_seconds",
        kind: Kind::Histogram,
        what: "How long firings took that had a session, from the start of their process to their end.",
        labels: &["role"],
        of: durations,
    },
    Metric {
        name: "carson_sessions_total",
        kind: Kind::Counter,
        what: "Sessions of agent CLIs.",
        labels: &["account", "role"],
        of: |facts| used(facts, |row| f64::from(row.used.sessions)),
    },
    Metric {
        name: "carson_turns_total",
        kind: Kind::Counter,
        what: "Turns of sessions.",
        labels: &["account", "role"],
        of: |facts| used(facts, |row| f64::from(row.used.turns)),
    },
    Metric {
        name: "carson_tokens_total",
        kind: Kind::Counter,
        what: "Tokens of sessions, in and out.",
        labels: &["account", "role"],
        of: |facts| used(facts, |row| whole(row.used.tokens)),
    },
    Metric {
        name: "carson_cost_usd_total",
        kind: Kind::Counter,
        what: "Money of sessions in US dollars, as far as it is known; some of it may be priced from tokens.",
        labels: &["account", "role"],
        of: |facts| used(facts, |row| row.used.cost_usd.unwrap_or(0.0)),
    },
    Metric {
        name: "carson_sessions_without_cost_total",
        kind: Kind::Counter,
        what: "Sessions whose cost nobody told.",
        labels: &["account", "role"],
        of: |facts| used(facts, |row| f64::from(row.used.untold)),
    },
    Metric {
        name: "carson_stops",
        kind: Kind::Gauge,
        what: "Stops that stand, by kind; room is a disk without any.",
        labels: &["kind"],
        of: stops,
    },
    Metric {
        name: "carson_breaker_streak",
        kind: Kind::Gauge,
        what: "Bad outcomes in a row.",
        labels: &["role"],
        of: |facts| {
            let roles = facts.seen.roles.iter();
            roles
                .map(|role| sample([("role", role.name.to_string())], f64::from(role.streak)))
                .collect()
        },
    },
    Metric {
        name: "carson_queue_depth",
        kind: Kind::Gauge,
        what: "Issues that a role may take, where all its forges lie on this machine; no other forge is asked.",
        labels: &["role"],
        of: |facts| {
            let ready = facts.ready.iter();
            ready
                .map(|(role, issues)| sample([("role", role.to_string())], number(*issues)))
                .collect()
        },
    },
    Metric {
        name: "carson_outbox_pending",
        kind: Kind::Gauge,
        what: "Posts that a sink did not get yet.",
        labels: &["sink"],
        of: |facts| {
            let sinks = facts.seen.sinks.iter();
            let waiting = sinks.map(|sink| {
                let posts = u32::try_from(sink.waiting).unwrap_or(u32::MAX);
                (facts.sink(&sink.name), f64::from(posts))
            });
            summed("sink", waiting)
        },
    },
    Metric {
        name: "carson_effects_owed",
        kind: Kind::Gauge,
        what: "What ended firings still owe the forge.",
        labels: &[],
        of: |facts| vec![sample([], number(facts.seen.owed.len()))],
    },
    Metric {
        name: "carson_workspaces_stuck",
        kind: Kind::Gauge,
        what: "Workspaces of this host that cannot be cleared away.",
        labels: &[],
        of: |facts| vec![sample([], number(facts.seen.stuck.len()))],
    },
    Metric {
        name: "carson_job_failures",
        kind: Kind::Gauge,
        what: "Housekeeping jobs of all hosts whose last run failed.",
        labels: &[],
        of: |facts| {
            let failed = facts.seen.jobs.iter().filter(|job| job.failures > 0);
            vec![sample([], number(failed.count()))]
        },
    },
    Metric {
        name: "carson_last_slot_timestamp_seconds",
        kind: Kind::Gauge,
        what: "The slot that a role claimed last.",
        labels: &["role"],
        of: |facts| {
            let slots = facts.last_slots.iter();
            slots
                .map(|(role, slot)| sample([("role", role.to_string())], seconds(*slot)))
                .collect()
        },
    },
    Metric {
        name: "carson_next_slot_timestamp_seconds",
        kind: Kind::Gauge,
        what: "When a role fires next, at the earliest.",
        labels: &["role"],
        of: |facts| {
            let roles = facts.seen.roles.iter();
            roles
                .filter_map(|role| Some((role, role.next.as_ref()?.at)))
                .map(|(role, at)| sample([("role", role.name.to_string())], seconds(at)))
                .collect()
        },
    },
    Metric {
        name: "carson_account_used_ratio",
        kind: Kind::Gauge,
        what: "How much of an account's fullest usage window is used, from 0 to 1.",
        labels: &["account"],
        of: |facts| {
            let mut fullest = BTreeMap::<String, f64>::new();
            for window in &facts.seen.windows {
                let of = fullest
                    .entry(facts.account(window.account.as_str()))
                    .or_default();
                *of = of.max(window.utilization);
            }
            let fullest = fullest.into_iter();
            fullest
                .map(|(account, used)| sample([("account", account)], used))
                .collect()
        },
    },
    Metric {
        name: "carson_spent_today_usd",
        kind: Kind::Gauge,
        what: "Money of all roles in this day of the fleet's zone, in US dollars.",
        labels: &[],
        of: |facts| vec![sample([], facts.seen.spent_today)],
    },
    Metric {
        name: "carson_db_bytes",
        kind: Kind::Gauge,
        what: "What the database takes.",
        labels: &[],
        of: |facts| {
            let bytes = facts.bytes.map(|bytes| sample([], whole(bytes)));
            bytes.into_iter().collect()
        },
    },
];

fn sample<const N: usize>(labels: [(&'static str, String); N], value: f64) -> Sample {
    Sample {
        suffix: "",
        labels: labels.into(),
        value,
    }
}

fn number(count: usize) -> f64 {
    whole(count as u64)
}

/// Beyond 2^53 the last digits are lost, as in every metric.
fn whole(count: u64) -> f64 {
    count as f64
}

fn seconds(at: DateTime<Utc>) -> f64 {
    whole(at.timestamp_millis().max(0).unsigned_abs()) / 1_000.0
}

/// When the daemon of this host was heard of, if it runs.
fn here(facts: &Facts) -> Option<DateTime<Utc>> {
    let mut hosts = facts.seen.hosts.iter();
    let is_here = |name: &str| name == facts.seen.host.as_str();
    let here = hosts.find(|daemon| daemon.life == Life::Runs && is_here(&daemon.row.name));
    here.map(|daemon| daemon.row.beat_at)
}

/// The sum of each value of a label.
fn summed(label: &'static str, each: impl Iterator<Item = (String, f64)>) -> Vec<Sample> {
    let mut sums = BTreeMap::<String, f64>::new();
    for (name, value) in each {
        *sums.entry(name).or_default() += value;
    }
    let sums = sums.into_iter();
    sums.map(|(name, value)| sample([(label, name)], value))
        .collect()
}

/// The same by role; those of the settings are there in any case.
fn per_role(facts: &Facts, each: impl Iterator<Item = (String, f64)>) -> Vec<Sample> {
    let none = facts.fleet.roles.keys().map(|role| (role.to_string(), 0.0));
    summed("role", none.chain(each))
}

/// Every outcome of each role of the settings is there from the beginning: an increase from nothing is seen.
fn firings(facts: &Facts) -> Vec<Sample> {
    let mut counts = BTreeMap::<(String, &str), f64>::new();
    for role in facts.fleet.roles.keys() {
        for outcome in Outcome::ALL {
            counts.insert((role.to_string(), outcome.as_str()), 0.0);
        }
    }
    for row in &facts.ended {
        // A newer Carson may know more of them.
        let outcome = row.outcome.parse().map_or("other", Outcome::as_str);
        let firings = whole(row.firings.unsigned_abs());
        *counts.entry((facts.role(&row.role), outcome)).or_default() += firings;
    }
    let counts = counts.into_iter();
    counts
        .map(|((role, outcome), firings)| {
            sample([("role", role), ("outcome", outcome.to_owned())], firings)
        })
        .collect()
}

fn used(facts: &Facts, what: fn(&UsedBy) -> f64) -> Vec<Sample> {
    let mut sums = BTreeMap::<(String, String), f64>::new();
    for row in &facts.used {
        let role = facts.role(row.role.as_str());
        let account = facts.account(row.used.account.as_str());
        *sums.entry((role, account)).or_default() += what(row);
    }
    let sums = sums.into_iter();
    sums.map(|((role, account), sum)| sample([("role", role), ("account", account)], sum))
        .collect()
}

fn stops(facts: &Facts) -> Vec<Sample> {
    let (seen, now) = (&facts.seen, facts.seen.now);
    let pauses = seen.pauses.iter();
    let pauses = pauses.filter(|row| row.until.is_none_or(|until| now < until));
    let breakers = seen.roles.iter().filter(|role| role.breaker.is_some());
    let known = [
        ("pause", pauses.count()),
        ("block", seen.blocks.len()),
        ("breaker", breakers.count()),
        ("room", usize::from(seen.no_room.is_some())),
        ("budget", 0),
        ("daily-cap", 0),
        ("open-prs", 0),
        ("review-minutes", 0),
    ];
    let known = known.map(|(kind, stops)| (kind.to_owned(), number(stops)));
    let of_roles = seen.role_stops.iter();
    let of_roles = of_roles.map(|stop| (stop.stop.as_str().to_owned(), 1.0));
    summed("kind", known.into_iter().chain(of_roles))
}

fn durations(facts: &Facts) -> Vec<Sample> {
    let mut roles = BTreeMap::<String, ([f64; BOUNDS.len() + 1], f64)>::new();
    for role in facts.fleet.roles.keys() {
        roles.entry(role.to_string()).or_default();
    }
    for row in &facts.lasted {
        let (counts, sum) = roles.entry(facts.role(&row.role)).or_default();
        let at = usize::try_from(row.bound).unwrap_or(BOUNDS.len());
        if let Some(count) = counts.get_mut(at) {
            *count += whole(row.firings.unsigned_abs());
        }
        *sum += row.seconds;
    }
    let all = roles.into_iter();
    all.flat_map(|(role, (counts, sum))| histogram(&role, &counts, sum))
        .collect()
}

fn histogram(role: &str, counts: &[f64], sum: f64) -> Vec<Sample> {
    let named = |suffix, bound: Option<String>, value| {
        let role = ("role", role.to_owned());
        let labels = [role].into_iter().chain(bound.map(|bound| ("le", bound)));
        Sample {
            suffix,
            labels: labels.collect(),
            value,
        }
    };
    let bounds = BOUNDS.iter().map(ToString::to_string);
    let bounds = bounds.chain(["+Inf".to_owned()]);
    let mut so_far = 0.0;
    let mut samples: Vec<Sample> = bounds
        .zip(counts)
        .map(|(bound, count)| {
            so_far += count;
            named("_bucket", Some(bound), so_far)
        })
        .collect();
    samples.push(named("_sum", None, sum));
    samples.push(named("_count", None, so_far));
    samples
}
