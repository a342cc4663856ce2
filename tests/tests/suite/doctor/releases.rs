//! Releases of the CLIs that were not measured: an older one is refused, a newer one is told, with what to do.

use carson_tests::fleet::TestFleet;
use carson_tests::model::{claude_binary, codex_binary, gemini_binary, opencode_binary};

use super::{check, checks, program};

#[test]
fn an_older_release_is_refused_and_a_newer_one_is_told() {
    let fleet = TestFleet::new();
    // The real program, which says another version.
    for (engine, real, older, newer, update) in [
        (
            "claude",
            claude_binary().unwrap(),
            "2.1.308 (Claude Code)",
            "2.2.0 (Claude Code)",
            "claude update",
        ),
        (
            "codex",
            codex_binary().unwrap(),
            "codex-cli 0.168.9",
            "codex-cli 0.170.0",
            "@openai/codex",
        ),
        (
            "gemini",
            gemini_binary().unwrap(),
            "0.56.9",
            "0.62.0",
            "@google/gemini-cli",
        ),
        (
            "opencode",
            opencode_binary().unwrap(),
            "1.18.17",
            "1.19.0",
            "opencode upgrade",
        ),
    ] {
        for (age, says) in [("older", older), ("newer", newer)] {
            let lines =
                format!("[ \"$*\" = --version ] && exec echo '{says}'\nexec {real:?} \"$@\"");
            let binary = program(&fleet.root().join(age).join(engine), &lines);
            let name = format!("{engine}-{age}");
            fleet.account(&name, &format!("engine = {engine:?}\nbinary = {binary:?}"));
        }
        let all = checks(&fleet.carson(&["doctor", "--json"]));
        for (age, health, found, remedy) in [
            ("older", "error", "", update),
            ("newer", "warning", "is newer than measured", "go back"),
        ] {
            let one = check(&all, &format!("account.{engine}-{age}.version"));
            let says = |key: &str, text: &str| one[key].as_str().unwrap().contains(text);
            assert_eq!(one["health"], health, "{one:#}");
            assert!(says("found", found) && says("remedy", remedy), "{one:#}");
        }
    }
}
