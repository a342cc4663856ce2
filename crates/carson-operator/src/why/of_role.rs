//! What a role would do now.

use carson_config::Role;
use carson_core::admission::{Admission, Budget, Gate, UsageWindow, admit};
use carson_core::breaker::Breaker;
use carson_core::egress::EgressHost;
use carson_core::{RoleName, SkipKind};
use carson_firing::daemons::{Daemon, Life, daemons};
use carson_home::Home;
use carson_store::{Filter, Firing, PreflightRow, Store};
use chrono::{DateTime, Utc};
use serde::Serialize;

use super::stops::{self, Stop};
use crate::refusal::Refusal;
use crate::status::{Next, Open, next};

/// Whether a role fires now, and what stands in its way.
#[derive(Debug, Serialize)]
pub struct OfRole {
    /// When this was asked.
    #[serde(skip)]
    pub now: DateTime<Utc>,
    /// The role.
    pub role: RoleName,
    /// In one line. The first stop is the one that an operator wants to hear of.
    pub verdict: String,
    /// Its next slot.
    pub next: Option<Next>,
    /// Whether it has lines of a cadence, and none of them ever comes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub never_comes: bool,
    /// Whether the settings let it fire.
    pub enabled: bool,
    /// Firings of its day.
    pub fired_today: u32,
    /// How many it may have.
    pub max_per_day: u32,
    /// Bad outcomes in a row.
    pub streak: u32,
    /// How many open its breaker.
    pub fail_streak: u32,
    /// Its newest rows.
    pub last: Vec<Firing>,
    /// The hosts that its last firing was refused.
    pub refused_hosts: Vec<EgressHost>,
    /// Money of its day.
    pub spent_today: f64,
    /// Whether part of it was priced from tokens.
    pub spent_estimated: bool,
    /// Everything that keeps it from firing.
    pub stops: Vec<Stop>,
    /// Money that may be spent.
    pub budgets: Vec<Budget>,
    /// Its preflights that failed in a row, by host.
    pub preflights: Vec<PreflightRow>,
    /// Usage windows of its accounts.
    pub windows: Vec<UsageWindow>,
    /// Its breaker.
    pub breaker: Breaker,
    /// The next firing closes the breaker, or opens it anew.
    pub half_open: bool,
    /// Why no host may fire it that lives.
    pub nowhere: Option<String>,
    /// What it has for a second try, or why nothing, where it asks for that.
    pub spare: Option<String>,
}

pub(super) async fn reasons_of_role(home: &Home, role: &Role) -> Result<OfRole, Refusal> {
    let now = home.clock.now();
    let gate = carson_firing::admit::gate(home, role, now).await?;
    let filter = Filter {
        role: Some(role.name.clone()),
        since: None,
        skipped: true,
        outcome: None,
        limit: 5,
    };
    let last = home.store.firings(&filter).await?;
    let mut preflights = home.store.preflights().await?;
    preflights.retain(|row| row.role == role.name.as_str());
    let stops = stops::standing_stops(home, role, &gate, last.first(), now).await?;
    let may_try = gate.breaker.half_opens_at(gate.cooldown);
    let accounts = role.accounts();
    let is_of_role = |window: &UsageWindow| accounts.contains(&window.account);
    let open = open_breaker(&gate);
    Ok(OfRole {
        now,
        role: role.name.clone(),
        verdict: verdict(&gate, &stops, now),
        next: next(role, open.as_ref(), now),
        never_comes: !role.cadence_lines.is_empty() && role.cadence.is_never(),
        enabled: role.enabled,
        fired_today: gate.fired_today,
        max_per_day: gate.max_per_day,
        streak: gate.breaker.streak,
        fail_streak: role.limits.fail_streak,
        refused_hosts: refused(&home.store, last.first()).await?,
        last,
        spent_today: gate.spent_today.usd,
        spent_estimated: gate.spent_today.estimated,
        stops,
        budgets: gate.budgets,
        preflights,
        windows: gate
            .windows
            .into_iter()
            .filter(|window| is_of_role(window) && window.stands(now))
            .collect(),
        spare: carson_firing::second_try::left_over(home, role)
            .await?
            .map(|found| match found {
                Ok(spare) => spare.to_string(),
                Err(kept) => format!("nothing: {kept}"),
            }),
        nowhere: nowhere(home, role, now).await?,
        half_open: gate.breaker.is_open() && may_try.is_some_and(|at| now >= at),
        breaker: gate.breaker,
    })
}

/// A role that is for certain hosts needs one of them.
async fn nowhere(home: &Home, role: &Role, now: DateTime<Utc>) -> Result<Option<String>, Refusal> {
    if role.hosts.is_empty() || home.fleet.runs(role) {
        return Ok(None);
    }
    let is_one = |host: &Daemon| {
        let mut own = host.row.labels.split(' ').chain([host.row.name.as_str()]);
        host.life == Life::Runs && own.any(|name| role.hosts.iter().any(|asked| asked == name))
    };
    let hosts = daemons(home, now).await?;
    let labels = role.hosts.join(", ");
    Ok((!hosts.iter().any(is_one))
        .then(|| format!("no host that lives is called or labelled {labels}: it does not fire")))
}

/// The breaker that a role waits for.
pub(super) fn open_breaker(gate: &Gate) -> Option<Open> {
    gate.breaker.is_open().then(|| Open {
        until: gate.breaker.half_opens_at(gate.cooldown),
        why: gate.breaker.reason.clone().unwrap_or_default(),
    })
}

/// The hosts that a firing's sessions were refused.
async fn refused(store: &Store, row: Option<&Firing>) -> Result<Vec<EgressHost>, Refusal> {
    let Some(row) = row else {
        return Ok(Vec::new());
    };
    let mut hosts = store.egress(row.id).await?;
    hosts.retain(|host| host.refused > 0);
    Ok(hosts)
}

fn verdict(gate: &Gate, stops: &[Stop], now: DateTime<Utc>) -> String {
    let admission = admit(gate, now);
    let mut whole = stops.iter().filter(|stop| !stop.is_partial());
    let first = whole.next();
    match (&admission, first) {
        (Admission::Skip(reason), _) if reason.kind() == SkipKind::OVERLAP => {
            format!("it does not fire: {reason}")
        }
        (Admission::Skip(reason), _) => format!("it is stopped: {reason}"),
        (Admission::Wait(why), _) => format!("it waits: {why}"),
        (Admission::Admit(_), Some(stop)) if stop.is_idle() => {
            match whole.find(|other| !other.is_idle()) {
                Some(other) => format!(
                    "it does not fire ({}), and would find nothing to do: {}",
                    other.why, stop.why
                ),
                None => format!("it fires and finds nothing to do: {}", stop.why),
            }
        }
        (Admission::Admit(_), Some(stop)) => format!("it does not fire: {}", stop.why),
        (Admission::Admit(Some(account)), None) => {
            format!("it may fire now, with account {account}")
        }
        (Admission::Admit(None), None) => "it may fire now".to_owned(),
    }
}
