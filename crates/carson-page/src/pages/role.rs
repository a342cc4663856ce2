//! One role.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use carson_config::format_duration;
use carson_operator::Ask;
use carson_operator::firings::Older;
use carson_operator::roles::Show;
use carson_operator::timeline::Timeline;
use carson_operator::why::{OfRole, Reasons, Why};

use super::roles::worst;
use super::rows::{FiringRow, change};
use crate::chart;
use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::text::{part, usd};

/// Its newest firings that are shown.
const NEWEST: u32 = 20;

/// The firings of its timeline.
const MARKS: u32 = 120;

#[derive(Template)]
#[template(path = "role.html")]
struct Page {
    frame: Frame,
    part: String,
    verdict: String,
    next: String,
    stops: Vec<(String, String, String)>,
    facts: Vec<(&'static str, String)>,
    chart: chart::Timeline,
    rows: Vec<FiringRow>,
    has_streak: bool,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Path(name): Path<String>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let summary = Show { role: name.clone() }.answer(&home).await?;
    let reasons = Why { what: name.clone() }.answer(&home).await?;
    let Reasons::Role(reasons) = reasons else {
        return Err(Fault::nowhere());
    };
    let ask = Timeline {
        roles: vec![name.clone()],
        since: "7d".to_owned(),
        until: None,
        limit: MARKS,
    };
    let span = ask.answer(&home).await?;
    let ask = Older {
        role: Some(name.clone()),
        before: None,
        limit: NEWEST,
    };
    let newest = ask.answer(&home).await?;
    let frame = Frame::of((&desk, &home), &signed, ("/roles", name.clone()));
    let role = &summary.role;
    let limits = &role.limits;
    let list = |all: Vec<String>| all.join(", ");
    let facts = vec![
        ("Kind of work", role.title.clone()),
        (
            "Fires",
            format!(
                "{} ({})",
                role.cadence_lines.join(" · "),
                role.cadence.zone().name()
            ),
        ),
        (
            "Repositories",
            list(role.repos.iter().map(ToString::to_string).collect()),
        ),
        (
            "Accounts",
            list(role.engines.iter().map(ToString::to_string).collect()),
        ),
        (
            "Stages",
            list(role.stages.iter().map(ToString::to_string).collect()),
        ),
        (
            "Today",
            format!(
                "{} of {} firings, {}",
                reasons.fired_today,
                reasons.max_per_day,
                usd(reasons.spent_today, reasons.spent_estimated)
            ),
        ),
        (
            "Bad outcomes in a row",
            format!("{} of {}", reasons.streak, reasons.fail_streak),
        ),
        ("A day at worst", worst(&summary)),
        (
            "A firing at worst",
            format!(
                "{}, {}",
                limits
                    .max_cost_usd
                    .map_or("money without a bound".to_owned(), |most| format!(
                        "${most:.2}"
                    )),
                format_duration(limits.wall_clock)
            ),
        ),
    ];
    let page = Page {
        part: part(&name),
        verdict: reasons.verdict.clone(),
        next: next(&frame, &reasons),
        stops: stops(&frame, &reasons),
        facts,
        chart: chart::Timeline::of(&frame.zone, &span),
        rows: newest
            .iter()
            .map(|row| FiringRow::of(&frame.zone, row))
            .collect(),
        has_streak: reasons.streak > 0 || reasons.breaker.is_open(),
        frame,
    };
    whole(&home, &page)
}

fn next(frame: &Frame, reasons: &OfRole) -> String {
    let next = reasons.next.as_ref();
    next.map_or("not by itself".to_owned(), |next| {
        format!("{} ({})", next.shown, frame.zone.ago(next.at))
    })
}

/// What stands in its way, until when, and what would change it.
pub(super) fn stops(frame: &Frame, reasons: &OfRole) -> Vec<(String, String, String)> {
    let one = |stop: &carson_operator::why::Stop| {
        let until = stop
            .until
            .map(|until| format!(" ({})", frame.zone.until(Some(until))));
        let why = format!("{}{}", stop.why, until.unwrap_or_default());
        (stop.stop.to_owned(), why, change(&stop.change))
    };
    reasons.stops.iter().map(one).collect()
}
