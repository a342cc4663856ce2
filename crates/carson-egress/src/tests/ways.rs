//! What is let through, and what is not.

use super::*;

#[test]
fn an_allowed_host_is_reached_through_a_tunnel_and_counted() {
    let server = Server::echo();
    let host = format!("allowed.example:{}", server.port());
    let egress = proxy(&[host.clone(), format!("127.0.0.1:{}", server.port())]);

    let mut stream = dial(&egress);
    let said = head_of(&mut stream, &connect(&host, &credential(&egress)));
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    stream.write_all(b"hello").unwrap();
    let mut echo = [0; 5];
    stream.read_exact(&mut echo).unwrap();

    assert_eq!(&echo, b"hello");
    let counted = count(&egress, &host);
    assert_eq!((counted.allowed, counted.refused), (1, 0));
    assert_eq!((counted.bytes_up, counted.bytes_down), (5, 5));
}

#[test]
fn another_host_is_refused_counted_and_told_once() {
    let server = Server::echo();
    let egress = proxy(&[format!("allowed.example:{}", server.port())]);
    let mut news = egress.news().unwrap();
    let port = server.port();
    let hosts = [
        format!("127.0.0.1:{port}"),
        format!("evilallowed.example:{port}"),
        format!("allowed.example.evil:{port}"),
        "allowed.example:1".to_owned(),
    ];
    for host in hosts.iter().chain(&hosts) {
        let said = all_of(&egress, &connect_once(host, &credential(&egress)));
        assert!(said.starts_with("HTTP/1.1 403"), "{said}");
        assert!(said.contains(&format!("{host} is not allowed")), "{said}");
        assert!(
            said.contains("`egress`") && said.contains("[BLOCKED]"),
            "{said}"
        );
    }
    for host in &hosts {
        assert_eq!(count(&egress, host).refused, 2, "{host}");
        assert_eq!(news.blocking_recv().unwrap().host, *host);
    }
    assert!(news.try_recv().is_err());
    assert!(server.was_left_alone());
}

#[test]
fn a_name_that_leads_here_or_to_metadata_is_refused() {
    let server = Server::echo();
    let rebound = format!("rebound.example:{}", server.port());
    let metadata = "metadata.example:80".to_owned();
    let egress = proxy(&[rebound.clone(), metadata.clone()]);
    for (host, address) in [(rebound, "127.0.0.1"), (metadata, "169.254.169.254")] {
        let said = all_of(&egress, &connect_once(&host, &credential(&egress)));
        assert!(said.starts_with("HTTP/1.1 403"), "{said}");
        assert!(said.contains(&format!("resolves to {address}")), "{said}");
        assert_eq!(count(&egress, &host).refused, 1);
    }
    assert!(server.was_left_alone());
}

#[test]
fn another_address_of_this_machine_is_this_machine_too() {
    let listed = nix::ifaddrs::getifaddrs().unwrap();
    let other = listed.filter_map(|one| Some(one.address?.as_sockaddr_in()?.ip()));
    let Some(other) = other.into_iter().find(|ip| !ip.is_loopback()) else {
        return; // A machine without a network has none.
    };
    let server = TcpListener::bind((other, 0)).unwrap();
    let port = server.local_addr().unwrap().port();
    let host = format!("own.example:{port}");
    let open = |more: &[String]| {
        Egress::open(Plan {
            rules: Some(rules(&[std::slice::from_ref(&host), more].concat())),
            provider: None,
            resolver: Resolver::system().with("own.example", &[other.into()]),
            bounds: Bounds::default(),
        })
        .unwrap()
    };
    let egress = open(&[]);
    let said = all_of(&egress, &connect_once(&host, &credential(&egress)));
    assert!(said.starts_with("HTTP/1.1 403"), "{said}");
    let egress = open(&[format!("{other}:{port}")]);
    let said = head_of(&mut dial(&egress), &connect(&host, &credential(&egress)));
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
}

#[test]
fn localhost_is_reached_when_a_rule_says_so() {
    let server = Server::echo();
    let egress = proxy(&[format!("localhost:{}", server.port())]);
    for name in ["localhost", "127.0.0.1", "LocalHost.", "0x7f.1"] {
        let host = format!("{name}:{}", server.port());
        let said = head_of(&mut dial(&egress), &connect(&host, &credential(&egress)));
        assert!(said.starts_with("HTTP/1.1 200"), "{host}: {said}");
    }
}

