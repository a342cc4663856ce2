//! Which hosts and addresses a list allows.

use proptest::prelude::*;

use super::*;

fn rule(text: &str) -> Rule {
    text.parse().unwrap()
}

fn target(text: &str) -> Target {
    text.parse().unwrap()
}

fn allowed(rules: &[&str], host: &str) -> bool {
    Allowlist(rules.iter().map(|text| rule(text)).collect()).names(&target(host))
}

#[test]
fn a_host_is_matched_whole() {
    let rules = ["example.com:443"];
    for host in ["example.com:443", "EXAMPLE.com.:443", "ex%61mple.com:443"] {
        assert!(allowed(&rules, host), "{host}");
    }
    for host in [
        "evilexample.com:443",
        "example.com.evil:443",
        "example.com.evil.com:443",
        "www.example.com:443",
        "example.com:80",
        "example.com:4430",
        "example.co:443",
        "xn--exampe-7db.com:443",
    ] {
        assert!(!allowed(&rules, host), "{host}");
    }
}

#[test]
fn a_star_stands_for_sub_domains_only() {
    let rules = ["*.example.com:443"];
    for host in [
        "a.example.com:443",
        "a.b.c.example.com:443",
        "A.Example.COM.:443",
    ] {
        assert!(allowed(&rules, host), "{host}");
    }
    for host in [
        "example.com:443",
        "evilexample.com:443",
        "a.evilexample.com:443",
        "a.example.com.evil:443",
        "a.example.com:80",
    ] {
        assert!(!allowed(&rules, host), "{host}");
    }
}

#[test]
fn addresses_have_one_form() {
    for host in [
        "127.0.0.1:80",
        "127.1:80",
        "0x7f.1:80",
        "2130706433:80",
        "[::ffff:7f00:1]:80",
    ] {
        assert!(allowed(&["127.0.0.1:80"], host), "{host}");
    }
    assert!(allowed(&["[2001:DB8:0::1]:80"], "[2001:db8::1]:80"));
    assert!(!allowed(&["[2001:db8::1]:80"], "[2001:db8::2]:80"));
    assert!(!allowed(&["127.0.0.1:80"], "localhost:80"));
    // `localhost` is this machine, however it is written.
    for host in ["localhost:80", "LOCALHOST.:80", "127.0.0.1:80", "[::1]:80"] {
        assert!(allowed(&["localhost:80"], host), "{host}");
    }
    assert!(!allowed(&["localhost:80"], "localhost.example.com:80"));
    assert!(!allowed(&["localhost:80"], "a.localhost:80"));
}

#[test]
fn names_in_other_scripts_are_what_dns_sees() {
    assert!(allowed(
        &["bücher.example:443"],
        "xn--bcher-kva.example:443"
    ));
    assert!(allowed(
        &["*.xn--bcher-kva.example:443"],
        "a.BÜCHER.example:443"
    ));
    // A Cyrillic "а" is another letter.
    assert!(!allowed(
        &["paypal.example:443"],
        "p\u{430}ypal.example:443"
    ));
    // A full stop of another script separates labels all the same.
    assert!(allowed(&["a.example:443"], "a\u{3002}example:443"));
}

#[test]
fn what_is_no_rule_says_why() {
    let said = |text: &str| {
        let error = text.parse::<Rule>().unwrap_err();
        (error.to_string(), error.hint())
    };
    let (problem, hint) = said("api.example.com");
    assert!(problem.ends_with("has no port"), "{problem}");
    assert_eq!(hint, "did you mean \"api.example.com:443\"?");
    let (problem, hint) = said("http://api.example.com/v1");
    assert!(problem.contains("page"), "{problem}");
    assert_eq!(hint, "did you mean \"api.example.com:80\"?");
    assert_eq!(
        said("https://a.example:8443").1,
        "did you mean \"a.example:8443\"?"
    );
    for text in [
        "*:443",
        "*.*.example:443",
        "a.*.example:443",
        "ex*mple.com:443",
        "*.10.0.0.1:80",
    ] {
        assert!(said(text).0.contains('*'), "{text}");
    }
    for text in [
        "",
        ":443",
        "a.example:",
        "a.example:0",
        "a.example:65536",
        "a.example:+443",
        "a.example:https",
        "a..example:443",
        "a.example..:443",
        "[::1%eth0]:443",
        "[::1]443",
        "::1",
        "a b:443",
        "user@a.example:443",
        "a!b.example:443",
        "1.2.3.4.5:443",
        "a.example:443:443",
    ] {
        assert!(text.parse::<Rule>().is_err(), "{text:?}");
    }
    let long = format!("{}:443", ["a"; 200].join("."));
    assert!(long.parse::<Rule>().is_err());
}

#[test]
fn no_name_leads_to_this_machine_or_to_metadata() {
    let names = Allowlist(vec![rule("a.example:80"), rule("*.b.example:80")]);
    for host in ["a.example:80", "x.b.example:80"] {
        for address in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "169.254.169.254",
            "169.254.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "100.100.100.200",
            "192.0.0.192",
            "::1",
            "::",
            "fe80::1",
            "ff02::1",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd00:42::42",
            "::ffff:0:a9fe:a9fe",
            "2001:0:7f00:1::",
            "::ffff:127.0.0.1",
            "::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
        ] {
            let at = address.parse().unwrap();
            assert!(!names.admits(&target(host), at), "{host} at {address}");
        }
        for address in ["192.0.2.1", "10.1.2.3", "2001:db8::1", "fd12::1"] {
            let at = address.parse().unwrap();
            assert!(names.admits(&target(host), at), "{host} at {address}");
        }
    }
    assert!(!names.admits(&target("c.example:80"), "192.0.2.1".parse().unwrap()));
}

