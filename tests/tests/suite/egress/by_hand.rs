//! `carson sandbox --egress`: the list of a role, tried by hand.

use super::*;

/// `carson sandbox --egress … -- curl …`; its exit code, output and what it said.
fn curl(fleet: &TestFleet, more: &[&str], rule: &str, url: &str) -> carson_tests::fleet::Ran {
    let get = [
        "--",
        "curl",
        "--silent",
        "--show-error",
        "--max-time",
        "20",
        url,
    ];
    fleet.carson(&[&["sandbox", "--egress", rule], more, &get].concat())
}

#[test]
fn who_is_named_is_reached_and_who_is_not_is_told() {
    let fleet = TestFleet::new();
    let (named, other) = (
        Page::at("127.0.0.1").unwrap(),
        Page::at("127.0.0.1").unwrap(),
    );
    let url = |page: &Page| format!("http://localhost:{}/", page.port);
    let rule = format!("localhost:{}", named.port);

    let ran = curl(&fleet, &["--required"], &rule, &url(&named));
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "the page\n"),
        "{ran:#?}"
    );
    let level = "network: its own, with the proxy in it";
    let ports = "network: TCP to the given ports only";
    assert!(
        ran.stderr.contains(level) || ran.stderr.contains(ports),
        "{ran:#?}"
    );
    let said = format!("egress: {rule}: connected 1 time, ");
    assert!(ran.stderr.contains(&said), "{ran:#?}");

    let ran = curl(&fleet, &[], &rule, &url(&other));
    let refused = format!("localhost:{}", other.port);
    assert!(
        ran.stdout.contains(&format!("{refused} is not allowed")),
        "{ran:#?}"
    );
    assert!(
        ran.stderr
            .contains(&format!("egress: {refused}: refused 1 time")),
        "{ran:#?}"
    );

    // Who does not ask the proxy reaches nobody.
    let direct = url(&other);
    let past = [
        "sandbox",
        "--egress",
        &rule,
        "--",
        "curl",
        "--noproxy",
        "*",
        "--silent",
        &direct,
    ];
    let ran = fleet.carson(&past);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(7), ""), "{ran:#?}");
    assert_eq!((named.asked(), other.asked()), (1, 0));
}

#[test]
fn without_a_network_of_its_own_only_the_proxy_s_port_is_open() {
    let fleet = TestFleet::new();
    let page = Page::at("127.0.0.1").unwrap();
    let profile = fleet.root().join("profile.json");
    fs::write(
        &profile,
        r#"{"read": ["/usr", "/bin", "/lib", "/lib64", "/etc"], "force": {"namespaces": false}}"#,
    )
    .unwrap();
    let (rule, url) = (
        format!("localhost:{}", page.port),
        format!("http://{}/", page.address),
    );
    let more = ["--profile", profile.to_str().unwrap()];
    let ran = curl(&fleet, &more, &rule, &url.replace("127.0.0.1", "localhost"));
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "the page\n"),
        "{ran:#?}"
    );
    let ran = fleet.carson(
        &[
            &["sandbox", "--egress", &rule],
            &more[..],
            &["--", "curl", "--noproxy", "*", "--silent", &url],
        ]
        .concat(),
    );
    assert_eq!((ran.code, page.asked()), (Some(7), 1), "{ran:#?}");
}

#[test]
fn a_text_that_is_no_rule_is_said_before_anything_is_started() {
    let fleet = TestFleet::new();
    let ran = fleet.carson(&["sandbox", "--egress", "https://a.example/x", "--", "true"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(
        ran.stderr.contains("did you mean \"a.example:443\"?"),
        "{ran:#?}"
    );
    let both = [
        "sandbox",
        "--egress",
        "a.example:443",
        "--port",
        "1",
        "--",
        "true",
    ];
    assert_eq!(fleet.carson(&both).code, Some(2));
}

#[test]
fn its_end_is_the_command_s_and_nothing_stays_behind() {
    let fleet = TestFleet::new();
    let temp = fleet.root().join("temp");
    fs::create_dir(&temp).unwrap();
    let fleet = fleet.with_env("TMPDIR", &temp);
    let ran = fleet.carson(&[
        "sandbox",
        "--json",
        "--egress",
        "a.example:443",
        "--",
        "sh",
        "-c",
        "exit 3",
    ]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    let last = ran.stderr.lines().last().unwrap();
    let last: Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("{ran:#?}"));
    assert_eq!(last, serde_json::json!({"egress": []}));
    let killed = fleet.carson(&[
        "sandbox",
        "--egress",
        "a.example:443",
        "--",
        "sh",
        "-c",
        "kill -TERM $$; sleep 100",
    ]);
    assert_eq!(killed.code, None, "{killed:#?}");
    assert_eq!(fs::read_dir(temp).unwrap().count(), 0);
}
