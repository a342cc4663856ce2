//! What every request has to pass, and what every answer says to the browser.
//!
//! First whom the request is for and which page sent it, so that a page of somebody else reaches nothing; then how
//! much it says; then who is signed in; then, for what changes something, whether it is a form of ours.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use carson_door::only;

use crate::desk::Desk;
use crate::text::part;

/// The longest form.
const FORM: usize = 16 << 10;

/// How long it may take to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where people sign in.
pub(crate) const SIGN_IN: &str = "/sign-in";

/// The field that proves that a form is ours.
pub(crate) const FIELD: &str = "csrf";

/// What browsers say of where a request comes from, and for what.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Whoever is signed in, by the secret of the session.
#[derive(Clone)]
pub(crate) struct Signed(pub(crate) String);

/// The fields of a form, in their order.
#[derive(Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// What a field says; nothing where it is left empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(field, _)| field == name);
        found
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }
}

/// Lets a request pass, or says why not; whatever is answered is hardened.
pub(crate) async fn guard(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    let is_asset = request.uri().path().starts_with("/assets/");
    let mut response = match admit(&desk, request).await {
        Ok(request) => next.run(request).await,
        Err(refused) => *refused,
    };
    harden(response.headers_mut(), is_asset);
    response
}

/// Whether a browser says that a page of ours or a person asks. Another page may lead people to a page of ours, as
/// links do; it gets nothing else, and no page that takes the time of forges.
fn is_asked_by_us(uri: &Uri, headers: &HeaderMap) -> bool {
    match only(headers, &SITE) {
        Some(None | Some("same-origin" | "none")) => true,
        Some(Some(_)) => {
            let leads = only(headers, &MODE) == Some(Some("navigate"));
            let whole = only(headers, &DEST) == Some(Some("document"));
            leads && whole && !asks_forges(uri)
        }
        None => false,
    }
}

/// Whether forges, or programs of a repository, are asked for what a page shows.
fn asks_forges(uri: &Uri) -> bool {
    let path = uri.path();
    let more = uri.query().unwrap_or_default();
    let is_one_role = path.starts_with("/roles/");
    let asks = |(name, _): (Cow<'_, str>, Cow<'_, str>)| ["pulls", "what"].contains(&&*name);
    is_one_role || path == "/queue" || form_urlencoded::parse(more.as_bytes()).any(asks)
}

async fn admit(desk: &Desk, request: Request) -> Result<Request, Box<Response>> {
    let home = desk.home();
    let (names, headers) = (desk.names(&home), request.headers());
    if !names.are_meant(headers) {
        return Err(refused(
            StatusCode::FORBIDDEN,
            "this Host is not served here",
        ));
    }
    if !names.sent_it(headers) {
        return Err(refused(
            StatusCode::FORBIDDEN,
            "this Origin is not served here",
        ));
    }
    if !is_asked_by_us(request.uri(), headers) {
        return Err(refused(StatusCode::FORBIDDEN, "another page sent this"));
    }
    let token = Desk::token(&home).map_err(|error| {
        if let Some(requests) = desk.shut.again(Instant::now()) {
            tracing::error!(
                error,
                requests,
                "the page's token cannot be read, so nobody is let in"
            );
        }
        refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "the server's token cannot be read: its log says why",
        )
    })?;
    let path = request.uri().path().to_owned();
    let secret = cookie(headers, &desk.cookie()).unwrap_or_default();
    let signed = desk.sessions.hear(&secret, &token, Instant::now());
    let mut request = match *request.method() {
        Method::GET | Method::HEAD => request,
        Method::POST => with_fields(request).await?,
        _ => {
            return Err(refused(
                StatusCode::METHOD_NOT_ALLOWED,
                "only GET and POST are served here",
            ));
        }
    };
    if let Some(fields) = request.extensions().get::<Fields>() {
        // Who signs in has no session yet, and a form's secret of its own.
        let secret = match path == SIGN_IN {
            true => cookie(request.headers(), &form_cookie(desk)).unwrap_or_default(),
            false => secret.clone(),
        };
        let is_ours = fields
            .get(FIELD)
            .is_some_and(|shown| desk.sessions.is_form(&secret, shown));
        if secret.is_empty() || !is_ours {
            let why = "this form is no form of your session: go back, load the page again, and send it once more";
            return Err(refused(StatusCode::FORBIDDEN, why));
        }
    }
    let is_open = path == SIGN_IN || path.starts_with("/assets/");
    match (signed, is_open) {
        (true, _) => {
            request.extensions_mut().insert(Signed(secret));
            Ok(request)
        }
        (false, true) => Ok(request),
        (false, false) if request.method() == Method::POST => Err(refused(
            StatusCode::UNAUTHORIZED,
            "you are not signed in any more",
        )),
        (false, false) => {
            let then = request
                .uri()
                .path_and_query()
                .map_or("/", |then| then.as_str());
            let at = match then {
                "/" => SIGN_IN.to_owned(),
                then => format!("{SIGN_IN}?then={}", part(then)),
            };
            Err(Box::new(Redirect::to(&at).into_response()))
        }
    }
}

