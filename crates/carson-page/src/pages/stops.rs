//! Everything that keeps the fleet from firing, why, and what ends it.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use carson_core::text::counted;
use carson_operator::Ask;
use carson_operator::status::{Seen, Status};
use carson_store::PauseScope;

use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::text::part;

#[derive(Template)]
#[template(path = "stops.html")]
struct Stops {
    frame: Frame,
    stops: Vec<Stop>,
    streaks: Vec<Stop>,
    others: Vec<Stop>,
    roles: Vec<String>,
}

/// One of them.
struct Stop {
    /// `breaker`, `pause`, …
    kind: &'static str,
    /// Of what.
    of: String,
    why: String,
    until: String,
    by: String,
    /// The page that ends it, and what its button says.
    end: Option<(String, &'static str)>,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let seen = Status {}.answer(&home).await?;
    let frame = Frame::of((&desk, &home), &signed, ("/stops", "Stops"));
    let mut stops = pauses(&frame, &seen);
    let (open, streaks) = breakers(&frame, &seen);
    stops.extend(open);
    stops.extend(blocks(&frame, &seen));
    stops.extend(of_roles(&frame, &seen));
    let page = Stops {
        stops,
        streaks,
        others: others(&frame, &seen),
        roles: home.fleet.roles.keys().map(ToString::to_string).collect(),
        frame,
    };
    whole(&home, &page)
}

fn pauses(frame: &Frame, seen: &Seen) -> Vec<Stop> {
    let stand = seen
        .pauses
        .iter()
        .filter(|row| row.until.is_none_or(|until| seen.now < until));
    let one = |row: &carson_store::PauseRow| {
        let named = match &row.scope {
            PauseScope::Fleet => String::new(),
            PauseScope::Role(name) => format!("?role={}", part(name.as_str())),
            PauseScope::Repo(name) => format!("?repo={}", part(name.as_str())),
            PauseScope::Account(name) => format!("?account={}", part(name.as_str())),
        };
        Stop {
            kind: "pause",
            of: row.scope.to_string(),
            why: row.reason.clone(),
            until: frame.zone.until(row.until),
            by: format!("{}, {}", row.set_by, frame.zone.ago(row.set_at)),
            end: Some((format!("/do/resume{named}"), "Resume")),
        }
    };
    stand.map(one).collect()
}

/// Those that are open, and those that have a streak only.
fn breakers(frame: &Frame, seen: &Seen) -> (Vec<Stop>, Vec<Stop>) {
    let moved = seen
        .breakers
        .iter()
        .filter(|row| row.breaker.is_open() || row.breaker.streak > 0);
    let one = |row: &carson_store::BreakerRow| {
        let line = seen.roles.iter().find(|line| line.name == row.role);
        let open = line.and_then(|line| line.breaker.as_ref());
        let streak = format!("{} in a row", counted(row.breaker.streak, "bad outcome"));
        Stop {
            kind: "breaker",
            of: row.role.to_string(),
            why: match &row.breaker.reason {
                Some(reason) if row.breaker.is_open() => format!("{streak}, the last: {reason}"),
                _ => streak,
            },
            until: match open {
                Some(open) => match open.until {
                    Some(at) => format!(
                        "one firing may try {}",
                        frame.zone.until(Some(at)).replace("until", "from")
                    ),
                    None => frame.zone.until(None),
                },
                None => String::new(),
            },
            by: row
                .breaker
                .opened_at
                .map(|at| format!("opened {}", frame.zone.ago(at)))
                .unwrap_or_default(),
            end: Some((
                format!("/do/breaker-reset?role={}", part(row.role.as_str())),
                "Reset",
            )),
        }
    };
    let is_open = |row: &&carson_store::BreakerRow| row.breaker.is_open();
    let (open, streaks): (Vec<_>, Vec<_>) = moved.partition(is_open);
    (
        open.into_iter().map(one).collect(),
        streaks.into_iter().map(one).collect(),
    )
}

fn blocks(frame: &Frame, seen: &Seen) -> Vec<Stop> {
    let one = |row: &carson_store::BlockRow| Stop {
        kind: "block",
        of: format!("account {}", row.account),
        why: row.reason.clone(),
        until: frame.zone.until(row.until),
        by: format!("{}, {}", row.set_by, frame.zone.ago(row.set_at)),
        end: Some((
            format!("/do/block-clear?account={}", part(row.account.as_str())),
            "Clear",
        )),
    };
    seen.blocks.iter().map(one).collect()
}

/// Caps, budgets and full review queues: time or people end them.
fn of_roles(frame: &Frame, seen: &Seen) -> Vec<Stop> {
    let one = |stop: &carson_operator::status::RoleStop| Stop {
        kind: stop.stop.as_str(),
        of: stop.role.to_string(),
        why: stop.why.clone(),
        until: stop
            .until
            .map(|until| frame.zone.until(Some(until)))
            .unwrap_or_default(),
        by: String::new(),
        end: None,
    };
    seen.role_stops.iter().map(one).collect()
}

/// What is wrong beside the stops.
fn others(frame: &Frame, seen: &Seen) -> Vec<Stop> {
    let other = |kind, of: String, why: String, by: String| Stop {
        kind,
        of,
        why,
        until: String::new(),
        by,
        end: None,
    };
    let room = seen
        .no_room
        .iter()
        .map(|why| other("room", "this host".to_owned(), why.clone(), String::new()));
    let failing = seen.preflights.iter().map(|row| {
        let why = format!("{}: {}", row.failed, row.why);
        other(
            "preflight",
            row.role.clone(),
            why,
            format!("{} times since {}", row.streak, frame.zone.at(row.since)),
        )
    });
    let stuck = seen.stuck.iter().map(|row| {
        other(
            "workspace",
            row.bench.clone(),
            row.why.clone(),
            format!("since {}", frame.zone.at(row.since)),
        )
    });
    let owed = seen.owed.iter().map(|row| {
        let why = row
            .said
            .clone()
            .unwrap_or_else(|| "not tried yet".to_owned());
        other(
            "forge",
            format!("firing {}", row.firing.short()),
            format!("{}: {why}", row.effect),
            format!("{} tries", row.tries),
        )
    });
    let quiet = seen.quiets.iter().map(|row| {
        let why = "nothing but alerts and questions is told there".to_owned();
        let until = frame.zone.until(Some(row.until));
        Stop {
            until,
            ..other("quiet", row.sink.clone(), why, row.set_by.clone())
        }
    });
    let posts = seen
        .sinks
        .iter()
        .filter(|sink| sink.waiting > 0)
        .map(|sink| {
            let why = sink
                .error
                .clone()
                .unwrap_or_else(|| "they follow".to_owned());
            other(
                "posts",
                sink.name.clone(),
                format!("{} wait: {why}", sink.waiting),
                String::new(),
            )
        });
    room.chain(failing)
        .chain(stuck)
        .chain(owed)
        .chain(posts)
        .chain(quiet)
        .collect()
}
