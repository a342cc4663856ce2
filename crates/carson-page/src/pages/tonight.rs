//! What fired tonight, what runs, and what it costs.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use carson_home::Home;
use carson_operator::Ask;
use carson_operator::daemons::Life;
use carson_operator::firings::List;
use carson_operator::status::{RoleLine, Seen, Status};
use carson_operator::timeline;
use serde::Deserialize;

use super::rows::FiringRow;
use crate::chart;
use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, early};
use crate::guard::Signed;
use crate::mark::{Badge, MARKS};
use crate::text::{Zone, usd};

/// The spans that can be chosen.
const SPANS: [&str; 5] = ["6h", "12h", "24h", "3d", "7d"];

/// So many roles stand in the timeline at once: what a browser paints at once, however large a fleet is.
const LANES: usize = 12;
/// Firings of the timeline, shared out among them.
const MARKS_IN_ALL: usize = 144;

/// So many newest firings stand below the timeline, too.
const NEWEST: u32 = 12;

#[derive(Deserialize)]
pub(crate) struct Asked {
    since: Option<String>,
    /// How many roles are passed over.
    after: Option<usize>,
}

#[derive(Template)]
#[template(path = "tonight.html", block = "main")]
struct Tonight {
    since: &'static str,
    spans: Vec<(&'static str, bool)>,
    chart: chart::Timeline,
    others: Vec<(usize, String)>,
    legend: Vec<Badge>,
    running: Vec<FiringRow>,
    newest: Vec<FiringRow>,
    spent: String,
    stops: usize,
    next: Option<(String, String)>,
    daemon: Option<String>,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let since = asked.since.as_deref().unwrap_or(timeline::SINCE);
    let Some(since) = SPANS.into_iter().find(|span| *span == since) else {
        return Err(Fault::asked(format!(
            "since is one of {}",
            SPANS.join(", ")
        )));
    };
    let (roles, after) = (home.fleet.roles.len(), asked.after.unwrap_or(0));
    if after > 0 && after >= roles {
        let said = format!("after is less than the number of roles, {roles}");
        return Err(Fault::asked(said));
    }
    let frame = Frame::of((&desk, &home), &signed, ("/", "Tonight"));
    let main = tonight(home.clone(), frame.zone, (since, after));
    early(home, &frame, main)
}

/// What it is about: what stands below its head.
async fn tonight(
    home: Home,
    zone: Zone,
    (since, after): (&'static str, usize),
) -> Result<String, Fault> {
    let newest = List {
        role: None,
        since: Some(since.to_owned()),
        all: false,
        outcome: None,
        limit: NEWEST,
    };
    // They wait for the database, each on a connection of its own.
    let (seen, newest) = tokio::try_join!(Status {}.answer(&home), newest.answer(&home))?;
    let ordered = trouble_first(&seen.roles);
    let lanes = ordered.iter().skip(after).take(LANES);
    let roles: Vec<String> = lanes.map(|role| role.name.to_string()).collect();
    let span = timeline::Timeline {
        limit: limit(roles.len()),
        roles,
        since: since.to_owned(),
        until: None,
    };
    let span = span.answer(&home).await?;
    let next = seen
        .roles
        .iter()
        .filter_map(|role| Some((role.next.as_ref()?.at, &role.name)));
    let next = next.min().map(|(at, role)| {
        (
            role.to_string(),
            format!("{} ({})", zone.at(at), zone.ago(at)),
        )
    });
    let tonight = Tonight {
        since,
        others: others(ordered.len(), after),
        spans: SPANS.map(|span| (span, span == since)).into(),
        chart: chart::Timeline::of(&zone, &span),
        legend: legend(),
        running: seen
            .running
            .iter()
            .map(|row| FiringRow::of(&zone, row))
            .collect(),
        newest: newest.iter().map(|row| FiringRow::of(&zone, row)).collect(),
        spent: spent(&home, &seen),
        stops: stops(&seen),
        next,
        daemon: no_daemon(&seen),
    };
    tonight.render().map_err(Fault::template)
}

fn limit(lanes: usize) -> u32 {
    let share = u32::try_from(MARKS_IN_ALL / lanes.max(1)).unwrap_or(u32::MAX);
    share.min(timeline::LIMIT)
}

/// Those that run or went wrong first, else in the order of their names.
fn trouble_first(roles: &[RoleLine]) -> Vec<&RoleLine> {
    let is_well = |role: &&RoleLine| {
        let runs = role
            .last
            .as_ref()
            .is_some_and(|last| last.outcome.is_none());
        !runs && role.breaker.is_none() && role.streak == 0
    };
    let mut all: Vec<&RoleLine> = roles.iter().collect();
    all.sort_by_key(is_well);
    all
}

/// Where the other roles stand: after how many, and which those are.
fn others(roles: usize, after: usize) -> Vec<(usize, String)> {
    let parts = (0..roles).step_by(LANES).filter(|begin| *begin != after);
    let said = |begin: usize| format!("{} to {}", begin + 1, (begin + LANES).min(roles));
    parts.map(|begin| (begin, said(begin))).collect()
}

fn legend() -> Vec<Badge> {
    let all = carson_core::Outcome::ALL
        .map(Some)
        .into_iter()
        .chain([None]);
    let of = |mark: &str| {
        all.clone()
            .find(|outcome| crate::mark::mark(*outcome) == mark)
    };
    let badge = |(mark, word): &(&'static str, &str)| {
        Badge::of_outcome(of(mark).flatten(), (*word).to_owned())
    };
    MARKS.iter().map(badge).collect()
}

fn spent(home: &Home, seen: &Seen) -> String {
    let spent = usd(seen.spent_today, seen.spent_estimated);
    match home.fleet.max_cost_usd_per_day {
        Some(most) => format!("{spent} of ${most:.2}"),
        None => format!("{spent}, without a limit for all roles"),
    }
}

/// How much of what the page of stops has stands now.
fn stops(seen: &Seen) -> usize {
    let pauses = seen
        .pauses
        .iter()
        .filter(|row| row.until.is_none_or(|until| seen.now < until));
    let open = seen.breakers.iter().filter(|row| row.breaker.is_open());
    pauses.count()
        + open.count()
        + seen.blocks.len()
        + seen.role_stops.len()
        + usize::from(seen.no_room.is_some())
}

/// Why nothing fires by itself, where no daemon runs.
fn no_daemon(seen: &Seen) -> Option<String> {
    if seen.hosts.iter().any(|daemon| daemon.life == Life::Runs) {
        return None;
    }
    Some("No daemon runs: nothing fires by itself until `carson daemon` is started.".to_owned())
}

#[cfg(test)]
mod tests {
    use carson_operator::status::{Last, Open};

    use super::*;

    fn line(name: &str) -> RoleLine {
        RoleLine {
            name: name.parse().unwrap(),
            next: None,
            breaker: None,
            last: None,
            streak: 0,
        }
    }

    #[test]
    fn roles_that_run_or_went_wrong_come_first_and_else_their_names_count() {
        let mut all = ["a", "b", "c", "d", "e"].map(line);
        all[1].streak = 1;
        all[3].last = Some(Last {
            firing: carson_core::FiringId::new(),
            outcome: None,
            at: chrono::DateTime::UNIX_EPOCH,
            state: String::new(),
        });
        all[4].breaker = Some(Open {
            until: None,
            why: String::new(),
        });
        let order: Vec<&str> = trouble_first(&all)
            .into_iter()
            .map(|role| role.name.as_str())
            .collect();
        assert_eq!(order, ["b", "d", "e", "a", "c"]);
    }

    #[test]
    fn a_timeline_has_few_lanes_whatever_the_fleet_and_leads_to_the_others() {
        assert!(others(0, 0).is_empty() && others(LANES, 0).is_empty());
        let said = |roles, after| -> Vec<String> {
            let all = others(roles, after).into_iter();
            all.map(|(after, said)| format!("{after}: {said}"))
                .collect()
        };
        assert_eq!(said(30, 0), ["12: 13 to 24", "24: 25 to 30"]);
        assert_eq!(said(30, 12), ["0: 1 to 12", "24: 25 to 30"]);
        for lanes in 0..=LANES {
            let marks = limit(lanes) as usize * lanes;
            assert!(marks <= MARKS_IN_ALL, "{lanes} lanes have {marks} marks");
        }
        assert_eq!(limit(1), timeline::LIMIT);
    }
}
