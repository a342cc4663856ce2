use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::programs::{git, program};
use super::{Part, Script, play};

fn played(script: &str, part: &Part, cwd: &Path) -> std::io::Result<String> {
    let script: Script = toml::from_str(script).unwrap();
    let mut out = Vec::new();
    play(&script, part, cwd, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

fn of(role: &str) -> Part {
    Part {
        role: role.to_owned(),
        issue: 7,
        max_turns: 10,
        ..Part::default()
    }
}

/// What the document shows can be played, and each session finds its part.
#[test]
fn the_script_of_the_document_is_one() {
    let page = include_str!("../../../../docs/engines.md");
    let script = page
        .split("```toml\n")
        .find(|block| block.starts_with("[[when]]"));
    let script = script.unwrap().split("```").next().unwrap();
    for (stage, says) in [
        ("plan", "[OK]"),
        ("review", "[APPROVE]"),
        ("execute", "[OK] It greets."),
    ] {
        let dir = TempDir::new().unwrap();
        git(dir.path(), &["init", "--quiet"]).unwrap();
        for (key, value) in [("user.name", "A"), ("user.email", "a@example.com")] {
            git(dir.path(), &["config", key, value]).unwrap();
        }
        let part = Part {
            stage: stage.to_owned(),
            ..of("any")
        };
        let said = played(script, &part, dir.path()).unwrap();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn a_part_is_one_role_s_and_judges_what_it_sees() {
    let script = r#"
        [[when]]
        role = "reviewer"
        finds = { path = "menu.md", text = "nuts" }
        do = [{ say = "no" }]
        [[when]]
        role = "reviewer"
        do = [{ say = "yes" }]
    "#;
    let dir = TempDir::new().unwrap();
    let says = |role: &str| played(script, &of(role), dir.path());
    assert!(says("reviewer").unwrap().contains("yes"), "no such file");
    std::fs::write(dir.path().join("menu.md"), "cake with nuts").unwrap();
    assert!(says("reviewer").unwrap().contains("no"));
    std::fs::write(dir.path().join("menu.md"), "cake").unwrap();
    assert!(says("reviewer").unwrap().contains("yes"));
    let error = says("cook").unwrap_err().to_string();
    assert!(error.contains("no part of the script fits"), "{error}");
}

#[test]
fn no_part_looks_outside_of_the_worktree() {
    let script = "[[when]]\nfinds = { path = \"../menu.md\", text = \"\" }\ndo = []";
    let dir = TempDir::new().unwrap();
    let error = played(script, &of("cook"), dir.path()).unwrap_err();
    assert!(error.to_string().contains("leaves the worktree"), "{error}");
}

#[test]
fn an_outbox_is_on_the_session_s_work_and_of_its_commit() {
    let dir = TempDir::new().unwrap();
    for args in [
        &["init", "--quiet"][..],
        &[
            "-c",
            "user.name=Carson",
            "-c",
            "user.email=carson@localhost",
            "commit",
            "--quiet",
            "--allow-empty",
            "--message=One",
        ],
    ] {
        assert!(
            program("git", dir.path())
                .args(args)
                .status()
                .unwrap()
                .success()
        );
    }
    let mut head = program("git", dir.path());
    let head = head.args(["rev-parse", "HEAD"]).output().unwrap();
    let head = String::from_utf8(head.stdout).unwrap();
    let script = r#"
        [[when]]
        do = [{ outbox = [
            { kind = "review", verdict = "approve", body = "Read." },
            { kind = "review", pull = 9, head = "other", verdict = "approve", body = "Read." },
            { kind = "label", add = ["p1"] },
            { kind = "issue", title = "One", body = "Part." },
        ] }]
    "#;
    let part = Part {
        outbox: Some(dir.path().join("outbox.json")),
        ..of("reviewer")
    };
    played(script, &part, dir.path()).unwrap();
    let written = std::fs::read_to_string(dir.path().join("outbox.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&written).unwrap(),
        json!({"version": 1, "effects": [
            {"kind": "review", "pull": 7, "head": head.trim(), "verdict": "approve", "body": "Read."},
            {"kind": "review", "pull": 9, "head": "other", "verdict": "approve", "body": "Read."},
            {"kind": "label", "issue": 7, "add": ["p1"]},
            {"kind": "issue", "title": "One", "body": "Part."},
        ]})
    );
    let error = played(script, &of("reviewer"), dir.path()).unwrap_err();
    assert!(error.to_string().contains("needs a [grant]"), "{error}");
}
