//! The proxy against real sockets of 127.0.0.1.

mod api;
mod limits;
mod ways;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use carson_core::egress::{Allowlist, EgressHost};

use crate::{Bounds, Egress, Plan, Provider, Resolver};

/// Nothing here takes this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that keeps what each connection sent first, and answers it.
struct Server {
    address: SocketAddr,
    heads: mpsc::Receiver<String>,
}

impl Server {
    /// Answers the first bytes of each connection with these, and then sends back what it gets.
    fn answering(answer: &'static str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, heads) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, tell) = (stream.unwrap(), tell.clone());
                std::thread::spawn(move || {
                    let mut buffer = [0; 16 * 1024];
                    let mut head = String::new();
                    while let Ok(read @ 1..) = stream.read(&mut buffer) {
                        head.push_str(&String::from_utf8_lossy(&buffer[..read]));
                        let _ = tell.send(std::mem::take(&mut head));
                        let echo: &[u8] = if answer.is_empty() {
                            &buffer[..read]
                        } else {
                            answer.as_bytes()
                        };
                        if stream.write_all(echo).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, heads }
    }

    fn echo() -> Self {
        Self::answering("")
    }

    fn port(&self) -> u16 {
        self.address.port()
    }

    /// What the next connection sent first.
    fn head(&self) -> String {
        self.heads.recv_timeout(PATIENCE).unwrap()
    }

    fn was_left_alone(&self) -> bool {
        self.heads.try_recv().is_err()
    }
}

fn rules(texts: &[String]) -> Allowlist {
    Allowlist(texts.iter().map(|text| text.parse().unwrap()).collect())
}

/// A proxy whose names are all on this machine.
fn proxy(texts: &[String]) -> Egress {
    proxy_with(texts, Bounds::default(), None)
}

fn proxy_with(texts: &[String], bounds: Bounds, provider: Option<Provider>) -> Egress {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let here = [Ipv4Addr::LOCALHOST.into()];
    let resolver = Resolver::system()
        .with("allowed.example", &here)
        .with("rebound.example", &here)
        .with(
            "metadata.example",
            &[Ipv4Addr::new(169, 254, 169, 254).into()],
        );
    Egress::open(Plan {
        rules: Some(rules(texts)),
        provider,
        resolver,
        bounds,
    })
    .unwrap()
}

/// The value of a variable that a session has.
fn variable(egress: &Egress, name: &str) -> String {
    let variables = egress.variables(false);
    let found = variables.into_iter().find(|(known, _)| *known == name);
    found.unwrap().1
}

/// The proxy's address as a client uses it, and its header.
fn credential(egress: &Egress) -> String {
    use base64::Engine as _;
    let address = variable(egress, "HTTPS_PROXY");
    let user_info = address
        .strip_prefix("http://")
        .unwrap()
        .split('@')
        .next()
        .unwrap();
    let encoded = base64::engine::general_purpose::STANDARD.encode(user_info);
    format!("Proxy-Authorization: Basic {encoded}\r\n")
}

fn dial(egress: &Egress) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, egress.port())).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends a request and reads until its head is complete.
fn head_of(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut said = Vec::new();
    let mut byte = [0];
    while !said.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => said.push(byte[0]),
            _ => break,
        }
    }
    String::from_utf8(said).unwrap()
}

/// Sends a request and reads until the proxy closes.
fn all_of(egress: &Egress, request: &str) -> String {
    let mut stream = dial(egress);
    stream.write_all(request.as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

fn connect(host: &str, credential: &str) -> String {
    format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n{credential}\r\n")
}

/// The same, on a connection that ends after it.
fn connect_once(host: &str, credential: &str) -> String {
    connect(host, &format!("Connection: close\r\n{credential}"))
}

fn count(egress: &Egress, host: &str) -> EgressHost {
    let counts = egress.counts();
    let found = counts.into_iter().find(|count| count.host == host);
    found.unwrap_or_default()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
