//! The transport of clients of this machine: streamable HTTP, at an address that only this machine reaches.

mod sessions;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carson_door::{Names, Often, Told};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, WWW_AUTHENTICATE};
use hyper::service::{Service, service_fn};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use secrecy::SecretString;

use crate::desk::Standing;
use crate::gate::{self, Shut};
use crate::server::Server;

use self::sessions::Sessions;

/// The longest body of a request.
const BODY: usize = 1 << 20;
/// The header with the name of a session.
const SESSION: &str = "mcp-session-id";
/// Clients at once that keep a session (older ones than 2026-07-28 do).
const SESSIONS: usize = 32;
/// How long a session may be silent.
const SILENT: Duration = Duration::from_secs(3_600);

/// What clients have to show, as it is at this moment.
pub type Token = Arc<dyn Fn() -> Result<SecretString, String> + Send + Sync>;

type Tools = StreamableHttpService<Server, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Listens at an address and serves there, as long as this is polled; while the address cannot be had, it is tried
/// again.
pub async fn keep(
    address: SocketAddr,
    standing: Arc<dyn Standing>,
    token: Token,
    told: &Told,
) -> Infallible {
    carson_door::keep(address, (MCP, None), told, move |at| {
        served(Door::new(at, standing, token))
    })
    .await
}

/// Serves one listener as long as this is polled; its connections end with it.
#[cfg(test)]
async fn serve(
    listener: tokio::net::TcpListener,
    standing: Arc<dyn Standing>,
    token: Token,
) -> Infallible {
    carson_door::serve(listener, MCP, None, move |at| {
        served(Door::new(at, standing, token))
    })
    .await
}

/// What it is called in the log.
const MCP: &str = "MCP";

/// A door for each connection.
fn served(
    door: Door,
) -> impl Service<Request<Incoming>, Response = Answer, Error = Infallible, Future: Send + 'static>
+ Clone
+ Send
+ 'static {
    let door = Arc::new(door);
    service_fn(move |request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    })
}

/// What stands between connections and tools.
struct Door {
    names: Names,
    token: Token,
    shut: Often,
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
            names: Names::of(at),
            token,
            shut: Often::default(),
            tools,
            sessions: Sessions::of(sessions),
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (path, headers) = (request.uri().path(), request.headers());
        let token = match (self.token)() {
            Ok(token) => token,
            Err(error) => {
                if let Some(requests) = self.shut.again(Instant::now()) {
                    tracing::error!(
                        error,
                        requests,
                        "MCP: the token cannot be read, so nobody is let in"
                    );
                }
                return said(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the server's token cannot be read",
                );
            }
        };
        if let Err(Shut { status, why }) = gate::check(&self.names, path, headers, &token) {
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
