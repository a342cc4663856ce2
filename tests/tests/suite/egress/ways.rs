//! Which ways out there are, whatever the kernel can do.

use super::*;

/// Prints `NAME: what came`, or `NAME: nothing`.
const TRY: &str = r#"
try() { name=$1; shift; said=$("$@" 2>/dev/null); if [ -n "$said" ]; then echo "$name: $said"; else echo "$name: nothing"; fi; }
tcp() { timeout 5 bash -c "exec 3<>/dev/tcp/$1/$2 && printf 'GET / HTTP/1.0\r\n\r\n' >&3 && cat <&3"; }
page() { curl --silent --max-time 10 "$@"; }
"#;

struct Place {
    fleet: TestFleet,
    named: Page,
    other: Page,
    v6: Option<Page>,
    mailbox: Mailbox,
}

impl Place {
    fn with(more: &str, fleet: TestFleet) -> Self {
        let (named, other) = (
            Page::at("127.0.0.1").unwrap(),
            Page::at("127.0.0.1").unwrap(),
        );
        let (v6, mailbox) = (Page::at("::1"), Mailbox::new());
        let script = format!(
            r#"{TRY}
            try named page http://{named}/
            try tunnel page --proxytunnel http://{named}/
            try other page http://{other}/
            try othertunnel page --proxytunnel --write-out '%{{http_connect}}' http://{other}/
            try anonymous page --proxy "http://${{HTTPS_PROXY##*@}}" --write-out '%{{http_code}}' --output /dev/null http://{named}/
            try direct tcp 127.0.0.1 {}
            try directother tcp 127.0.0.1 {}
            try directv6 tcp ::1 {}
            (echo question > /dev/udp/127.0.0.1/{}) 2>/dev/null && echo "udp: sent" || echo "udp: nothing"
            echo "names: $HTTPS_PROXY $https_proxy $HTTP_PROXY $http_proxy $ALL_PROXY $all_proxy" | tr A-Za-z N-ZA-Mn-za-m
            echo "none: [$NO_PROXY$no_proxy]"
            "#,
            named.port,
            other.port,
            v6.as_ref().map_or(1, |page| page.port),
            mailbox.port(),
            named = named.address,
            other = other.address,
        );
        let egress = format!("egress = [\"{}\"]\n{more}", named.address);
        scripted(&fleet, &script, &egress);
        Self {
            fleet,
            named,
            other,
            v6,
            mailbox,
        }
    }

    /// The part that holds at every level: what asks the proxy is judged.
    fn is_judged(&self, row: &Value, said: &str) {
        for line in [
            "named: the page",
            "tunnel: the page",
            "anonymous: 407",
            "none: []",
        ] {
            assert!(said.contains(line), "{line}: {said}\n{row:#}");
        }
        let refused = format!("{} is not allowed", self.other.address);
        assert!(
            said.contains(&format!("other: carson: {refused}")),
            "{said}"
        );
        assert!(said.contains("othertunnel: 403"), "{said}");
        let (named, other) = (
            host(row, &self.named.address),
            host(row, &self.other.address),
        );
        assert_eq!(
            (&named["allowed"], &named["refused"]),
            (&2.into(), &0.into())
        );
        assert!(named["bytes_down"].as_u64().unwrap() > 100, "{named}");
        assert_eq!(
            (&other["allowed"], &other["refused"]),
            (&0.into(), &2.into())
        );
        let proxy = said
            .lines()
            .find_map(|line| line.strip_prefix("names: "))
            .unwrap();
        let names: Vec<&str> = proxy.split(' ').collect();
        assert_eq!(names.len(), 6, "{proxy}");
        assert!(names.iter().all(|name| *name == names[0]), "{proxy}");
        assert!(
            names[0].starts_with("http://carson:") && names[0].contains("@127.0.0.1:"),
            "{proxy}"
        );
    }

    /// Without the proxy there is no way.
    fn is_cut(&self, said: &str) {
        for line in [
            "direct: nothing",
            "directother: nothing",
            "directv6: nothing",
        ] {
            assert!(said.contains(line), "{line}: {said}");
        }
        assert_eq!(self.other.asked(), 0);
        assert_eq!(self.v6.as_ref().map_or(0, Page::asked), 0);
        assert!(self.mailbox.is_empty(), "a datagram came: {said}");
        assert_eq!(self.named.asked(), 2, "{said}");
    }
}

