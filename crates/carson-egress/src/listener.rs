//! Who comes in: the listeners, and how many at once.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use crate::answer::answer;
use crate::shared::{Shared, Slot};

/// Serves one listener for as long as the proxy lives.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => match Arc::clone(&shared.slots).try_acquire_owned() {
                Ok(slot) => drop(tokio::spawn(serve_connection(
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
async fn serve_connection(stream: TcpStream, shared: Arc<Shared>, slot: Slot) {
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
