//! Signing in and out.

use std::sync::Arc;
use std::time::Instant;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::header::{RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use crate::desk::Desk;
use crate::fault::Fault;
use crate::guard::{Fields, SIGN_IN, Signed, cookie, form_cookie};
use crate::secret::random;
use crate::sessions::LASTS;

/// What the address of the form says.
#[derive(Deserialize)]
pub(crate) struct Asked {
    then: Option<String>,
    link: Option<String>,
}

#[derive(Template)]
#[template(path = "sign-in.html")]
struct Form<'a> {
    title: &'static str,
    fleet: &'a str,
    csrf: String,
    then: &'a str,
    link: Option<&'a str>,
    wrong: Option<&'static str>,
}

/// The form.
pub(crate) async fn form(
    State(desk): State<Arc<Desk>>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let then = own(asked.then.as_deref());
    show(&desk, &headers, (then, asked.link.as_deref()), None)
}

fn show(
    desk: &Desk,
    headers: &HeaderMap,
    (then, link): (&str, Option<&str>),
    wrong: Option<&'static str>,
) -> Result<Response, Fault> {
    let known = cookie(headers, &form_cookie(desk)).filter(|known| known.len() == 64);
    let secret = match known {
        Some(known) => known,
        None => random().map_err(Fault::unavailable)?,
    };
    let home = desk.home();
    let form = Form {
        title: "Sign in",
        fleet: &home.fleet.name,
        csrf: desk.sessions.form(&secret),
        then,
        link,
        wrong,
    };
    let html = axum::response::Html(form.render().map_err(Fault::template)?);
    let cookie = kept(&form_cookie(desk), &secret, 3_600);
    Ok(([(SET_COOKIE, cookie)], html).into_response())
}

/// Somebody shows the token, or a link.
pub(crate) async fn enter(
    State(desk): State<Arc<Desk>>,
    Extension(fields): Extension<Fields>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let then = own(fields.get("then"));
    // A link cannot be guessed.
    if fields.get("link").is_none() && !desk.tries.pass(Instant::now()) {
        let wrong =
            Some("too many tries: wait a minute, or use the link that `carson page` prints");
        let mut answer = show(&desk, &headers, (then, None), wrong)?;
        *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        answer.headers_mut().insert(RETRY_AFTER, 60.into());
        return Ok(answer);
    }
    let home = desk.home();
    let token = Desk::token(&home).map_err(Fault::unavailable)?;
    let (right, wrong) = match fields.get("link") {
        Some(link) => {
            let now = home.clock.now().timestamp();
            let wrong = "that link was used, or is too old: `carson page` prints a new one";
            (desk.sessions.use_link(link, &token, now), wrong)
        }
        None => {
            let shown = fields.get("token").unwrap_or_default();
            let right = carson_door::is_same(shown.as_bytes(), &token);
            (
                right,
                "that is not the token: `carson page` says where it is",
            )
        }
    };
    if !right {
        if let Some(times) = desk.strangers.again(Instant::now()) {
            tracing::warn!(
                times,
                "somebody tried to sign in to the page, and does not know the token"
            );
        }
        let mut answer = show(&desk, &headers, (then, None), Some(wrong))?;
        *answer.status_mut() = StatusCode::FORBIDDEN;
        return Ok(answer);
    }
    let secret = desk
        .sessions
        .begin(&token, Instant::now())
        .map_err(Fault::unavailable)?;
    tracing::info!("somebody signed in to the page");
    let cookie = kept(&desk.cookie(), &secret, LASTS.as_secs());
    Ok(([(SET_COOKIE, cookie)], Redirect::to(then)).into_response())
}

/// Takes leave.
pub(crate) async fn leave(
    State(desk): State<Arc<Desk>>,
    Extension(Signed(secret)): Extension<Signed>,
) -> Response {
    desk.sessions.end(&secret);
    let gone = kept(&desk.cookie(), "", 0);
    ([(SET_COOKIE, gone)], Redirect::to(SIGN_IN)).into_response()
}

/// A cookie that no script reads, and that no other page's request carries.
fn kept(name: &str, value: &str, seconds: u64) -> String {
    format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}")
}

/// A place of this page: an address may have been made by anybody.
fn own(then: Option<&str>) -> &str {
    let then = then.unwrap_or("/");
    let is_own = then.starts_with('/')
        && !then.starts_with("//")
        && !then.contains('\\')
        && then.len() < 500
        // What else a header cannot carry.
        && then.bytes().all(|byte| byte.is_ascii_graphic());
    if is_own { then } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn after_signing_in_nobody_is_sent_elsewhere() {
        assert_eq!(own(Some("/firings/1?a=b")), "/firings/1?a=b");
        for other in [
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "x",
            "/\r\nx: y",
            "/\0",
            "/\u{1}",
            "/\u{7f}",
            "/ä",
        ] {
            assert_eq!(own(Some(other)), "/", "{other}");
        }
        assert_eq!(own(None), "/");
    }
}
