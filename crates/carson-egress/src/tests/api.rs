//! The provider's API behind the proxy: the key is on one side of it, the token on the other.

use carson_core::Api;
use secrecy::SecretString;

use super::*;

const KEY: &str = "sk-real-7c1e";

fn provider(api: Api, upstream: &str, header: Option<&str>) -> Provider {
    Provider {
        api,
        base: upstream.to_owned(),
        header: header.map(str::to_owned),
        key: SecretString::from(KEY),
        allowed: vec!["web_search".to_owned()],
    }
}

/// A proxy that holds the key to a server, without any rule of egress.
fn keeper(server: &Server, api: Api) -> Egress {
    let upstream = format!("http://{}", server.address);
    proxy_with(&[], Bounds::default(), Some(provider(api, &upstream, None)))
}

fn post(path: &str, headers: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n{headers}\r\n{{}}"
    )
}

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Said: 1\r\n\r\ndone";

#[test]
fn the_key_takes_the_tokens_place() {
    let server = Server::answering(ANSWER);
    let egress = keeper(&server, Api::Anthropic);
    let token = variable(&egress, "ANTHROPIC_API_KEY");
    let base = variable(&egress, "ANTHROPIC_BASE_URL");
    assert_eq!(base, format!("http://127.0.0.1:{}", egress.port()));
    for sign_in in ["x-api-key: ", "Authorization: Bearer "] {
        let headers =
            format!("{sign_in}{token}\r\nanthropic-beta: effort-2025-11-24,x\r\nCookie: a=b\r\n");
        // Clients that think the proxy is for this address too send the whole of it.
        for path in [
            "/v1/messages?beta=true",
            &format!("{base}/v1/messages?beta=true"),
        ] {
            let said = all_of(&egress, &post(path, &headers));
            assert!(
                said.starts_with("HTTP/1.1 200") && said.ends_with("done"),
                "{said}"
            );
            assert!(said.contains("x-said: 1"), "{said}");
            let head = server.head();
            assert!(
                head.starts_with("POST /v1/messages?beta=true HTTP/1.1\r\n"),
                "{head}"
            );
            assert!(head.contains(&format!("x-api-key: {KEY}\r\n")), "{head}");
            assert!(
                head.contains("anthropic-beta: effort-2025-11-24\r\n"),
                "{head}"
            );
            assert!(
                head.contains(&format!("host: {}", server.address)),
                "{head}"
            );
            for gone in [&token, "authorization", "cookie"] {
                assert!(!head.contains(gone), "{gone}: {head}");
            }
        }
    }
    let counted = count(&egress, &server.address.to_string());
    assert_eq!(
        (counted.allowed, counted.bytes_up, counted.bytes_down),
        (4, 8, 16)
    );
}

#[test]
fn how_long_the_provider_wants_to_be_left_alone_is_known_until_it_answers() {
    let busy = "HTTP/1.1 529 Overloaded\r\nContent-Length: 0\r\nRetry-After: 8\r\n\r\n";
    let limited = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\
                   anthropic-ratelimit-requests-reset: 2026-11-24T06:00:00Z\r\nx-other: 9\r\n\r\n";
    let (after, reset) = ("retry-after", "anthropic-ratelimit-requests-reset");
    for (answer, wanted) in [
        (busy, Some((after, "8"))),
        (limited, Some((reset, "2026-11-24T06:00:00Z"))),
        (ANSWER, None),
    ] {
        let server = Server::answering(answer);
        let egress = keeper(&server, Api::Anthropic);
        let token = variable(&egress, "ANTHROPIC_API_KEY");
        let said = all_of(
            &egress,
            &post("/v1/messages", &format!("x-api-key: {token}\r\n")),
        );
        assert!(said.starts_with("HTTP/1.1"), "{said}");
        let known = egress.resets().map(|(headers, _)| headers);
        let wanted = wanted.map(|(name, value)| vec![(name.to_owned(), value.to_owned())]);
        assert_eq!(known, wanted);
    }
}

#[test]
fn an_openai_key_is_a_bearer() {
    let server = Server::answering(ANSWER);
    let egress = keeper(&server, Api::OpenAi);
    let token = variable(&egress, "OPENAI_API_KEY");
    let base = variable(&egress, "OPENAI_BASE_URL");
    let path = base
        .strip_prefix(&format!("http://127.0.0.1:{}", egress.port()))
        .unwrap();
    let request = post(
        &format!("{path}/responses"),
        &format!("Authorization: Bearer {token}\r\n"),
    );
    assert!(all_of(&egress, &request).starts_with("HTTP/1.1 200"));
    let head = server.head();
    assert!(
        head.contains(&format!("authorization: Bearer {KEY}\r\n")),
        "{head}"
    );
}

#[test]
fn without_the_token_or_elsewhere_the_key_stays_home() {
    let server = Server::answering(ANSWER);
    let egress = keeper(&server, Api::Anthropic);
    let other = keeper(&server, Api::Anthropic);
    let token = format!("x-api-key: {}\r\n", variable(&egress, "ANTHROPIC_API_KEY"));
    let wrong = format!("x-api-key: {}\r\n", variable(&other, "ANTHROPIC_API_KEY"));
    for (path, headers, code) in [
        ("/v1/messages", "", "401"),
        ("/v1/messages", "x-api-key: sk-test\r\n", "401"),
        ("/v1/messages", &wrong, "401"),
        ("/v1/files", &token, "403"),
        ("/v1/messages/../files", &token, "403"),
        ("/", &token, "403"),
    ] {
        let said = all_of(&egress, &post(path, headers));
        assert!(
            said.starts_with(&format!("HTTP/1.1 {code}")),
            "{path}: {said}"
        );
        assert!(!said.contains(KEY), "{said}");
    }
    assert!(server.was_left_alone());
}

