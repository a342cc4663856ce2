//! The table: attempt · layer that stopped it · what the record says; and that docs/SECURITY.md says
//! the same.

use std::collections::BTreeSet;

use serde_json::Value;

use super::less::Kernel;
use super::scene::Went;

const PAGE: &str = include_str!("../../../../docs/SECURITY.md");

/// Where the page's table begins.
const HEAD: &str = "| attempt | as root | as an ordinary user | in the record |";

/// The agent's own words for what it can try.
const AGENT: [&str; 3] = [
    include_str!("../../../src/bin/hostile/files.rs"),
    include_str!("../../../src/bin/hostile/secrets.rs"),
    include_str!("../../../src/bin/hostile/processes.rs"),
];

/// What the record has of most attempts.
const TRANSCRIPT: &str = "its error, in the transcript";

/// What stopped an attempt, by the kernel's answer.
pub fn layer(went: &Went) -> String {
    let said = went.said.as_str();
    if went.through {
        return match said {
            _ if said.ends_with("was made") => "its own private /tmp, gone with the session".into(),
            "a datagram left" => "network namespace: it went to its own loopback".into(),
            _ => format!("nothing: {}", said.trim_end_matches([';', ' '])),
        };
    }
    let by = match went.errno {
        Some(1) => "seccomp, capabilities or signal scope (EPERM)",
        Some(2) => "mount namespace: it is not there (ENOENT)",
        Some(3) => "process namespace: nobody has that number (ESRCH)",
        Some(13) => "Landlock, or a cover (EACCES)",
        Some(18) => "another file system (EXDEV)",
        Some(20) => "mount namespace: it is covered (ENOTDIR)",
        Some(27) => "file size limit (EFBIG)",
        Some(30) => "read-only mount (EROFS)",
        Some(97) => "seccomp: no such family (EAFNOSUPPORT)",
        Some(111) => "network namespace: nobody listens there (ECONNREFUSED)",
        _ if said.contains("Resource temporarily unavailable") => "process limit (EAGAIN)",
        _ if said.contains("Read-only file system") => "read-only mount (EROFS)",
        _ if said.contains("not a git repository") => "mount namespace: no repository is there",
        _ if said.contains("none holds it") => "process namespace: only its own are there",
        _ if said.contains("harmless variables") => "environment built from nothing",
        _ if said.contains("is to be seen") => "mount namespace: only what was granted is there",
        _ if said.contains("Operation not permitted") => "seccomp or capabilities (EPERM)",
        _ if said.contains("No space left") => "its disk is full (ENOSPC)",
        _ => said.lines().last().unwrap_or_default(),
    };
    by.chars().take(90).collect()
}

/// The page says of each attempt what stopped it just now, for this user on a full kernel.
pub fn holds(kernel: &Kernel, ordinary: bool, row: &Value, all: &[Went]) {
    for went in all {
        is_said(kernel, ordinary, row, &went.name, &layer(went), TRANSCRIPT);
    }
}

/// The page says this in its line of the attempt.
pub fn is_said(
    kernel: &Kernel,
    ordinary: bool,
    row: &Value,
    name: &str,
    stopped_by: &str,
    record: &str,
) {
    let line = lines().find(|cells| cells[0] == name);
    let line = line.unwrap_or_else(|| panic!("docs/SECURITY.md has no line for {name}"));
    // What a lesser kernel than the page speaks of does is the business of each test.
    if !kernel.force.is_empty() || !is_complete(row) {
        return;
    }
    let user = usize::from(ordinary || !nix::unistd::geteuid().is_root());
    let measured = (stopped_by, record);
    assert_eq!((line[1 + user], line[3]), measured, "{name}, user {user}");
}

fn lines() -> impl Iterator<Item = Vec<&'static str>> {
    let table = PAGE.split(HEAD).nth(1).unwrap_or_default().lines().skip(2);
    table
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

/// Whether a firing had all that Linux can give to anybody.
fn is_complete(row: &Value) -> bool {
    let sandbox = &row["sandbox"];
    let spaces = sandbox["namespaces"].to_string();
    sandbox["landlock_abi"].as_u64() >= Some(6)
        && sandbox["seccomp"] == true
        && ["pid", "mount", "ipc"]
            .iter()
            .all(|one| spaces.contains(one))
}

#[test]
fn the_page_has_a_line_for_every_attempt_and_no_other() {
    // `"write-home" => …`
    let known: BTreeSet<&str> = AGENT
        .iter()
        .flat_map(|source| source.lines())
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" => "))
        .map(|(name, _)| name)
        .collect();
    assert!(known.len() > 40, "{known:?}");
    // Some have two lines: `fill-disk, a full disk`.
    let said: BTreeSet<&str> = lines()
        .filter_map(|cells| cells[0].split(',').next())
        .collect();
    assert_eq!(said, known);
    assert!(lines().all(|cells| cells.len() == 4), "a `|` in a cell");
}

/// Where the page's list of what sessions leave begins.
const LEFT: &str = "| a session leaves | what becomes of it | test |";

/// The tests of what sessions leave, by their file.
const LEAVINGS: [(&str, &str); 7] = [
    ("forged_output", include_str!("forged_output.rs")),
    ("generated", include_str!("generated.rs")),
    ("judges", include_str!("judges.rs")),
    ("leavings", include_str!("leavings.rs")),
    ("lookers", include_str!("lookers.rs")),
    ("sign_in", include_str!("sign_in.rs")),
    ("walls", include_str!("../walls.rs")),
];

#[test]
fn the_page_lists_what_sessions_leave_with_its_test() {
    let known: BTreeSet<String> = LEAVINGS
        .iter()
        .flat_map(|(file, source)| {
            let tests = source.split("#[test]\nfn ").skip(1);
            tests.map(move |text| format!("{file}::{}", text.split('(').next().unwrap_or_default()))
        })
        .collect();
    assert!(known.len() > 20, "{known:?}");
    let table = PAGE.split(LEFT).nth(1).unwrap_or_default();
    let rows = table.lines().skip(2).take_while(|row| row.starts_with('|'));
    let said: BTreeSet<String> = rows
        .map(|row| row.rsplit('`').nth(1).unwrap_or_default().to_owned())
        .collect();
    assert_eq!(said, known);
}

/// Prints it; the harness shows it under `--no-capture`.
pub fn print(title: &str, row: &Value, all: &[Went]) {
    let weaker: Vec<&str> = row["sandbox"]["weaker"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    println!("\n== {title}: {} ({})", row["outcome"], row["reason"]);
    println!("   sandbox: {}", row["sandbox"]);
    for one in weaker {
        println!("   weaker: {one}");
    }
    println!("{:<26} | {:<60} | in the record", "attempt", "stopped by");
    for went in all {
        let record = if went.through { "through" } else { "refused" };
        println!(
            "{:<26} | {:<60} | transcript: {record}",
            went.name,
            layer(went)
        );
    }
}
