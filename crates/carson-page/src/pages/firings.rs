//! Firings of one role or of all, page by page into the past.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use carson_operator::Ask;
use carson_operator::firings::Older;
use serde::Deserialize;

use super::rows::FiringRow;
use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::text::part;

/// So many on a page.
const MOST: u32 = 50;

#[derive(Deserialize)]
pub(crate) struct Asked {
    role: Option<String>,
    before: Option<String>,
}

#[derive(Template)]
#[template(path = "firings.html")]
struct Firings {
    frame: Frame,
    role: Option<String>,
    rows: Vec<FiringRow>,
    newest: String,
    older: Option<String>,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let role = asked.role.filter(|role| !role.is_empty());
    let ask = Older {
        role: role.clone(),
        before: asked.before,
        limit: MOST + 1,
    };
    let mut rows = ask.answer(&home).await?;
    let title = match &role {
        Some(role) => format!("Firings of {role}"),
        None => "Firings".to_owned(),
    };
    let frame = Frame::of((&desk, &home), &signed, ("/", title));
    let more = rows.len() > MOST as usize;
    rows.truncate(MOST as usize);
    let of_role = role
        .as_deref()
        .map(|role| format!("&role={}", part(role)))
        .unwrap_or_default();
    let older = rows
        .last()
        .filter(|_| more)
        .map(|row| format!("/firings?before={}{of_role}", row.id));
    let firings = Firings {
        rows: rows
            .iter()
            .map(|row| FiringRow::of(&frame.zone, row))
            .collect(),
        newest: format!("/firings?{}", of_role.trim_start_matches('&')),
        older,
        role,
        frame,
    };
    whole(&home, &firings)
}