/// The cookie of a form of somebody who is not signed in.
pub(crate) fn form_cookie(desk: &Desk) -> String {
    format!("{}-form", desk.cookie())
}

/// Reads the form of a request that changes something.
async fn with_fields(request: Request) -> Result<Request, Box<Response>> {
    let headers = request.headers();
    let site = only(headers, &SITE);
    if !matches!(site, Some(None | Some("same-origin"))) {
        return Err(refused(StatusCode::FORBIDDEN, "another page sent this"));
    }
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    if kind.split(';').next() != Some("application/x-www-form-urlencoded") {
        return Err(refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "only forms are read here",
        ));
    }
    let (mut parts, body) = request.into_parts();
    let body = match tokio::time::timeout(PATIENCE, to_bytes(body, FORM)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            return Err(refused(
                StatusCode::PAYLOAD_TOO_LARGE,
                "that is too much, or it broke off",
            ));
        }
        Err(_) => return Err(refused(StatusCode::REQUEST_TIMEOUT, "that takes too long")),
    };
    parts.extensions.insert(Fields::of(&body));
    Ok(Request::from_parts(parts, Body::empty()))
}

fn refused(status: StatusCode, why: &'static str) -> Box<Response> {
    Box::new((status, why).into_response())
}

/// A cookie by its name.
pub(crate) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut pairs = all
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let found = pairs.find(|(own, _)| *own == name);
    found.map(|(_, value)| value.to_owned())
}

fn harden(headers: &mut HeaderMap, is_asset: bool) {
    let cache = if is_asset {
        "private, max-age=3600"
    } else {
        "no-store"
    };
    let all: [(HeaderName, &'static str); 8] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer` a browser would not say either which page sent a form.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, cache),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), geolocation=(), microphone=()",
        ),
    ];
    for (name, value) in all {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_page_may_lead_here_and_gets_nothing_else() {
        let asked = |path: &str, said: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in said {
                headers.append(*name, HeaderValue::from_static(value));
            }
            is_asked_by_us(&path.parse().unwrap(), &headers)
        };
        let site = |site| ("sec-fetch-site", site);
        let leads = [
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        let dear = [
            "/outcomes?since=7d&pulls=1",
            "/outcomes?%70ulls=1",
            "/why?what=widget%231",
            "/roles/cook",
            "/queue",
        ];
        for path in ["/", "/outcomes", "/stops", "/firings?role=cook"]
            .iter()
            .chain(&dear)
        {
            assert!(asked(path, &[]), "{path}: no browser, or an old one");
            assert!(
                asked(path, &[site("none")]) && asked(path, &[site("same-origin")]),
                "{path}"
            );
            for other in ["cross-site", "same-site", "", "none, same-origin"] {
                let image = [
                    site(other),
                    ("sec-fetch-mode", "no-cors"),
                    ("sec-fetch-dest", "image"),
                ];
                let frame = [site(other), leads[0], ("sec-fetch-dest", "iframe")];
                assert!(
                    !asked(path, &image) && !asked(path, &frame),
                    "{path} {other}"
                );
                assert!(!asked(path, &[site(other)]), "{path} {other}");
                let link = [site(other), leads[0], leads[1]];
                assert_eq!(asked(path, &link), !dear.contains(path), "{path} {other}");
            }
            let twice = [site("none"), site("cross-site"), leads[0], leads[1]];
            assert!(!asked(path, &twice), "{path}");
        }
    }
}