#[test]
fn a_redirect_is_not_followed_with_the_key() {
    let elsewhere = Server::answering(ANSWER);
    let there: &'static str = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{}/\r\nContent-Length: 0\r\n\r\n",
        elsewhere.address
    )
    .leak();
    let server = Server::answering(there);
    let egress = keeper(&server, Api::Anthropic);
    let token = format!("x-api-key: {}\r\n", variable(&egress, "ANTHROPIC_API_KEY"));
    let said = all_of(&egress, &post("/v1/messages", &token));
    assert!(said.starts_with("HTTP/1.1 307"), "{said}");
    assert!(elsewhere.was_left_alone());
}

#[test]
fn events_come_as_they_are_sent() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    let (go_on, wait) = mpsc::channel::<()>();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert_ne!(stream.read(&mut [0; 4096]).unwrap(), 0);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(b"9\r\ndata: a\n\n\r\n").unwrap();
        // The second event is sent only when the first has arrived.
        wait.recv_timeout(PATIENCE).unwrap();
        stream.write_all(b"9\r\ndata: b\n\n\r\n0\r\n\r\n").unwrap();
    });
    let egress = proxy_with(
        &[],
        Bounds::default(),
        Some(provider(Api::Anthropic, &upstream, None)),
    );
    let token = format!("x-api-key: {}\r\n", variable(&egress, "ANTHROPIC_API_KEY"));
    let mut stream = dial(&egress);
    let head = head_of(&mut stream, &post("/v1/messages", &token));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let mut first = Vec::new();
    let mut byte = [0];
    while !first.ends_with(b"data: a\n\n") {
        stream.read_exact(&mut byte).unwrap();
        first.push(byte[0]);
    }
    go_on.send(()).unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("data: b"), "{rest}");
    serving.join().unwrap();
}

#[test]
fn an_upstream_that_is_away_is_said_without_its_address() {
    let upstream = {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        format!("http://{}/secret-path", free.local_addr().unwrap())
    };
    let egress = proxy_with(
        &[],
        Bounds::default(),
        Some(provider(Api::Anthropic, &upstream, None)),
    );
    let token = format!("x-api-key: {}\r\n", variable(&egress, "ANTHROPIC_API_KEY"));
    let said = all_of(&egress, &post("/v1/messages", &token));
    assert!(said.starts_with("HTTP/1.1 502"), "{said}");
    assert!(
        !said.contains("secret-path") && !said.contains(KEY),
        "{said}"
    );
}

#[test]
fn a_client_that_tunnels_everything_reaches_the_api_too() {
    let server = Server::answering(ANSWER);
    let egress = keeper(&server, Api::Anthropic);
    let own = format!("127.0.0.1:{}", egress.port());
    let token = format!("x-api-key: {}\r\n", variable(&egress, "ANTHROPIC_API_KEY"));
    let mut stream = dial(&egress);
    let said = head_of(&mut stream, &connect(&own, &credential(&egress)));
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    stream
        .write_all(post("/v1/messages", &token).as_bytes())
        .unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(
        said.starts_with("HTTP/1.1 200") && said.ends_with("done"),
        "{said}"
    );
    assert_eq!(egress.counts().len(), 1, "{:?}", egress.counts());
    // A proxy that serves no API is no host of its own.
    let closed = proxy(&[]);
    let own = format!("127.0.0.1:{}", closed.port());
    let said = all_of(&closed, &connect_once(&own, &credential(&closed)));
    assert!(said.starts_with("HTTP/1.1 403"), "{said}");
}

#[test]
fn the_provider_fetches_nothing_for_a_session() {
    let server = Server::answering(ANSWER);
    let egress = keeper(&server, Api::Anthropic);
    let token = variable(&egress, "ANTHROPIC_API_KEY");
    let ask = |body: &str, header: &str| {
        let length = body.len();
        all_of(
            &egress,
            &format!(
                "POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: {token}\r\n\
                 Content-Length: {length}\r\n{header}\r\n{body}"
            ),
        )
    };
    for (body, header, code, says) in [
        (
            "{\"mcp_servers\":[]}",
            "",
            "403",
            "`mcp_servers` is not allowed",
        ),
        (
            "{\"tools\":[{\"type\":\"web_fetch_20250910\"}]}",
            "",
            "403",
            "allow_provider = [\"web_fetch\"]",
        ),
        ("{\"a\":1,\"a\":2}", "", "400", "each name once"),
        ("{}", "Content-Encoding: gzip\r\n", "400", "packed"),
    ] {
        let said = ask(body, header);
        assert!(
            said.starts_with(&format!("HTTP/1.1 {code}")),
            "{body}: {said}"
        );
        assert!(said.contains(says), "{body}: {said}");
    }
    assert_eq!(count(&egress, &server.address.to_string()).allowed, 0);
    // What the operator allowed passes, as it was written.
    let said = ask("{\"tools\":[{\"type\":\"web_search_20250305\"}]}", "");
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
}
