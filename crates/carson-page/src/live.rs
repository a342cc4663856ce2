//! What a session says while it does, as server-sent events.
//!
//! An event has as its id where it ends: a browser whose connection broke asks for what comes after. What is sent is
//! JSON whose texts the script shows as texts.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use carson_core::untrusted::visible;
use carson_operator::Ask;
use carson_operator::transcript::{Heard, Transcript};
use futures_core::Stream;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::desk::Desk;
use crate::fault::Fault;
use crate::guard::Signed;
use crate::pages::transcript::shown;

/// How often somebody looks for more.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often a connection that is silent shows that it is there.
const ALIVE: Duration = Duration::from_secs(15);
/// How long one connection lasts; the browser asks again.
const LASTS: Duration = Duration::from_secs(30 * 60);

#[derive(Deserialize)]
pub(crate) struct Asked {
    after: Option<String>,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Path(firing): Path<String>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let Ok(slot) = Arc::clone(&desk.live).try_acquire_owned() else {
        let why = "too many live transcripts are open: close one";
        return Ok((StatusCode::SERVICE_UNAVAILABLE, why).into_response());
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let after = last.map(str::to_owned).or(asked.after);
    // What is wrong with the ask is said before anything is sent.
    let ask = Transcript { firing, after };
    let first = ask.answer(&desk.home()).await?;
    let (to, from) = channel(16);
    tokio::spawn(follow((desk, signed), first, to, slot));
    let alive = KeepAlive::new().interval(ALIVE);
    Ok(Sse::new(Events(from)).keep_alive(alive).into_response())
}

/// Tells what is said until the firing has ended, the session has, or nobody listens.
async fn follow(
    (desk, Signed(secret)): (Arc<Desk>, Signed),
    mut heard: Heard,
    to: Sender<Event>,
    _slot: OwnedSemaphorePermit,
) {
    let (began, firing) = (Instant::now(), heard.id.to_string());
    let mut state = String::new();
    loop {
        let is_new = !heard.said.is_empty() || heard.state != state;
        if is_new && to.send(told(&desk, &heard)).await.is_err() {
            return;
        }
        state.clone_from(&heard.state);
        let is_over = heard.outcome.is_some() && !heard.more;
        if is_over {
            let _ = to.send(Event::default().event("end").data("")).await;
        }
        if is_over || began.elapsed() > LASTS {
            return;
        }
        if !heard.more {
            tokio::select! {
                () = to.closed() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
        let home = desk.home();
        let token = Desk::token(&home);
        if !token.is_ok_and(|token| desk.sessions.hear(&secret, &token, Instant::now())) {
            return;
        }
        let ask = Transcript {
            firing: firing.clone(),
            after: Some(heard.after),
        };
        heard = match ask.answer(&home).await {
            Ok(heard) => heard,
            Err(_) => return,
        };
    }
}

/// What was said, with where it ends; and how the firing stands.
fn told(desk: &Desk, heard: &Heard) -> Event {
    let home = desk.home();
    let seen = |text: &str| visible(&home.redactor.redact(text));
    let said: Vec<_> = heard
        .said
        .iter()
        .map(|line| {
            let mut one = shown(line);
            one.text = seen(&one.text);
            one.who = seen(&one.who);
            one
        })
        .collect();
    let data = json!({"said": said, "state": seen(&heard.state)}).to_string();
    Event::default()
        .event("said")
        .id(heard.after.clone())
        .data(data)
}

/// Events as they come.
struct Events(Receiver<Event>);

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|event| event.map(Ok))
    }
}
