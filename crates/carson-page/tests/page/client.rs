//! A browser of few words: one request on a connection of its own.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What came back.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub head: String,
    pub body: String,
    /// The body as it came, where it came in parts.
    pub parts: Vec<String>,
}

impl Got {
    /// A header by its name, of which there may be several.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(own, _)| own.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value)
    }

    /// The value of a hidden field.
    pub fn field(&self, name: &str) -> &str {
        let begin = format!("name=\"{name}\" value=\"");
        let (_, rest) = self
            .body
            .split_once(&begin)
            .unwrap_or_else(|| panic!("no {name}: {self:#?}"));
        rest.split_once('"').unwrap().0
    }

    /// The cookie that it sets: name and value.
    pub fn cookie(&self) -> String {
        let value = self
            .header("set-cookie")
            .unwrap_or_else(|| panic!("{self:#?}"));
        value.split_once(';').unwrap().0.to_owned()
    }
}

/// Sends one request and reads its answer to the end.
pub async fn send(
    at: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Got {
    let mut stream = TcpStream::connect(at).await.unwrap();
    let mut text = format!(
        "{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    stream
        .write_all(format!("{text}\r\n{body}").as_bytes())
        .await
        .unwrap();
    let mut bytes = Vec::new();
    // Whoever is refused is not read to the end, so the connection may break.
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("{text:?}"));
    let parts = match head.to_lowercase().contains("transfer-encoding: chunked") {
        true => chunks(body),
        false => Vec::new(),
    };
    Got {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_owned(),
        body: match parts.is_empty() {
            true => body.to_owned(),
            false => parts.concat(),
        },
        parts,
    }
}

/// RFC 9112, section 7.1: each after its length in bytes, the last with none.
fn chunks(mut body: &str) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        let (length, rest) = body.split_once("\r\n").unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return all;
        }
        all.push(rest[..length].to_owned());
        body = rest[length..].strip_prefix("\r\n").unwrap();
    }
}
