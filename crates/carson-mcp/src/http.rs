//! The transport of clients of this machine: streamable HTTP, at an address that only this machine reaches.

mod sessions;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use secrecy::SecretString;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::desk::Standing;
use crate::gate::{self, Shut};
use crate::server::Server;

use self::sessions::Sessions;

/// The longest body of a request.
const BODY: usize = 1 << 20;
/// Connections at once.
const CONNECTIONS: usize = 64;
/// The header with the name of a session.
const SESSION: &str = "mcp-session-id";
/// Clients at once that keep a session (older ones than 2026-07-28 do).
const SESSIONS: usize = 32;
/// How long a session may be silent.
const SILENT: Duration = Duration::from_secs(3_600);
/// How long a client may take to say what it wants.
const HEAD: Duration = Duration::from_secs(10);
/// The most bytes of that.
const HEAD_BYTES: usize = 16 << 10;
/// How soon an address that cannot be had is tried again.
const AGAIN: Duration = Duration::from_secs(10);

/// What clients have to show, as it is at this moment.
pub type Token = Arc<dyn Fn() -> Result<SecretString, String> + Send + Sync>;

type Tools = StreamableHttpService<Server, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Listens at an address and serves there, as long as this is polled; while the address cannot be had, it is tried
/// again.
pub async fn keep(address: SocketAddr, standing: Arc<dyn Standing>, token: Token) -> Infallible {
    serve(bound(address, AGAIN).await, standing, token).await
}

async fn bound(address: SocketAddr, again: Duration) -> TcpListener {
    let mut said = false;
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(error) => {
                if !std::mem::replace(&mut said, true) {
                    tracing::error!(%address, %error, "MCP is not served: the address cannot be had; it is tried again");
                }
                tokio::time::sleep(again).await;
            }
        }
    }
}

/// Serves one listener as long as this is polled; its connections end with it.
pub async fn serve(listener: TcpListener, standing: Arc<dyn Standing>, token: Token) -> Infallible {
    let at = loop {
        match listener.local_addr() {
            Ok(at) => break at,
            Err(error) => {
                tracing::error!(%error, "the system does not say where MCP is served");
                tokio::time::sleep(AGAIN).await;
            }
        }
    };
    tracing::info!(address = %at, "MCP is served over HTTP");
    let door = Arc::new(Door::new(at, standing, token));
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    // Dropped with us, and everything that it holds.
    let mut open = tokio::task::JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => match Arc::clone(&slots).try_acquire_owned() {
                Ok(slot) => drop(open.spawn(talk(stream, Arc::clone(&door), slot))),
                Err(_) => {
                    tracing::warn!("MCP: {CONNECTIONS} connections are open, and one more is not");
                }
            },
            Err(error) => {
                // Out of descriptors, or the client is gone: neither is helped by hurry.
                tracing::warn!(%error, "MCP: a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

/// What stands between connections and tools.
struct Door {
    at: SocketAddr,
    token: Token,
    tools: Tools,
    sessions: Sessions,
}

impl Door {
    fn new(at: SocketAddr, standing: Arc<dyn Standing>, token: Token) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SILENT);
        let sessions = Arc::new(sessions);
        let server = Server::new(standing);
        let config = StreamableHttpServerConfig::default().with_max_request_body_bytes(BODY);
        let tools = Tools::new(move || Ok(server.clone()), Arc::clone(&sessions), config);
        Self {
            at,
            token,
            tools,
            sessions: Sessions::of(sessions),
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (path, headers) = (request.uri().path(), request.headers());
        let token = match (self.token)() {
            Ok(token) => token,
            Err(error) => {
                tracing::error!(error, "MCP: the token cannot be read, so nobody is let in");
                return said(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the server's token cannot be read",
                );
            }
        };
        if let Err(Shut { status, why }) = gate::check(self.at, path, headers, &token) {
            return said(status, why);
        }
        match session(headers) {
            Some(id) => self.sessions.heard(id),
            None if begins_a_session(request.method(), headers) => {
                self.sessions.make_room(SESSIONS).await;
                let answer = self.tools.handle(request).await;
                if let Some(id) = session(answer.headers()) {
                    self.sessions.began(id);
                }
                return answer;
            }
            None => {}
        }
        self.tools.handle(request).await
    }
}

impl Drop for Door {
    /// Streams that are open end, and with them what a client waits for.
    fn drop(&mut self) {
        self.tools.config.cancellation_token.cancel();
    }
}

/// One connection, from its first request to its end.
async fn talk(stream: TcpStream, door: Arc<Door>, _slot: OwnedSemaphorePermit) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection to MCP broke");
    }
}

/// Whether a session would be made for a request. Since 2026-07-28 there are none: such a request says so.
fn begins_a_session(method: &Method, headers: &HeaderMap) -> bool {
    let of_today = headers.get("mcp-protocol-version").is_some_and(|version| {
        version.as_bytes() >= ProtocolVersion::V_2026_07_28.as_str().as_bytes()
    });
    *method == Method::POST && !headers.contains_key(SESSION) && !of_today
}

fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

fn said(status: StatusCode, why: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    let text = "text/plain; charset=utf-8";
    for (name, value) in [(CONTENT_TYPE, text), (CONNECTION, "close")] {
        headers.insert(name, hyper::header::HeaderValue::from_static(value));
    }
    if status == StatusCode::UNAUTHORIZED {
        let value = hyper::header::HeaderValue::from_static("Bearer realm=\"carson\"");
        headers.insert(WWW_AUTHENTICATE, value);
    }
    answer
}

#[cfg(test)]
mod tests;
