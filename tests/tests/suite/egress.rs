//! The only way out: whole firings whose role has an `egress`, or whose account has a `key_file`.

mod by_hand;
mod packages;
mod ways;
mod with_claude;

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

const ROLE: &str = "scout";

/// A wall clock that ends before the test runner's own patience does.
fn bounded(more: &str) -> String {
    format!("stages = [\"execute\"]\n{more}\n[limits]\nwall_clock = \"90s\"\n")
}

/// A page on this machine, and how often it was asked for.
struct Page {
    address: String,
    port: u16,
    asked: Arc<AtomicUsize>,
}

impl Page {
    fn at(host: &str) -> Option<Self> {
        let listener = match TcpListener::bind((host, 0)) {
            Ok(listener) => listener,
            // A machine without IPv6.
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => return None,
            Err(error) => panic!("{host}: {error}"),
        };
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                counter.fetch_add(1, Ordering::SeqCst);
                let mut stream = stream.unwrap();
                let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nthe page\n",
                );
            }
        });
        Some(Self {
            address: address.to_string(),
            port: address.port(),
            asked,
        })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Something that listens to datagrams, as a name server does.
struct Mailbox(UdpSocket);

impl Mailbox {
    fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        Self(socket)
    }

    fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    fn is_empty(&self) -> bool {
        self.0.recv(&mut [0; 16]).is_err()
    }
}

/// A role of this fleet whose session is a shell script. What the script prints is the answer.
fn scripted(fleet: &TestFleet, script: &str, more: &str) {
    let path = fleet.root().join("agent");
    fs::write(
        &path,
        format!("#!/bin/bash\ncat >/dev/null\n{script}\necho '[SILENT]'\n"),
    )
    .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    fleet.account(
        "script",
        &format!("engine = \"command\"\nbinary = {path:?}"),
    );
    fleet.role(ROLE, "script", &bounded(more));
    fleet.issue(ROLE, "Look around", "");
}

/// Fires the role; its row, and everything that its session printed.
fn fired(fleet: &TestFleet) -> (Value, String) {
    let ran = fleet.fire(ROLE);
    let id = ran.json()["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{ran:#?}"))
        .to_owned();
    let row = fleet.firing(&id);
    let began = row["sessions"].as_u64() > Some(0);
    let said = if began {
        fleet.transcripts(&id)
    } else {
        Vec::new()
    };
    let said = said.join("\n");
    // What redaction would take out of a transcript, a script says in this way.
    let hidden: String = said.chars().map(rot13).collect();
    (row, format!("{said}\n{hidden}"))
}

/// `tr A-Za-z N-ZA-Mn-za-m`
fn rot13(letter: char) -> char {
    match letter {
        'a'..='m' | 'A'..='M' => char::from(letter as u8 + 13),
        'n'..='z' | 'N'..='Z' => char::from(letter as u8 - 13),
        _ => letter,
    }
}

/// What the row says of a host.
fn host<'r>(row: &'r Value, host: &str) -> &'r Value {
    let hosts = row["egress"].as_array().unwrap().iter();
    let mut found = hosts.filter(|one| one["host"] == host);
    found
        .next()
        .unwrap_or_else(|| panic!("{host} is not in {row:#}"))
}
