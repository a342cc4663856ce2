//! What the fleet remembers: what waits for a person comes first.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use carson_operator::Ask;
use carson_operator::memory::ShownLesson;
use carson_operator::memory::list::List;
use serde::Deserialize;

use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;

/// So many lessons on a page, the newest.
const MOST: u32 = 100;

/// The states, what they mean to people first.
const STATES: [(&str, &str); 5] = [
    ("candidate", "To review"),
    ("held", "Held"),
    ("promoted", "Believed"),
    ("rejected", "Rejected"),
    ("reverted", "Taken back"),
];

#[derive(Deserialize)]
pub(crate) struct Asked {
    state: Option<String>,
}

#[derive(Template)]
#[template(path = "memory.html")]
struct Page {
    frame: Frame,
    states: Vec<(&'static str, &'static str, bool)>,
    lessons: Vec<Lesson>,
    full: bool,
}

/// A lesson as it is shown.
pub(super) struct Lesson {
    pub(super) id: String,
    pub(super) short: String,
    pub(super) text: String,
    pub(super) facts: String,
    pub(super) why: String,
    /// What can be decided: the action, and what its button says.
    pub(super) actions: Vec<(&'static str, &'static str)>,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let state = asked.state.unwrap_or_else(|| "candidate".to_owned());
    let ask = List {
        state: Some(state.clone()),
        source: None,
        scope: None,
        known_at: None,
        limit: MOST,
    };
    let lessons = ask.answer(&home).await?;
    let frame = Frame::of((&desk, &home), &signed, ("/memory", "Memory"));
    let page = Page {
        states: STATES
            .iter()
            .map(|(own, name)| (*own, *name, *own == state))
            .collect(),
        full: lessons.len() >= MOST as usize,
        lessons: lessons.iter().map(|lesson| shown(&frame, lesson)).collect(),
        frame,
    };
    whole(&home, &page)
}

pub(super) fn shown(frame: &Frame, lesson: &ShownLesson) -> Lesson {
    let state = lesson.state.to_string();
    let from = format!("{} by {}", lesson.source, lesson.by);
    Lesson {
        id: lesson.id.to_string(),
        short: lesson.id.short(),
        text: lesson.text.clone(),
        facts: format!(
            "{state} · {} · believed by {:.2} · {from}, {}",
            lesson.scope,
            lesson.confidence,
            frame.zone.ago(lesson.recorded_at)
        ),
        why: lesson.why.clone(),
        actions: actions(&state),
    }
}

/// What a person may decide about a lesson that stands there.
fn actions(state: &str) -> Vec<(&'static str, &'static str)> {
    match state {
        "promoted" => vec![("lesson-revert", "Take back"), ("lesson-hold", "Hold")],
        "reverted" => vec![("lesson-believe", "Believe again")],
        "rejected" => vec![("lesson-promote", "Promote")],
        "held" => vec![("lesson-promote", "Promote"), ("lesson-reject", "Reject")],
        _ => vec![
            ("lesson-promote", "Promote"),
            ("lesson-hold", "Hold"),
            ("lesson-reject", "Reject"),
        ],
    }
}