#[test]
fn without_this_firings_token_nobody_gets_out() {
    let server = Server::echo();
    let host = format!("127.0.0.1:{}", server.port());
    let egress = proxy(std::slice::from_ref(&host));
    let other = proxy(std::slice::from_ref(&host));
    let wrong = [
        "",
        "Proxy-Authorization: Basic Y2Fyc29uOng=\r\n",
        &credential(&other),
    ];
    for credential in wrong {
        let said = all_of(&egress, &connect_once(&host, credential));
        assert!(said.starts_with("HTTP/1.1 407"), "{said}");
        assert!(
            said.to_lowercase().contains("proxy-authenticate: basic"),
            "{said}"
        );
        let get = format!(
            "GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{credential}\r\n"
        );
        assert!(all_of(&egress, &get).starts_with("HTTP/1.1 407"));
    }
    assert_eq!(egress.counts(), []);
    assert!(server.was_left_alone());
}

#[test]
fn a_plain_request_is_passed_on_without_what_is_ours() {
    let server =
        Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: x\r\n\r\nhi");
    let host = format!("127.0.0.1:{}", server.port());
    let egress = proxy(std::slice::from_ref(&host));
    let request = format!(
        "GET http://{host}/path?q=1 HTTP/1.1\r\nHost: other.example\r\nX-Mine: 1\r\n\
         X-Hop: 1\r\nConnection: close, x-hop\r\nProxy-Connection: keep-alive\r\n{}\r\n",
        credential(&egress)
    );
    let said = all_of(&egress, &request);
    assert!(
        said.starts_with("HTTP/1.1 200 OK") && said.ends_with("hi"),
        "{said}"
    );
    assert!(!said.to_lowercase().contains("keep-alive"), "{said}");
    let head = server.head().to_lowercase();
    assert!(head.starts_with("get /path?q=1 http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("host: {host}\r\n")), "{head}");
    assert!(head.contains("x-mine: 1"), "{head}");
    for gone in ["other.example", "x-hop", "proxy-", "connection"] {
        assert!(!head.contains(gone), "{gone}: {head}");
    }
    assert_eq!(count(&egress, &host).allowed, 1);
}

#[test]
fn a_plain_request_to_another_host_is_refused() {
    let egress = proxy(&["allowed.example:80".into()]);
    for (host, shown) in [
        ("denied.example", "denied.example:80"),
        ("allowed.example:81", "allowed.example:81"),
    ] {
        let request = format!(
            "GET http://{host}/ HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\n{}\r\n",
            credential(&egress)
        );
        let said = all_of(&egress, &request);
        assert!(
            said.starts_with("HTTP/1.1 403") && said.contains(shown),
            "{said}"
        );
    }
}

#[test]
fn what_is_no_proxy_request_is_said_to_be_none() {
    let egress = proxy(&["allowed.example:80".into()]);
    let credential = credential(&egress);
    for first in [
        "GET https://allowed.example/ HTTP/1.1",
        "GET http://user:pw@allowed.example/ HTTP/1.1",
        "CONNECT allowed.example HTTP/1.1",
        "GET / HTTP/1.1",
        "GET ftp://allowed.example/ HTTP/1.1",
    ] {
        let request = format!("{first}\r\nHost: x\r\nConnection: close\r\n{credential}\r\n");
        let said = all_of(&egress, &request);
        assert!(said.starts_with("HTTP/1.1 400"), "{first}: {said}");
    }
    assert_eq!(egress.counts(), []);
}

#[test]
fn nothing_goes_on_after_the_end() {
    let server = Server::echo();
    let host = format!("127.0.0.1:{}", server.port());
    let egress = proxy(std::slice::from_ref(&host));
    let mut stream = dial(&egress);
    assert!(head_of(&mut stream, &connect(&host, &credential(&egress))).contains(" 200 "));
    let port = egress.port();
    drop(egress);
    // The tunnel that was open is closed, and nobody opens a new one.
    assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
}

#[test]
fn a_listener_that_is_handed_over_is_served_until_the_next_one() {
    let server = Server::echo();
    let host = format!("127.0.0.1:{}", server.port());
    let egress = proxy(std::slice::from_ref(&host));
    let credential = credential(&egress);
    let hand_over = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        egress.listen_on(listener);
        address
    };
    let first = hand_over();
    let works = |address: SocketAddr| {
        TcpStream::connect(address).is_ok_and(|mut stream| {
            head_of(&mut stream, &connect(&host, &credential)).contains(" 200 ")
        })
    };
    assert!(works(first));
    let second = hand_over();
    until("the first one is closed", || {
        TcpStream::connect(first).is_err()
    });
    assert!(works(second));
    assert!(head_of(&mut dial(&egress), &connect(&host, &credential)).contains(" 200 "));
}
