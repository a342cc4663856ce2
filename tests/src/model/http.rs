//! As much of HTTP/1.1 as a model's client needs: one request per connection, with a length.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::Request;

/// A first request of Claude Code is about 90 kB; a prompt with a large diff some megabytes.
const MAX_BODY: usize = 64 << 20;

/// Reads one request. Its `nth` is left at 0 for the server to fill in.
///
/// # Errors
/// When the peer leaves early or sends something other than HTTP with a JSON body and a length.
pub(super) async fn read_request(stream: &mut BufReader<TcpStream>) -> io::Result<Request> {
    let start = read_line(stream).await?;
    let mut words = start.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(invalid(format!("not a request line: {start:?}")));
    };
    let (method, path) = (method.to_owned(), path.to_owned());
    let headers = read_headers(stream).await?;
    let body = read_body(stream, &headers).await?;
    Ok(Request {
        method,
        path,
        headers,
        body,
        nth: 0,
    })
}

async fn read_headers(stream: &mut BufReader<TcpStream>) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let line = read_line(stream).await?;
        if line.is_empty() {
            return Ok(headers);
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(invalid(format!("not a header: {line:?}")));
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

async fn read_body(
    stream: &mut BufReader<TcpStream>,
    headers: &[(String, String)],
) -> io::Result<Value> {
    let find = |wanted: &str| headers.iter().find(|(name, _)| name == wanted);
    if find("transfer-encoding").is_some() {
        return Err(invalid(
            "a chunked request body is not supported".to_owned(),
        ));
    }
    let Some((_, length)) = find("content-length") else {
        return Ok(Value::Null);
    };
    let length: usize = length
        .parse()
        .map_err(|_| invalid(format!("bad length {length:?}")))?;
    if length > MAX_BODY {
        return Err(invalid(format!("a body of {length} bytes is too long")));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    if body.is_empty() {
        Ok(Value::Null)
    } else {
        Ok(serde_json::from_slice(&body)?)
    }
}

async fn read_line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Sends a whole response.
///
/// # Errors
/// When the peer has left.
pub(super) async fn respond(
    stream: &mut (impl AsyncWriteExt + Unpin),
    code: u16,
    headers: &[(String, String)],
    body: &str,
) -> io::Result<()> {
    let mut head = head(code, "application/json", headers);
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.flush().await
}

/// Sends events as chunks. Unless `ends`, the closing chunk is withheld: to the peer the stream
/// is then cut off, which is different from one that is over.
///
/// # Errors
/// When the peer has left.
pub(super) async fn respond_with_events(
    stream: &mut (impl AsyncWriteExt + Unpin),
    headers: &[(String, String)],
    events: &[String],
    ends: bool,
) -> io::Result<()> {
    let mut head = head(200, "text/event-stream; charset=utf-8", headers);
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    for event in events {
        stream
            .write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
            .await?;
        stream.flush().await?;
    }
    if ends {
        stream.write_all(b"0\r\n\r\n").await?;
    }
    stream.flush().await
}

fn head(code: u16, content_type: &str, headers: &[(String, String)]) -> String {
    // The reason phrase carries no meaning, and clients ignore it.
    let mut head = format!("HTTP/1.1 {code} Scripted\r\n");
    let fixed = [("content-type", content_type), ("connection", "close")];
    let extra = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in fixed.into_iter().chain(extra) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head
}