#[test]
fn only_what_is_named_is_reached_and_only_through_the_proxy() {
    let place = Place::with("sandbox = \"required\"", TestFleet::new());
    let (row, said) = fired(&place.fleet);
    place.is_judged(&row, &said);
    place.is_cut(&said);
    let level = row["sandbox"]["network"].as_str().unwrap_or_default();
    assert!(["isolated", "ports"].contains(&level), "{row:#}");

    // The operator sees it.
    let why = place.fleet.carson(&["why", ROLE]).stdout;
    assert!(
        why.contains(&format!("{}: refused 2 times", place.other.address)),
        "{why}"
    );
    let id = row["id"].as_str().unwrap();
    let shown = place.fleet.carson(&["firings", id]).stdout;
    assert!(
        shown.contains(&format!("{}: connected 2 times", place.named.address)),
        "{shown}"
    );
    assert_eq!(place.fleet.benches(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn without_namespaces_landlock_and_seccomp_cut_the_other_ways() {
    let fleet = TestFleet::new().with_env("CARSON_SANDBOX_FORCE", "{\"namespaces\":false}");
    let place = Place::with("sandbox = \"required\"", fleet);
    let (row, said) = fired(&place.fleet);
    if said.is_empty() {
        // A kernel without Landlock for TCP says so, and runs nothing.
        assert_eq!(row["outcome"], "BLOCKED", "{row:#}");
        return;
    }
    assert_eq!(row["sandbox"]["network"], "ports", "{row:#}");
    place.is_judged(&row, &said);
    place.is_cut(&said);
}

#[test]
fn where_nothing_can_be_cut_a_required_sandbox_refuses() {
    let less = "{\"namespaces\":false,\"landlock\":0}";
    let fleet = TestFleet::new().with_env("CARSON_SANDBOX_FORCE", less);
    let place = Place::with("sandbox = \"required\"", fleet);
    let (row, said) = fired(&place.fleet);
    assert_eq!(row["outcome"], "BLOCKED", "{row:#}\n{said}");
    assert!(
        row["reason"].as_str().unwrap().contains("network"),
        "{row:#}"
    );
    assert_eq!((place.named.asked(), place.other.asked()), (0, 0));
}

#[test]
fn where_nothing_can_be_cut_the_best_effort_still_judges_and_says_so() {
    let less = "{\"namespaces\":false,\"landlock\":0}";
    let fleet = TestFleet::new().with_env("CARSON_SANDBOX_FORCE", less);
    let place = Place::with("", fleet);
    let (row, said) = fired(&place.fleet);
    place.is_judged(&row, &said);
    assert!(
        !["isolated", "ports"].contains(&row["sandbox"]["network"].as_str().unwrap()),
        "{row:#}"
    );
    assert_ne!(row["sandbox"]["weaker"], serde_json::json!([]), "{row:#}");
}

#[test]
fn an_empty_egress_is_no_way_out_and_this_machines_network_is_every_way() {
    let page = Page::at("127.0.0.1").unwrap();
    for (egress, answer) in [
        ("egress = []", "named: carson: "),
        ("network = \"host\"", "page: the page"),
    ] {
        let fleet = TestFleet::new();
        let script = format!(
            "{TRY}\ntry page page http://{}/\ntry named page http://host.invalid/",
            page.address
        );
        scripted(&fleet, &script, egress);
        let (row, said) = fired(&fleet);
        assert!(said.contains(answer), "{egress}: {said}\n{row:#}");
        assert_eq!(
            row["egress"].as_array().unwrap().is_empty(),
            egress.starts_with("network")
        );
    }
    assert_eq!(page.asked(), 1);
}

#[test]
fn a_session_reaches_the_servers_that_it_starts_itself() {
    let fleet = TestFleet::new();
    // In a network of its own; without one nobody's loopback may be reached.
    let script = format!("{TRY}\necho \"none: [$NO_PROXY]\"");
    scripted(&fleet, &script, "egress = [\"host.example:443\"]");
    let (row, said) = fired(&fleet);
    let own = row["sandbox"]["network"] == "isolated";
    let names = if own { "localhost,127.0.0.1,::1" } else { "" };
    assert!(said.contains(&format!("none: [{names}]")), "{said}");
}

#[test]
fn a_dry_run_and_the_role_say_where_it_leads() {
    let fleet = TestFleet::new();
    scripted(
        &fleet,
        "",
        "egress = [\"API.example.com:443\", \"*.example.org:443\"]",
    );
    let only = "egress: only api.example.com:443, *.example.org:443";
    for args in [&["roles", "show", ROLE][..], &["fire", ROLE, "--dry-run"]] {
        let said = fleet.carson(args).stdout;
        assert!(said.contains(only), "{args:?}: {said}");
    }
    let outlook = fleet.ok(&["fire", ROLE, "--dry-run", "--json"]);
    assert_eq!(
        outlook["egress"],
        serde_json::json!(["api.example.com:443", "*.example.org:443"])
    );
    let names = outlook["environment"].as_array().unwrap().iter();
    assert!(names.clone().any(|one| one["name"] == "HTTPS_PROXY"));
}
