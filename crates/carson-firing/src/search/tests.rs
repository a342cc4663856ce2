//! Whatever a push shows is searched, in time that grows with its bytes.

use std::time::{Duration, Instant};

use secrecy::SecretString;

use super::*;

/// A value of the home.
const VALUE: &str = "quiet-otter/9+mellow=hill";
/// A credential of somebody else, in two parts, so that this file holds none.
const TOKEN: (&str, &str) = ("ghp_", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV");

fn token() -> String {
    format!("{}{}", TOKEN.0, TOKEN.1)
}

/// A record as `next_brought` reads it: letter, name, text.
fn record(letter: u8, name: &[u8], text: &[u8]) -> Vec<u8> {
    let mut record = vec![letter];
    for bytes in [name, text] {
        record.extend((bytes.len() as u64).to_le_bytes());
        record.extend(bytes);
    }
    record
}

fn search(records: &[Vec<u8>], branch: &str, uncommitted: bool) -> Searched {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), records.concat()).unwrap();
    let search = Search {
        outgoing: file.path().to_owned(),
        names: vec![branch.to_owned()],
        uncommitted,
        scrub: vec!["Initech".to_owned()],
        secrets: Redactor::new([SecretString::from(VALUE)]).to_wire(),
        allowed: vec![("github".to_owned(), "fixtures/*".to_owned())],
    };
    search.answer().unwrap()
}

/// The rules and places of what is found in these records of one commit.
fn found(records: &[Vec<u8>]) -> Vec<(String, String)> {
    let commit = record(b'c', b"0123456789abcdef", b"");
    let all = [&[commit], records].concat();
    let leaks = search(&all, "carson/hand/issue-1-1a2b", true).leaks;
    let told = |leak: Leak| {
        assert_eq!(leak.commit, "0123456789");
        (leak.rule, leak.place)
    };
    leaks.into_iter().map(told).collect()
}

fn leak(rule: &str, place: &str) -> Vec<(String, String)> {
    vec![(rule.to_owned(), place.to_owned())]
}

#[test]
fn what_is_in_no_commit_is_told_so() {
    let leak = |commit: &str| Leak {
        rule: "known".to_owned(),
        commit: commit.to_owned(),
        place: "the file a".to_owned(),
    };
    assert_eq!(leak(UNCOMMITTED).at(), "in the file a, not committed");
    assert_eq!(
        leak("0123456789").at(),
        "in the file a of commit 0123456789"
    );
}

#[test]
fn names_that_never_leave_are_found_in_any_case_wherever_they_are() {
    let text = record(b'f', b"src/a.rs", b"// as INITECH has it\n");
    assert_eq!(found(&[text]), leak("scrub", "the file src/a.rs"));
    let name = record(b'n', b"docs/initech.md", b"");
    assert_eq!(found(&[name]), leak("scrub", "a file's name"));
    let message = record(b'm', b"", b"For Initech");
    assert_eq!(found(&[message]), leak("scrub", "the message"));
    assert_eq!(found(&[record(b'f', b"a", b"Init tech")]), []);
}

#[test]
fn words_of_hashes_are_not_suspicious() {
    let key = "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV";
    assert_eq!(suspicious_words(format!("x = \"{key}\"").as_bytes()), 1);
    let hashes = format!("sha512-{key}== 3f8a1c9e5b7d2046a8c1e3f507294b6d8f0a2c4e \0");
    assert_eq!(suspicious_words(hashes.as_bytes()), 0);
    assert_eq!(
        suspicious_words(hashes.trim_end_matches('\0').as_bytes()),
        0
    );
    assert!(!may_hold_words("package-lock.json") && may_hold_words("src/lock.rs"));
}

