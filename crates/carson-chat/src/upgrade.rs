//! A WebSocket by way of the client that makes every other request: one set of roots, proxies and rules of TLS.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, UPGRADE};
use reqwest::{Client, StatusCode, Upgraded};
use sha1::{Digest as _, Sha1};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use url::{Host, Url};

use std::time::Duration;

/// What is sent with a key to show that it was read (RFC 6455).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// How long a handshake may take.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Longest message that is read; Slack's are a few kilobytes.
const MESSAGE_MAX: usize = 1 << 20;

/// A connection.
pub(crate) type Socket = WebSocketStream<Upgraded>;

/// Connects to an address that Slack gave. It is a secret, so no error names it.
pub(crate) async fn connect(address: &str) -> Result<Socket, String> {
    let url = as_http(address)?;
    let client = Client::builder()
        .http1_only()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(TIMEOUT)
        .build()
        .map_err(|_| "no client can be made")?;
    let key = key()?;
    let request = client
        .get(url)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", &key);
    let answer = tokio::time::timeout(TIMEOUT, request.send());
    let answer = answer.await.map_err(|_| "the socket does not answer")?;
    let answer = answer.map_err(|_| "no connection to the socket")?;
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Err(format!("the socket answers {}", answer.status()));
    }
    let said = answer.headers().get(SEC_WEBSOCKET_ACCEPT);
    if said.and_then(|said| said.to_str().ok()) != Some(accept(&key).as_str()) {
        return Err("what answers is no WebSocket".to_owned());
    }
    let upgraded = answer.upgrade().await;
    let upgraded = upgraded.map_err(|_| "the socket broke off")?;
    let bounds = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_MAX))
        .max_frame_size(Some(MESSAGE_MAX));
    Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(bounds)).await)
}

/// The same address for a client of HTTP: encrypted, or on this machine.
fn as_http(address: &str) -> Result<Url, String> {
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    let scheme = match scheme {
        "wss" => "https",
        "ws" => "http",
        _ => return Err("the socket's address is none".to_owned()),
    };
    let url = Url::parse(&format!("{scheme}://{rest}"));
    let url = url.map_err(|_| "the socket's address is none")?;
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match scheme == "https" || is_here {
        true => Ok(url),
        false => Err("the socket's address is not encrypted".to_owned()),
    }
}

fn key() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| "the system gives no randomness")?;
    Ok(STANDARD.encode(bytes))
}

fn accept(key: &str) -> String {
    STANDARD.encode(Sha1::digest(format!("{key}{GUID}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_the_standard_is_answered_as_the_standard_says() {
        let told = accept("dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(told, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn nothing_is_said_in_the_clear_to_another_machine() {
        assert_eq!(as_http("wss://slack.example/x").unwrap().scheme(), "https");
        assert!(as_http("ws://127.0.0.1:9/x").is_ok());
        for bad in [
            "ws://slack.example/x",
            "https://slack.example",
            "",
            "wss://",
        ] {
            assert!(as_http(bad).is_err(), "{bad}");
        }
    }
}
