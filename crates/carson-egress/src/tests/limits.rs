//! What is too much, and what is too slow.

use super::*;

#[test]
fn too_many_connections_are_told_to_come_back() {
    let server = Server::echo();
    let host = format!("127.0.0.1:{}", server.port());
    let bounds = Bounds {
        connections: 2,
        ..Bounds::default()
    };
    let egress = proxy_with(std::slice::from_ref(&host), bounds, None);
    let credential = credential(&egress);
    let mut held: Vec<TcpStream> = (0..2).map(|_| dial(&egress)).collect();
    for stream in &mut held {
        // A tunnel keeps its place: the connection is no longer HTTP, and still one.
        assert!(head_of(stream, &connect(&host, &credential)).contains(" 200 "));
    }
    let said = head_of(&mut dial(&egress), "");
    assert!(said.starts_with("HTTP/1.1 503"), "{said}");
    held.pop();
    until("a place is free again", || {
        head_of(&mut dial(&egress), &connect(&host, &credential)).contains(" 200 ")
    });
}

#[test]
fn a_head_without_end_is_not_kept() {
    let bounds = Bounds {
        head: 8 * 1024,
        ..Bounds::default()
    };
    let egress = proxy_with(&[], bounds, None);
    let mut stream = dial(&egress);
    let line = format!("X-Long: {}\r\n", "x".repeat(16 * 1024));
    let said = head_of(&mut stream, &format!("GET / HTTP/1.1\r\n{line}\r\n"));
    assert!(said.starts_with("HTTP/1.1 431"), "{said}");
}

#[test]
fn a_head_that_does_not_come_is_not_waited_for() {
    let bounds = Bounds {
        head_within: Duration::from_millis(50),
        ..Bounds::default()
    };
    let egress = proxy_with(&[], bounds, None);
    let mut stream = dial(&egress);
    stream.write_all(b"CONNECT a.exam").unwrap();
    // Closed, with or without a word.
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.is_empty() || said.contains(" 408 "), "{said}");
}

#[test]
fn a_tunnel_in_which_nothing_moves_ends() {
    let server = Server::echo();
    let host = format!("127.0.0.1:{}", server.port());
    let bounds = Bounds {
        idle: Duration::from_millis(100),
        ..Bounds::default()
    };
    let egress = proxy_with(std::slice::from_ref(&host), bounds, None);
    let mut stream = dial(&egress);
    assert!(head_of(&mut stream, &connect(&host, &credential(&egress))).contains(" 200 "));
    assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
}

#[test]
fn a_tunnel_ends_at_its_time_even_when_it_moves() {
    let server = Server::echo();
    let host = format!("127.0.0.1:{}", server.port());
    let bounds = Bounds {
        total: Duration::from_millis(200),
        ..Bounds::default()
    };
    let egress = proxy_with(std::slice::from_ref(&host), bounds, None);
    let mut stream = dial(&egress);
    assert!(head_of(&mut stream, &connect(&host, &credential(&egress))).contains(" 200 "));
    let end = Instant::now() + PATIENCE;
    let mut byte = [0];
    while stream.write_all(b"x").is_ok() && matches!(stream.read(&mut byte), Ok(1)) {
        assert!(Instant::now() < end, "it goes on for ever");
    }
}

/// A port at which the system takes no connection and refuses none: its queue is full.
fn full_queue() -> (std::os::fd::OwnedFd, Vec<TcpStream>, String) {
    use nix::sys::socket::{
        AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, bind, getsockname, listen, socket,
    };
    use std::os::fd::AsRawFd;
    let kind = (AddressFamily::Inet, SockType::Stream);
    let listener = socket(kind.0, kind.1, SockFlag::SOCK_CLOEXEC, None).unwrap();
    bind(listener.as_raw_fd(), &SockaddrIn::new(127, 0, 0, 1, 0)).unwrap();
    listen(&listener, Backlog::new(0).unwrap()).unwrap();
    let address: SockaddrIn = getsockname(listener.as_raw_fd()).unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, address.port()));
    let short = Duration::from_millis(200);
    let waiting = std::iter::from_fn(|| TcpStream::connect_timeout(&address, short).ok());
    let waiting = waiting.take(64).collect();
    (listener, waiting, address.to_string())
}

#[test]
fn a_host_that_does_not_answer_is_given_up() {
    let (_listener, waiting, host) = full_queue();
    assert!(waiting.len() < 64, "its queue has no end");
    let bounds = Bounds {
        connect_within: Duration::from_millis(100),
        ..Bounds::default()
    };
    let egress = proxy_with(std::slice::from_ref(&host), bounds, None);
    let said = all_of(&egress, &connect_once(&host, &credential(&egress)));
    assert!(said.starts_with("HTTP/1.1 504"), "{said}");
    // It was allowed: trouble is no refusal.
    assert_eq!(count(&egress, &host).refused, 0);
}

#[test]
fn a_host_where_nobody_listens_is_said_to_be_allowed() {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let host = free.local_addr().unwrap().to_string();
    drop(free);
    let egress = proxy(std::slice::from_ref(&host));
    let said = all_of(&egress, &connect_once(&host, &credential(&egress)));
    assert!(
        said.starts_with("HTTP/1.1 502") && said.contains("is allowed, but"),
        "{said}"
    );
    assert_eq!(count(&egress, &host).refused, 0);
}
