//! One lesson with its whole chain.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use carson_operator::Ask;
use carson_operator::memory::audit::Audit;

use super::memory::{Lesson, shown};
use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::mark::Badge;

#[derive(Template)]
#[template(path = "lesson.html")]
struct Page {
    frame: Frame,
    lesson: Lesson,
    body: Option<String>,
    canon: String,
    evidence: Vec<(String, String)>,
    judged: Vec<(String, String)>,
    history: Vec<(String, String)>,
    told: Vec<(Badge, String, String)>,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let chain = Audit { id }.answer(&home).await?;
    let title = format!("Lesson {}", chain.lesson.id.short());
    let frame = Frame::of((&desk, &home), &signed, ("/memory", title));
    let zone = frame.zone;
    let evidence = chain.evidence.into_iter().map(|one| {
        let why = one.why.map(|why| format!(": {why}")).unwrap_or_default();
        (one.evidence, format!("{}{why}", one.found))
    });
    let judged = chain.judgements.into_iter().map(|one| {
        let rails = if one.rails.is_empty() {
            String::new()
        } else {
            format!("; broke: {}", one.rails.join(", "))
        };
        let score = one
            .score
            .map(|score| format!(", score {score:.2}"))
            .unwrap_or_default();
        (zone.at(one.at), format!("{}{score}{rails}", one.decision))
    });
    let history = chain.history.into_iter().map(|one| {
        (
            zone.at(one.at),
            format!("{} by {}: {}", one.state, one.by, one.why),
        )
    });
    let told = chain.told.into_iter().map(|one| {
        let state = one
            .outcome
            .map_or("runs".to_owned(), |outcome| outcome.to_string());
        let said = format!("{}, as {}", one.role, one.canon);
        (
            Badge::of_outcome(one.outcome, state),
            said,
            one.firing.to_string(),
        )
    });
    let page = Page {
        lesson: shown(&frame, &chain.lesson),
        body: chain.lesson.body,
        canon: chain.canon,
        evidence: evidence.collect(),
        judged: judged.collect(),
        history: history.collect(),
        told: told.collect(),
        frame,
    };
    whole(&home, &page)
}
