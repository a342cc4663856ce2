//! One request to the proxy, and its answer.

use std::convert::Infallible;
use std::sync::Arc;

use carson_core::egress::Target;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::header::PROXY_AUTHORIZATION;
use hyper::{Method, Request, Response, Uri};

use crate::body::Body;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::{forward, tunnel};

/// Every request has an answer.
pub(crate) async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let answered = attempt(&shared, request).await;
    Ok(answered.unwrap_or_else(|refusal| refusal.response()))
}

async fn attempt(shared: &Shared, request: Request<Incoming>) -> Result<Response<Body>, Refusal> {
    if request.method() != Method::CONNECT && is_for_the_proxy(shared, request.uri()) {
        return shared.provider(request).await;
    }
    let sent = request.headers().get(PROXY_AUTHORIZATION);
    if !sent.is_some_and(|value| shared.token.is_basic(value.as_bytes())) {
        return Err(Refusal::NoToken);
    }
    let target = target(&request)?;
    let done = if request.method() == Method::CONNECT {
        tunnel::open(shared, &target, request).await.map(|()| {
            let nothing = Empty::new().map_err(|never| match never {});
            Response::new(nothing.boxed_unsync())
        })
    } else {
        forward::pass_on(shared, &target, request).await
    };
    if let Err(refusal) = &done {
        if refusal.is_by_rule() {
            shared.counters.refuse(&target.to_string(), refusal);
        }
        // The first refusal of a host is told by its counters; a flood of them fills no log.
        tracing::debug!(egress.host = %target, why = refusal.text(), "no connection was made");
    }
    done
}

/// Where the request wants to go.
fn target(request: &Request<Incoming>) -> Result<Target, Refusal> {
    let authority = request
        .uri()
        .authority()
        .map(hyper::http::uri::Authority::as_str);
    let authority = authority.ok_or(Refusal::Malformed("it has no host"))?;
    if authority.contains('@') {
        return Err(Refusal::Malformed("its host has a user name"));
    }
    let read = |text: &str| text.parse::<Target>();
    if request.method() == Method::CONNECT {
        return read(authority).map_err(|_| Refusal::Malformed("CONNECT takes host:port"));
    }
    if request.uri().scheme_str() != Some("http") {
        return Err(Refusal::Malformed("only http:// is passed on; use CONNECT"));
    }
    let named = read(authority).or_else(|_| read(&format!("{authority}:80")));
    named.map_err(|_| Refusal::Malformed("its host cannot be read"))
}

/// Whether the proxy itself is meant: a path alone, or its own address.
fn is_for_the_proxy(shared: &Shared, uri: &Uri) -> bool {
    uri.authority().is_none_or(|authority| {
        let own = [("127.0.0.1", shared.port), ("localhost", shared.port)];
        own.iter()
            .any(|(host, port)| authority.as_str() == format!("{host}:{port}"))
    })
}
