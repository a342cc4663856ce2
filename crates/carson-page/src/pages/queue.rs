//! What waits, and on what.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use carson_operator::Ask;
use carson_operator::queue::Queue;

use super::rows::change;
use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::text::{line, part};

#[derive(Template)]
#[template(path = "queue.html")]
struct Page {
    frame: Frame,
    queues: Vec<Waiting>,
}

struct Waiting {
    role: String,
    repo: String,
    ready: Vec<(String, String, String)>,
    more: usize,
    held: Vec<(String, String)>,
    unknown: Option<String>,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let all = Queue { role: None }.answer(&home).await?;
    let queues = all.into_iter().map(|one| {
        let ready = one.ready.iter().map(|issue| {
            let why = format!(
                "/why?what={}",
                part(&format!("{}#{}", one.repo, issue.number))
            );
            (format!("#{}", issue.number), line(&issue.title), why)
        });
        Waiting {
            ready: ready.collect(),
            held: one
                .held
                .iter()
                .map(|held| (held.why.clone(), change(&held.change)))
                .collect(),
            role: one.role.to_string(),
            repo: one.repo.to_string(),
            more: one.more,
            unknown: one.unknown,
        }
    });
    let page = Page {
        queues: queues.collect(),
        frame: Frame::of((&desk, &home), &signed, ("/queue", "Queue")),
    };
    whole(&home, &page)
}
