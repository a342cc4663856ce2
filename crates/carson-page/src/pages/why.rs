//! Why something is as it is, and what would change it.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use carson_core::stops::Change;
use carson_operator::Ask;
use carson_operator::why::{Reasons, Why};
use serde::Deserialize;

use super::role::stops;
use super::rows::change;
use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::text::line;

#[derive(Deserialize)]
pub(crate) struct Asked {
    what: Option<String>,
}

#[derive(Template)]
#[template(path = "why.html")]
struct Page {
    frame: Frame,
    what: String,
    roles: Vec<String>,
    answer: Option<Answer>,
    wrong: Option<(String, Option<String>)>,
}

/// The chain of facts.
#[derive(Default)]
struct Answer {
    title: String,
    facts: Vec<String>,
    parts: Vec<Part>,
    change: Option<String>,
}

/// One reason, or one role.
struct Part {
    name: String,
    says: Vec<String>,
    change: Option<String>,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let frame = Frame::of((&desk, &home), &signed, ("/why", "Why"));
    let what = asked.what.unwrap_or_default().trim().to_owned();
    let (answer, wrong) = match what.as_str() {
        "" => (None, None),
        _ => match (Why { what: what.clone() }).answer(&home).await {
            Ok(reasons) => (Some(shown(&frame, &reasons)), None),
            Err(refusal) => (None, Some((refusal.to_string(), refusal.hint()))),
        },
    };
    let page = Page {
        roles: home.fleet.roles.keys().map(ToString::to_string).collect(),
        what,
        answer,
        wrong,
        frame,
    };
    whole(&home, &page)
}

fn shown(frame: &Frame, reasons: &Reasons) -> Answer {
    let said = |one: &Option<Change>| one.as_ref().map(change);
    match reasons {
        Reasons::Role(role) => {
            let parts = stops(frame, role)
                .into_iter()
                .map(|(name, why, change)| Part {
                    name,
                    says: vec![why],
                    change: Some(change),
                });
            let next = role.next.as_ref().map_or("none", |next| &next.shown);
            let today = format!(
                "today: {} of {} firings",
                role.fired_today, role.max_per_day
            );
            Answer {
                title: format!("{}: {}", role.role, role.verdict),
                facts: vec![format!("next slot: {next}"), today],
                parts: parts.collect(),
                change: None,
            }
        }
        Reasons::Issue(issue) => {
            let parts = issue.roles.iter().map(|role| {
                let stopped = role
                    .stopped
                    .iter()
                    .map(|why| format!("the role is stopped: {why}"));
                let next = role
                    .next
                    .iter()
                    .map(|next| format!("its next slot: {}", next.shown));
                Part {
                    name: role.role.to_string(),
                    says: [role.stands.clone()]
                        .into_iter()
                        .chain(stopped)
                        .chain(next)
                        .collect(),
                    change: said(&role.change),
                }
            });
            Answer {
                title: format!(
                    "#{} of {}: {}",
                    issue.number,
                    issue.repo,
                    line(&issue.title)
                ),
                facts: issue.facts.clone(),
                parts: parts.collect(),
                change: said(&issue.change),
            }
        }
        Reasons::Pull(pull) => {
            let parts = pull.roles.iter().map(|role| Part {
                name: role.role.to_string(),
                says: vec![role.stands.clone()],
                change: None,
            });
            Answer {
                title: format!("#{} of {}: {}", pull.number, pull.repo, line(&pull.title)),
                facts: pull.facts.clone(),
                parts: parts.collect(),
                change: None,
            }
        }
        Reasons::Firing(firing) => Answer {
            title: format!(
                "Firing {} of {}",
                firing.firing.id.short(),
                firing.firing.role
            ),
            facts: firing.chain.clone(),
            parts: Vec::new(),
            change: said(&firing.change),
        },
    }
}
