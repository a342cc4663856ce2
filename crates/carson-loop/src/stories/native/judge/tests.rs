//! What a story may change, change by change.

use super::*;
use crate::digest::Digest;
use crate::stories::native::written::Status;
use crate::tree::{Entry, Target};

fn story(mode: Mode, scope: &[&str], acceptance: &[&str]) -> Allowed {
    let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
    let story = Story {
        id: "S-1".into(),
        priority: 1,
        title: "t".into(),
        prompt: "p".into(),
        mode,
        scope: texts(scope),
        acceptance: texts(acceptance),
        promise: None,
        status: Status::Open,
        attempts: 0,
    };
    Allowed::of(&story).unwrap()
}

fn file(text: &str) -> Option<Entry> {
    let what = What::File {
        size: text.len() as u64,
        hash: Digest::of(text.as_bytes()),
    };
    Some(Entry { what, mode: 0o644 })
}

fn dir() -> Option<Entry> {
    let what = What::Dir;
    Some(Entry { what, mode: 0o755 })
}

fn link(to: &str) -> Option<Entry> {
    let to = Target(to.into());
    let what = What::Link { to };
    Some(Entry { what, mode: 0o777 })
}

fn change(path: &str, before: Option<Entry>, after: Option<Entry>) -> Change {
    let path = TreePath::new(path).unwrap();
    Change {
        path,
        before,
        after,
    }
}

fn said(allowed: &Allowed, changes: &[Change]) -> Vec<String> {
    allowed
        .violations(changes)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn every_kind_of_change_outside_is_named() {
    let allowed = story(
        Mode::Fix,
        &["docs/", "!docs/private/"],
        &["Created out/report.md"],
    );
    let executable = file("a").map(|entry| Entry {
        mode: 0o755,
        ..entry
    });
    let changes = [
        change("docs/a", None, file("a")),
        change("docs/private/a", None, file("a")),
        change("out", None, dir()),
        change("out/report.md", None, file("r")),
        change("out/other.md", None, file("r")),
        change("src/added", None, file("a")),
        change("src/changed", file("a"), file("b")),
        change("src/deleted", file("a"), None),
        change("src/mode", file("a"), executable),
        change("src/now-a-link", file("a"), link("deleted")),
        change("src/link", link("a"), link("b")),
    ];
    let right = [
        "docs/private/a (added) is outside of its scope",
        "out/other.md (added) is outside of its scope",
        "src/added (added) is outside of its scope",
        "src/changed (changed) is outside of its scope",
        "src/deleted (deleted) is outside of its scope",
        "src/mode (mode changed) is outside of its scope",
        "src/now-a-link (replaced) is outside of its scope",
        "src/link (changed) is outside of its scope",
    ];
    assert_eq!(said(&allowed, &changes), right);
}

#[test]
fn directories_come_with_their_files_and_not_alone() {
    let allowed = story(Mode::Fix, &["docs/**/*.md", "lib/"], &[]);
    let fine = [
        change("docs", None, dir()),
        change("docs/x", None, dir()),
        change("docs/x/a.md", None, file("a")),
        change("lib", None, dir()),
        change("lib/empty", None, dir()),
    ];
    assert!(said(&allowed, &fine).is_empty());
    let alone = [
        change("docs", None, dir()),
        change("docs/x", None, dir()),
        change("docs/x/a.txt", None, file("a")),
    ];
    assert_eq!(said(&allowed, &alone).len(), 3);
    let open = dir().map(|entry| Entry {
        mode: 0o777,
        ..entry
    });
    assert_eq!(
        said(&allowed, &[change("src", dir(), open)]),
        ["src (mode changed) is outside of its scope"]
    );
}

#[test]
fn an_audit_leaves_its_report_and_nothing_else() {
    let allowed = story(Mode::Audit, &["**"], &["Created audit/a.md well"]);
    let changes = [
        change("audit", None, dir()),
        change("audit/a.md", None, file("a")),
        change("src/a", None, file("a")),
    ];
    assert_eq!(
        said(&allowed, &changes),
        ["src/a (added) is outside of its scope"]
    );
}

#[test]
fn links_lead_nowhere_else() {
    let allowed = story(Mode::Fix, &["**"], &[]);
    let leads_out =
        |path: &str, to: &str| !said(&allowed, &[change(path, None, link(to))]).is_empty();
    for (path, to) in [
        ("a", "/etc/passwd"),
        ("a", "../x"),
        ("d/a", "../../x"),
        ("a", "b/../../x"),
        ("a", ".."),
    ] {
        assert!(leads_out(path, to), "{path} -> {to}");
    }
    for (path, to) in [
        ("a", "b"),
        ("d/a", "../x"),
        ("d/e/a", "../../x/y"),
        ("a", "./b/../c"),
        ("d/a", ".."),
    ] {
        assert!(!leads_out(path, to), "{path} -> {to}");
    }
    // One that was there, and is only taken away.
    assert!(said(&allowed, &[change("a", link("/etc"), None)]).is_empty());
}

#[test]
fn letters_are_told_apart_by_their_case() {
    let allowed = story(Mode::Fix, &["Docs/"], &["Created Out.md"]);
    let changes = [
        change("docs/a", None, file("a")),
        change("out.md", None, file("a")),
    ];
    assert_eq!(said(&allowed, &changes).len(), 2);
}
