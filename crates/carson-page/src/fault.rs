//! Why there is no page.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use carson_operator::Refusal;

/// Why, and what to do next.
#[derive(Debug)]
pub(crate) struct Fault {
    status: StatusCode,
    why: String,
    hint: Option<String>,
}

#[derive(Template)]
#[template(path = "fault.html")]
struct Page<'a> {
    title: &'static str,
    why: &'a str,
    hint: Option<&'a str>,
}

/// The same inside a page that has begun.
#[derive(Template)]
#[template(path = "fault.html", block = "why")]
struct Part<'a> {
    why: &'a str,
    hint: Option<&'a str>,
}

impl Fault {
    /// The address leads nowhere.
    pub(crate) fn nowhere() -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            why: "there is no such page".to_owned(),
            hint: None,
        }
    }

    /// What was asked for cannot be understood.
    pub(crate) fn asked(why: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            why: why.into(),
            hint: None,
        }
    }

    /// What the page stands on does not work.
    pub(crate) fn unavailable(why: String) -> Self {
        tracing::error!(why, "a page could not be made");
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            why,
            hint: Some("the daemon's log says more".to_owned()),
        }
    }

    /// The same inside a page that has begun.
    pub(crate) fn in_a_page(&self) -> String {
        let part = Part {
            why: &self.why,
            hint: self.hint.as_deref(),
        };
        part.render()
            .unwrap_or_else(|_| "that did not work".to_owned())
    }

    pub(crate) fn template(error: askama::Error) -> Self {
        Self::unavailable(error.to_string())
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        let status = match &refusal {
            Refusal::NoFiring(_) | Refusal::NoLesson(_) | Refusal::Unknown { .. } => {
                StatusCode::NOT_FOUND
            }
            refusal if refusal.is_of_the_ask() => StatusCode::BAD_REQUEST,
            Refusal::Store(_) | Refusal::File { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::CONFLICT,
        };
        Self {
            status,
            why: refusal.to_string(),
            hint: refusal.hint(),
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let page = Page {
            title: "That did not work",
            why: &self.why,
            hint: self.hint.as_deref(),
        };
        match page.render() {
            Ok(html) => (self.status, Html(html)).into_response(),
            Err(_) => (self.status, "that did not work").into_response(),
        }
    }
}