#[test]
fn every_place_is_searched() {
    let token = token();
    let header =
        format!("tree 1\nauthor {token} <a@b> 1 +0000\ncommitter c <d> 1 +0000\n\nMessage");
    let signed = format!("tree 1\ngpgsig {VALUE}\n\nMessage");
    let message = |text: &str| record(b'm', b"", text.as_bytes());
    assert_eq!(found(&[message(&header)]), leak("github", "the message"));
    assert_eq!(found(&[message(&signed)]), leak(KNOWN, "the message"));
    let name = |name: &str| record(b'n', name.as_bytes(), b"");
    assert_eq!(
        found(&[name(&format!("a/{token}.txt"))]),
        leak("github", "a file's name")
    );
    // A directory without anything in it is a name, too.
    assert_eq!(found(&[name(VALUE)]), leak(KNOWN, "a file's name"));
    let file = |name: &str, text: &[u8]| record(b'f', name.as_bytes(), text);
    assert_eq!(
        found(&[file("a", VALUE.as_bytes())]),
        leak(KNOWN, "the file a")
    );
    assert_eq!(found(&[file("fixtures/a", token.as_bytes())]), []);
    assert_eq!(
        found(&[file("fixtures/a", VALUE.as_bytes())]),
        leak(KNOWN, "the file fixtures/a")
    );
    let branch = search(&[], &format!("carson/hand/{token}"), true).leaks;
    assert_eq!(branch[0].place, "the branch's name");
    // What stays at home is no leak, and what only moved is none either.
    let left = [
        record(b'c', UNCOMMITTED.as_bytes(), b""),
        file("a", VALUE.as_bytes()),
    ];
    assert_eq!(search(&left, "b", false).leaks, []);
    assert_eq!(search(&left, "b", true).leaks.len(), 1);
    let [begun, rest] = left;
    let half = [begun, rest[..12].to_vec()];
    assert_eq!(search(&half, "b", false).leaks, []);
    let gone = |text: &str| record(b'g', b"old", text.as_bytes());
    assert_eq!(found(&[gone(&token), file("new", token.as_bytes())]), []);
    assert_eq!(
        found(&[gone(VALUE), file("new", VALUE.as_bytes())]),
        leak(KNOWN, "the file new")
    );
}

#[test]
fn two_bytes_a_letter_hide_nothing() {
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(order).collect() };
        let known = record(b'f', b"a", &wide(&format!("\u{feff}x = {VALUE}\r\n")));
        assert_eq!(found(&[known]), leak(KNOWN, "the file a"));
        let other = record(b'm', b"", &wide(&format!("see {}", token())));
        assert_eq!(found(&[other]), leak("github", "the message"));
    }
}

#[test]
fn parts_in_several_places_are_put_together() {
    let (first, rest) = VALUE.split_at(12);
    let commit = |name: &str| record(b'c', name.as_bytes(), b"");
    let file = |name: &str, text: &str| record(b'f', name.as_bytes(), text.as_bytes());
    let name = |name: &str| record(b'n', name.as_bytes(), b"");
    let ways = [
        [
            file("a", &format!("x={first}")),
            commit("fedcba9876543210"),
            file("b", rest),
        ],
        [name(first), commit("fedcba9876543210"), file("b", rest)],
        [
            record(b'm', b"", first.as_bytes()),
            commit("fedcba9876543210"),
            name(rest),
        ],
    ];
    for way in ways {
        let all = [&[commit("0123456789abcdef")], &way[..]].concat();
        let leaks = search(&all, "b", true).leaks;
        assert_eq!(leaks.len(), 1, "{leaks:?}");
        assert_eq!(
            (leaks[0].rule.as_str(), leaks[0].commit.as_str()),
            (KNOWN, "fedcba9876")
        );
        // One half is none, and neither is what is not pushed.
        assert_eq!(search(&all[..2], "b", true).leaks, []);
    }
    let left = [file("a", first), commit(UNCOMMITTED), file("b", rest)];
    assert_eq!(search(&left, "b", false).leaks, []);
}

#[test]
fn tens_of_thousands_of_words_take_no_longer() {
    let words = |kind: &str| -> Vec<u8> {
        let all = (0..30_000).map(|at| format!("{kind}{at:05} "));
        all.collect::<String>().into_bytes()
    };
    // Words, credentials one beside the other, and beginnings of one.
    let texts = [
        words("word"),
        words("x"),
        words(&token()),
        words(VALUE),
        words("xoxb-"),
        b"xoxb-".repeat(30_000),
        b"hooks.slack.com/services/".repeat(30_000),
    ];
    for text in texts {
        let name = vec![b'n'; 4_000];
        let records = [
            record(b'c', b"1", b""),
            record(b'm', b"", &text),
            record(b'f', &name, &text),
            record(b'c', b"2", b""),
            record(b'g', &name, &text),
            record(b'f', &name, &text.to_ascii_uppercase()),
            record(b'm', b"", &text),
        ];
        let began = Instant::now();
        let found = search(&records, "b", true);
        assert!(found.leaks.len() <= 8, "{:?}", found.leaks);
        let took = began.elapsed();
        let start = String::from_utf8_lossy(&text[..20]).into_owned();
        assert!(took < Duration::from_secs(20), "{start}: {took:?}");
    }
}
