//! The roles: when they fire next, what stops them, what they may cost, how it went.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use carson_config::format_duration;
use carson_operator::Ask;
use carson_operator::roles::{List, Summary};
use carson_operator::status::{Seen, Status};

use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::mark::Badge;

#[derive(Template)]
#[template(path = "roles.html")]
struct Roles {
    frame: Frame,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    title: String,
    next: String,
    last: Option<(Badge, String, String)>,
    stops: Vec<String>,
    worst: String,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let roles = List {}.answer(&home).await?;
    let seen = Status {}.answer(&home).await?;
    let frame = Frame::of((&desk, &home), &signed, ("/roles", "Roles"));
    let rows = roles
        .iter()
        .map(|summary| row(&frame, &seen, summary))
        .collect();
    whole(&home, &Roles { frame, rows })
}

fn row(frame: &Frame, seen: &Seen, summary: &Summary) -> Row {
    let (role, zone) = (&summary.role, frame.zone);
    let line = seen.roles.iter().find(|line| line.name == role.name);
    let next = line.and_then(|line| line.next.as_ref());
    let last = line.and_then(|line| line.last.as_ref()).map(|last| {
        let badge = Badge::of_outcome(last.outcome, last.state.clone());
        (badge, zone.ago(last.at), last.firing.to_string())
    });
    Row {
        name: role.name.to_string(),
        title: role.title.clone(),
        next: match (role.enabled, next) {
            (false, _) => "never: it is disabled".to_owned(),
            (true, None) => "not by itself".to_owned(),
            (true, Some(next)) => format!("{} ({})", zone.at(next.at), zone.ago(next.at)),
        },
        last,
        stops: stops(seen, role.name.as_str()),
        worst: worst(summary),
    }
}

/// What stands in its way, in a few words each.
fn stops(seen: &Seen, role: &str) -> Vec<String> {
    let breaker = seen.roles.iter().find(|line| line.name.as_str() == role);
    let breaker = breaker.and_then(|line| line.breaker.as_ref());
    let own = seen
        .role_stops
        .iter()
        .filter(|stop| stop.role.as_str() == role);
    let failing = seen.preflights.iter().filter(|row| row.role == role);
    let paused = |scope: &str| scope == "fleet" || scope == format!("role {role}");
    let pauses = seen
        .pauses
        .iter()
        .filter(|row| row.until.is_none_or(|until| seen.now < until));
    let pauses = pauses.filter(|row| paused(&row.scope.to_string()));
    pauses
        .map(|row| format!("paused: {}", row.reason))
        .chain(breaker.map(|open| format!("breaker open: {}", open.why)))
        .chain(own.map(|stop| format!("{}: {}", stop.stop, stop.why)))
        .chain(failing.map(|row| format!("preflight fails: {}", row.failed)))
        .collect()
}

/// What a day of it costs at most.
pub(super) fn worst(summary: &Summary) -> String {
    let day = &summary.worst_day;
    let cost = day
        .cost_usd
        .map_or("money without a bound".to_owned(), |cost| {
            format!("${cost:.2}")
        });
    format!(
        "{cost}, {} firings, {} turns, {}",
        day.firings,
        day.turns,
        format_duration(day.wall_clock)
    )
}
