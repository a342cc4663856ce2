//! What is answered over HTTP, to whom.
//!
//! Who asks has to do so under a name of ours, and be no web page: numbers are for programs.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use carson_config::Metrics as Settings;
use carson_door::Names;
use carson_operator::metrics::Exposition;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, ORIGIN};
use hyper::service::{Service, service_fn};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
#[cfg(test)]
use tokio::net::TcpListener;

use super::facts::Facts;
use crate::faces::Tell;

/// What it is called in the log.
const METRICS: &str = "the metrics";
/// How long a connection may last, from its first byte to the last of its answer.
const WHOLE: Option<Duration> = Some(Duration::from_secs(30));

const PLAIN: &str = "text/plain; charset=utf-8";

type Answer = Response<Full<Bytes>>;

/// Listens and serves as long as this is polled; while the address cannot be had, it is tried again.
pub(super) async fn keep(settings: Settings, facts: Arc<Facts>, told: Tell) -> Infallible {
    let hosts = settings.hosts;
    carson_door::keep(settings.listen, (METRICS, WHOLE), &told, move |at| {
        service(Desk::of(at, &hosts, facts))
    })
    .await
}

/// Serves one listener; its connections end with it.
#[cfg(test)]
pub(super) async fn serve(
    listener: TcpListener,
    settings: Settings,
    facts: Arc<Facts>,
) -> Infallible {
    let hosts = settings.hosts;
    carson_door::serve(listener, METRICS, WHOLE, move |at| {
        service(Desk::of(at, &hosts, facts))
    })
    .await
}

fn service(
    desk: Desk,
) -> impl Service<
    Request<Incoming>,
    Response = Answer,
    Error = Infallible,
    Future = impl Future<Output = Result<Answer, Infallible>> + Send + 'static,
> + Clone
+ Send
+ 'static {
    let desk = Arc::new(desk);
    service_fn(move |request| {
        let desk = Arc::clone(&desk);
        async move { Ok::<_, Infallible>(desk.answer(&request).await) }
    })
}

/// What connections are answered from.
struct Desk {
    names: Names,
    facts: Arc<Facts>,
}

/// The address's own names, those of this machine itself, and those that the settings have, without a port.
fn names(at: SocketAddr, hosts: &[String]) -> Names {
    let port = at.port();
    let itself = ["127.0.0.1", "[::1]"].into_iter();
    let all = itself.chain(hosts.iter().map(String::as_str));
    let all: Vec<String> = all.map(|name| format!("{name}:{port}")).collect();
    Names::of(at).and(&all)
}

/// Whether a request may be answered.
fn is_ours(names: &Names, headers: &HeaderMap) -> bool {
    !headers.contains_key(ORIGIN) && names.are_meant(headers)
}

impl Desk {
    fn of(at: SocketAddr, hosts: &[String], facts: Arc<Facts>) -> Self {
        Self {
            names: names(at, hosts),
            facts,
        }
    }

    async fn answer(&self, request: &Request<Incoming>) -> Answer {
        if !is_ours(&self.names, request.headers()) {
            return said(
                StatusCode::FORBIDDEN,
                "this Host is not served here: name it in hosts of [metrics]",
            );
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let mut answer = said(StatusCode::METHOD_NOT_ALLOWED, "this is only read");
            let allowed = HeaderValue::from_static("GET, HEAD");
            answer.headers_mut().insert(ALLOW, allowed);
            return answer;
        }
        match request.uri().path() {
            "/metrics" => match self.facts.text().await {
                Ok(text) => with(StatusCode::OK, Exposition::CONTENT_TYPE, text.into()),
                Err(why) => said(StatusCode::SERVICE_UNAVAILABLE, why),
            },
            "/healthz" => state(self.facts.healthy().await),
            "/readyz" => state(self.facts.ready().await),
            _ => said(
                StatusCode::NOT_FOUND,
                "there are /metrics, /healthz and /readyz",
            ),
        }
    }
}

fn state(state: Result<(), &'static str>) -> Answer {
    match state {
        Ok(()) => said(StatusCode::OK, "ok"),
        Err(why) => said(StatusCode::SERVICE_UNAVAILABLE, why),
    }
}

fn said(status: StatusCode, what: &'static str) -> Answer {
    with(status, PLAIN, format!("{what}\n").into())
}

fn with(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (CONNECTION, "close"),
    ] {
        let value = HeaderValue::from_static(value);
        answer.headers_mut().insert(name, value);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_ours_is_answered_and_a_web_page_is_not() {
        let at: SocketAddr = "0.0.0.0:9420".parse().unwrap();
        let names = names(at, &["attic.lan".to_owned()]);
        let asked = |headers: &[(&'static str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, HeaderValue::from_str(value).unwrap());
            }
            is_ours(&names, &map)
        };
        for host in [
            "127.0.0.1:9420",
            "LOCALHOST:9420",
            "[::1]:9420",
            "Attic.lan:9420",
        ] {
            assert!(asked(&[("host", host)]), "{host}");
        }
        for host in [
            "attic.lan",
            "attic.lan:80",
            "evil.example:9420",
            "attic.lan.evil.example:9420",
            "127.0.0.1",
            "",
        ] {
            assert!(!asked(&[("host", host)]), "{host}");
        }
        assert!(!asked(&[]));
        assert!(!asked(&[
            ("host", "localhost:9420"),
            ("host", "localhost:9420")
        ]));
        let page = [
            ("host", "localhost:9420"),
            ("origin", "http://localhost:9420"),
        ];
        assert!(!asked(&page));
    }
}
