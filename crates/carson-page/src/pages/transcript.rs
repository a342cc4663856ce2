//! What the sessions of a firing said, from some place on; what they say now comes by `live.rs`.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use carson_engine::Said;
use carson_operator::Ask;
use carson_operator::transcript::{Line, Transcript};
use serde::{Deserialize, Serialize};

use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::text::{cut, part};

/// Characters of one thing that are shown; the transcript has the rest.
const LETTERS: usize = 6_000;

#[derive(Deserialize)]
pub(crate) struct Asked {
    after: Option<String>,
}

/// Something that was said, as it is shown.
#[derive(Serialize)]
pub(crate) struct Shown {
    pub(crate) session: String,
    /// `text`, `call`, `result` or `failed`.
    pub(crate) kind: &'static str,
    /// Who speaks, or which tool.
    pub(crate) who: String,
    pub(crate) text: String,
    pub(crate) cut: bool,
}

#[derive(Template)]
#[template(path = "transcript.html")]
struct Page {
    frame: Frame,
    id: String,
    short: String,
    sessions: Vec<String>,
    said: Vec<Shown>,
    more: Option<String>,
    live: Option<String>,
    state: String,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Path(firing): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let ask = Transcript {
        firing,
        after: asked.after,
    };
    let heard = ask.answer(&home).await?;
    let title = format!("Transcript of {}", heard.id.short());
    let (id, after) = (heard.id.to_string(), part(&heard.after));
    let page = Page {
        frame: Frame::of((&desk, &home), &signed, ("/", title)),
        short: heard.id.short(),
        sessions: heard.sessions,
        said: heard.said.iter().map(shown).collect(),
        more: heard
            .more
            .then(|| format!("/firings/{id}/transcript?after={after}")),
        live: (!heard.more && heard.outcome.is_none())
            .then(|| format!("/firings/{id}/live?after={after}")),
        state: heard.state,
        id,
    };
    whole(&home, &page)
}

/// As people read it.
pub(crate) fn shown(line: &Line) -> Shown {
    let (kind, who, text) = match &line.said {
        Said::Text(text) => ("text", "said", text),
        Said::Call { tool, call } => ("call", tool.as_str(), call),
        Said::Result {
            text,
            failed: false,
        } => ("result", "answer", text),
        Said::Result { text, failed: true } => ("failed", "failed", text),
    };
    let (text, cut) = cut(text.trim_end(), LETTERS);
    Shown {
        session: line.session.clone(),
        kind,
        who: who.to_owned(),
        text,
        cut,
    }
}
