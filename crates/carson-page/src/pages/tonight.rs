//! What fired tonight, what runs, and what it costs.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use carson_operator::Ask;
use carson_operator::daemons::Life;
use carson_operator::firings::List;
use carson_operator::status::{Seen, Status};
use carson_operator::timeline;
use serde::Deserialize;

use super::rows::FiringRow;
use crate::chart;
use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::mark::{Badge, MARKS};
use crate::text::usd;

/// The spans that can be chosen.
const SPANS: [&str; 5] = ["6h", "12h", "24h", "3d", "7d"];

/// Firings of the timeline, shared out among the roles: a page of many roles is no larger than one of few.
const MARKS_IN_ALL: usize = 400;
/// The fewest of one role.
const FEWEST: u32 = 8;

/// So many newest firings stand below the timeline, too.
const NEWEST: u32 = 12;

#[derive(Deserialize)]
pub(crate) struct Asked {
    since: Option<String>,
}

#[derive(Template)]
#[template(path = "tonight.html")]
struct Tonight {
    frame: Frame,
    spans: Vec<(&'static str, bool)>,
    chart: chart::Timeline,
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
    let seen = Status {}.answer(&home).await?;
    let ask = timeline::Timeline {
        role: None,
        since: since.to_owned(),
        until: None,
        limit: limit(home.fleet.roles.len()),
    };
    let span = ask.answer(&home).await?;
    let ask = List {
        role: None,
        since: Some(since.to_owned()),
        all: false,
        limit: NEWEST,
    };
    let newest = ask.answer(&home).await?;
    let frame = Frame::of((&desk, &home), &signed, ("/", "Tonight"));
    let zone = frame.zone;
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
        spans: SPANS.map(|span| (span, span == since)).into(),
        chart: chart::Timeline::of(&zone, &span),
        legend: legend(),
        running: seen
            .running
            .iter()
            .map(|row| FiringRow::of(&frame, row))
            .collect(),
        newest: newest
            .iter()
            .map(|row| FiringRow::of(&frame, row))
            .collect(),
        spent: spent(&home, &seen),
        stops: stops(&seen),
        next,
        daemon: no_daemon(&seen),
        frame,
    };
    whole(&home, &tonight)
}

fn limit(roles: usize) -> u32 {
    let share = u32::try_from(MARKS_IN_ALL / roles.max(1)).unwrap_or(FEWEST);
    share.clamp(FEWEST, timeline::LIMIT)
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

fn spent(home: &carson_home::Home, seen: &Seen) -> String {
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
