//! The transport: HTTP/1.1, one request a connection, with bounds.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use carson_config::Metrics as Settings;
use carson_operator::metrics::Exposition;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tracing::{debug, error, info, warn};

use super::door;
use super::facts::Facts;

/// Connections at once.
const CONNECTIONS: usize = 16;
/// How long a client may take to say what it wants.
const HEAD: Duration = Duration::from_secs(5);
/// The most bytes of that; the least that the library has.
const HEAD_BYTES: usize = 8 << 10;
/// How long a connection may last, from its first byte to the last of its answer.
const WHOLE: Duration = Duration::from_secs(30);
/// How soon an address that cannot be had is tried again.
const AGAIN: Duration = Duration::from_secs(10);

const PLAIN: &str = "text/plain; charset=utf-8";

type Answer = Response<Full<Bytes>>;

/// Listens and serves as long as this is polled; while the address cannot be had, it is tried again.
pub(super) async fn keep(settings: Settings, facts: Arc<Facts>) -> Infallible {
    let address = settings.listen;
    let mut said = false;
    let listener = loop {
        match TcpListener::bind(address).await {
            Ok(listener) => break listener,
            Err(error) => {
                if !std::mem::replace(&mut said, true) {
                    error!(%address, %error, "metrics are not served: the address cannot be had; it is tried again");
                }
                tokio::time::sleep(AGAIN).await;
            }
        }
    };
    info!(%address, "metrics are served over HTTP");
    serve(listener, settings, facts).await
}

/// Serves one listener; its connections end with it.
pub(super) async fn serve(
    listener: TcpListener,
    settings: Settings,
    facts: Arc<Facts>,
) -> Infallible {
    let at = listener.local_addr().unwrap_or(settings.listen);
    let hosts: Arc<[String]> = settings.hosts.into();
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    let mut open = JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => match slots.clone().try_acquire_owned() {
                Ok(slot) => {
                    let desk = Desk {
                        at,
                        hosts: hosts.clone(),
                        facts: facts.clone(),
                    };
                    open.spawn(async move {
                        talk(stream, desk).await;
                        drop(slot);
                    });
                }
                Err(_) => {
                    debug!("metrics: {CONNECTIONS} connections are open, and one more is not");
                }
            },
            Err(error) => {
                // Out of descriptors, or the client is gone: neither is helped by hurry.
                warn!(%error, "metrics: a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

/// What one connection is answered from.
struct Desk {
    at: SocketAddr,
    hosts: Arc<[String]>,
    facts: Arc<Facts>,
}

async fn talk(stream: TcpStream, desk: Desk) {
    let desk = &desk;
    let service =
        service_fn(move |request| async move { Ok::<_, Infallible>(desk.answer(&request).await) });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    match tokio::time::timeout(WHOLE, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "a connection to the metrics broke"),
        Err(_) => debug!("a connection to the metrics took too long"),
    }
}

impl Desk {
    async fn answer(&self, request: &Request<Incoming>) -> Answer {
        if !door::is_ours(self.at, &self.hosts, request.headers()) {
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