#[test]
fn an_address_that_a_rule_names_may_be_reached_by_name() {
    let loopback = "127.0.0.1".parse().unwrap();
    let metadata = "169.254.169.254".parse().unwrap();
    let rules = |more: &str| Allowlist(vec![rule("a.example:80"), rule(more)]);
    assert!(rules("127.0.0.1:80").admits(&target("a.example:80"), loopback));
    assert!(rules("localhost:80").admits(&target("a.example:80"), loopback));
    assert!(!rules("127.0.0.1:81").admits(&target("a.example:80"), loopback));
    assert!(rules("169.254.169.254:80").admits(&target("a.example:80"), metadata));
    assert!(rules("169.254.169.254:80").admits(&target("169.254.169.254:80"), metadata));
    // A name whose resolver lies about localhost stays here.
    let away = "192.0.2.1".parse().unwrap();
    assert!(!rules("localhost:80").admits(&target("localhost:80"), away));
}

fn label() -> impl Strategy<Value = String> {
    "[a-z]([a-z0-9-]{0,8}[a-z0-9])?"
}

fn name() -> impl Strategy<Value = String> {
    // The last label is never a number, which would make it an address.
    prop::collection::vec(label(), 1..5).prop_map(|labels| labels.join("."))
}

proptest! {
    #[test]
    fn a_rule_is_read_as_it_is_shown(name in name(), port in 1u16.., star: bool) {
        let text = format!("{}{name}:{port}", if star { "*." } else { "" });
        if let Ok(rule) = text.parse::<Rule>() {
            prop_assert_eq!(rule.to_string().parse::<Rule>().unwrap(), rule);
        }
    }

    #[test]
    fn no_text_makes_the_parsers_fail_badly(text in "\\PC{0,40}") {
        if let Ok(rule) = text.parse::<Rule>() {
            prop_assert_eq!(rule.to_string().parse::<Rule>().unwrap(), rule);
        }
        if let Ok(target) = text.parse::<Target>() {
            prop_assert_eq!(target.to_string().parse::<Target>().unwrap(), target);
        }
    }

    /// The labels of the host are the reference: a rule may compare nothing else.
    #[test]
    fn matching_is_a_comparison_of_labels(own in name(), host in name(), port in 1u16.., other in 1u16.., star: bool) {
        let text = format!("{}{own}:{port}", if star { "*." } else { "" });
        let (Ok(rule), Ok(target)) = (text.parse::<Rule>(), format!("{host}:{other}").parse::<Target>()) else {
            return Ok(());
        };
        let (own, host): (Vec<&str>, Vec<&str>) = (own.split('.').collect(), host.split('.').collect());
        let hosts = if star { host.len() > own.len() && host.ends_with(&own) } else { host == own };
        prop_assert_eq!(rule.names(&target), hosts && port == other);
    }

    #[test]
    fn nothing_before_or_behind_a_name_matches(own in name(), more in label(), star: bool) {
        let text = format!("{}{own}.example:443", if star { "*." } else { "" });
        // What looks like an encoded name and is none is no host.
        let (Ok(rule), Ok(below)) = (text.parse::<Rule>(), format!("{more}.{own}.example:443").parse::<Target>()) else {
            return Ok(());
        };
        for host in [
            format!("{more}{own}.example:443"),
            format!("{own}.example.{more}:443"),
            format!("{own}.example-{more}:443"),
            format!("{more}-{own}.example:443"),
        ] {
            let Ok(target) = host.parse::<Target>() else { continue };
            prop_assert!(!rule.names(&target), "{} took {}", rule, host);
        }
        prop_assert_eq!(rule.names(&below), star);
    }
}

#[test]
fn without_a_list_everybody_is_allowed_but_this_machine_and_its_metadata() {
    let open = Allowlist(vec![Rule::any(), rule("127.0.0.1:4000")]);
    let admits = |host: &str, address: &str| open.admits(&target(host), address.parse().unwrap());
    assert!(admits("example.com:443", "93.184.216.34"));
    assert!(admits("93.184.216.34:22", "93.184.216.34"));
    assert!(admits("intranet.example:8080", "10.0.0.7"));
    for (host, address) in [
        ("example.com:443", "127.0.0.1"),
        ("localhost:5432", "127.0.0.1"),
        ("127.0.0.1:5432", "127.0.0.1"),
        ("[::1]:80", "::1"),
        ("0.0.0.0:80", "0.0.0.0"),
        ("metadata.example:80", "169.254.169.254"),
        ("169.254.169.254:80", "169.254.169.254"),
        ("100.100.100.200:80", "100.100.100.200"),
        ("[fd00:ec2::254]:80", "fd00:ec2::254"),
        ("[::ffff:169.254.169.254]:80", "::ffff:169.254.169.254"),
    ] {
        assert!(!admits(host, address), "{host} at {address}");
    }
    assert!(admits("127.0.0.1:4000", "127.0.0.1"), "it is named");
    assert!(!open.spells(&target("192.0.2.1:80")), "nobody else is");
    assert!("*".parse::<Rule>().is_err(), "nobody writes it");
}
