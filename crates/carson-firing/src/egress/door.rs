//! Who comes in: the listeners, and how many at once.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use carson_core::egress::{Allowlist, Target};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::answer::{Body, answer};
use super::bounds::Bounds;
use super::provider::Upstream;
use super::refusal::Refusal;
use super::resolve::{Resolver, connect};
use super::tally::Tally;
use super::token::Token;

/// A place among the connections at once.
pub(super) type Slot = Arc<OwnedSemaphorePermit>;

/// What the connections of one proxy share.
#[derive(Debug)]
pub(super) struct Shared {
    pub rules: Allowlist,
    pub token: Token,
    pub bounds: Bounds,
    pub resolver: Resolver,
    pub upstream: Option<Upstream>,
    pub tally: Tally,
    pub port: u16,
    pub slots: Arc<Semaphore>,
}

impl Shared {
    pub(super) async fn connect(&self, target: &Target) -> Result<TcpStream, Refusal> {
        connect(
            &self.resolver,
            &self.rules,
            target,
            self.bounds.connect_within,
        )
        .await
    }

    /// To the provider's API, when this proxy has its key.
    pub(super) async fn provider(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Refusal> {
        let none = Refusal::Malformed("this proxy serves no pages of its own");
        let upstream = self.upstream.as_ref().ok_or(none)?;
        upstream.pass_on(self, request).await
    }
}

/// Serves one listener for as long as the proxy lives.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => match Arc::clone(&shared.slots).try_acquire_owned() {
                Ok(slot) => drop(tokio::spawn(one(
                    stream,
                    Arc::clone(&shared),
                    Arc::new(slot),
                ))),
                Err(_) => later(stream),
            },
            Err(error) => {
                // Out of descriptors, or the client is gone: neither is helped by hurry.
                tracing::warn!(%error, "the egress proxy could not take a connection");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

/// One connection, from its first request to its end; a tunnel keeps its slot.
async fn one(stream: TcpStream, shared: Arc<Shared>, slot: Slot) {
    let _ = stream.set_nodelay(true);
    let bounds = shared.bounds;
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&slot));
        answer(Arc::clone(&shared), request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_within)
        .max_buf_size(bounds.head)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    if let Ok(Err(error)) = tokio::time::timeout(bounds.total, connection).await {
        tracing::debug!(%error, "a connection to the egress proxy broke");
    }
}

/// There are too many: said without waiting for anything.
fn later(stream: TcpStream) {
    const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n\
                          connection: close\r\ncontent-length: 0\r\n\r\n";
    // Not by the runtime: it has not heard yet that the stream can be written to.
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write(BUSY);
    }
}
