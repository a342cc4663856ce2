//! A remote over HTTP: `git http-backend` behind the smallest server, with the first git of the `PATH`.
//!
//! Also compiled into the tests of `carson-git`, which stands below this crate.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Answers for the repositories below `root` as long as the test runs; where.
#[must_use]
pub fn serve(root: PathBuf) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(&mut stream.unwrap(), &root);
        }
    });
    address
}

/// One request to a connection, as CGI (RFC 3875). Whoever hangs up first asks nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "the remote is no program of Carson's"
)]
pub fn answer(stream: &mut (impl Read + Write), root: &Path) {
    let mut from = BufReader::new(&mut *stream);
    let mut line = String::new();
    let _ = from.read_line(&mut line);
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return;
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut backend = Command::new("git");
    backend
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "http.receivepack")
        .env("GIT_CONFIG_VALUE_0", "true")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query);
    let mut size = 0;
    loop {
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => size = value.parse().unwrap(),
            "content-type" => drop(backend.env("CONTENT_TYPE", value)),
            "content-encoding" => drop(backend.env("HTTP_CONTENT_ENCODING", value)),
            "git-protocol" => drop(backend.env("GIT_PROTOCOL", value)),
            _ => {}
        }
    }
    let mut body = vec![0; size];
    from.read_exact(&mut body).unwrap();
    backend.env("CONTENT_LENGTH", size.to_string());
    let mut running = backend
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    running.stdin.take().unwrap().write_all(&body).unwrap();
    let said = running.wait_with_output().unwrap().stdout;
    let status = match said.strip_prefix(b"Status: ") {
        Some(rest) => String::from_utf8_lossy(&rest[..3]).into_owned(),
        None => "200".to_owned(),
    };
    // Who gave up does not listen.
    let head = format!("HTTP/1.1 {status} x\r\nConnection: close\r\n");
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&said);
}
