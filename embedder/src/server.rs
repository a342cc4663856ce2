//! The endpoint: HTTP on a loopback address.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HOST, ORIGIN};
use hyper::http::uri::Authority;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::thread::Thread;
use crate::wire::{self, Refused};

/// Bytes of one call.
pub const BODY: usize = 2 * 1024 * 1024;
/// Connections at once; the next one waits.
const CONNECTIONS: usize = 32;
/// How long somebody may take to say what is wanted.
const PATIENCE: Duration = Duration::from_secs(10);
/// After an error of accepting, such as no free descriptor.
const PAUSE: Duration = Duration::from_millis(100);

const PATH: &str = "/v1/embeddings";

/// Answers until it is dropped.
pub async fn serve(listener: TcpListener, thread: Thread) -> Infallible {
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // Never closed.
        let Ok(place) = Arc::clone(&free).acquire_owned().await else {
            continue;
        };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let thread = thread.clone();
        tokio::spawn(async move {
            answer_all(stream, thread).await;
            drop(place);
        });
    }
}

async fn answer_all(stream: TcpStream, thread: Thread) {
    // Without: the body of an answer waits for an acknowledgement of its head.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let thread = thread.clone();
        async move { Ok::<_, Infallible>(response(answer(request, &thread).await)) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    // Whoever hangs up has what is wanted, or does not want it.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

fn response(answer: Result<Vec<u8>, Refused>) -> Response<Full<Bytes>> {
    let (status, body) = match answer {
        Ok(body) => (StatusCode::OK, body),
        Err(refused) => (refused.status, refused.body()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let json = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let post = hyper::header::HeaderValue::from_static("POST");
        response.headers_mut().insert(ALLOW, post);
    }
    response
}

async fn answer(request: Request<Incoming>, thread: &Thread) -> Result<Vec<u8>, Refused> {
    called_by_a_loopback_name(&request)?;
    if request.uri().path() != PATH {
        let message = format!("nothing is at {}; ask {PATH}", request.uri().path());
        return Err(Refused::new(StatusCode::NOT_FOUND, message));
    }
    if request.method() != Method::POST {
        let message = format!("{PATH} takes POST");
        return Err(Refused::new(StatusCode::METHOD_NOT_ALLOWED, message));
    }
    let body = body(request.into_body()).await?;
    let asked = wire::read(&body)?;
    let failed = |error: String| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, error);
    let mut made = Vec::with_capacity(asked.texts.len());
    // One at a time: whoever asks for one vector meanwhile does not wait for all of these.
    for text in asked.texts {
        let one = thread.embed(text).await;
        made.push(one.map_err(|error| failed(error.to_string()))?);
    }
    wire::answer(&made, asked.packed).map_err(|error| failed(error.to_string()))
}

async fn body(body: Incoming) -> Result<Bytes, Refused> {
    let collected = timeout(PATIENCE, Limited::new(body, BODY).collect()).await;
    match collected {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the body has more than {BODY} bytes");
            Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, message))
        }
        Ok(Err(error)) => Err(Refused::new(
            StatusCode::BAD_REQUEST,
            format!("the body cannot be read: {error}"),
        )),
        Err(_) => Err(Refused::new(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not come in time",
        )),
    }
}

/// A page in a browser reaches every address, under a name of its own or with its origin.
fn called_by_a_loopback_name(request: &Request<Incoming>) -> Result<(), Refused> {
    let no = |message: &str| Err(Refused::new(StatusCode::FORBIDDEN, message));
    if request.headers().contains_key(ORIGIN) {
        return no("pages in browsers are not answered");
    }
    let named = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    if named.is_some_and(is_loopback) {
        Ok(())
    } else {
        no("the Host header names no loopback address, such as 127.0.0.1 or localhost")
    }
}

fn is_loopback(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    if authority.as_str().contains('@') {
        return false;
    }
    let name = authority.host();
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || bare
            .parse()
            .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_answered() {
        for host in [
            "127.0.0.1:80",
            "127.9.9.9",
            "localhost:11435",
            "LOCALHOST",
            "[::1]:1",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com",
            "127.0.0.1.example.com:80",
            "10.0.0.1",
            "0.0.0.0",
            "a@127.0.0.1",
            "[::2]",
            "127.0.0.1/x",
            "http://127.0.0.1",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
