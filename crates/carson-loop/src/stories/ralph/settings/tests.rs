//! Every variable, every flag, and which of them is the stronger one.

use super::*;

fn read(words: &[&str], variables: &[(&str, &str)]) -> Result<Settings, String> {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Settings::read(&words, &variables.collect()).map_err(|error| error.to_string())
}

#[test]
fn there_are_27_variables() {
    let names: std::collections::BTreeSet<_> = variable_names().into_iter().collect();
    assert_eq!(names.len(), 27);
}

#[test]
fn the_defaults() {
    let usual = read(&[], &[]).unwrap();
    assert_eq!(
        (usual.ask, usual.mode, usual.max_stories),
        (Ask::Run, None, None)
    );
    assert_eq!(
        (usual.timeout_seconds, usual.max_attempts, usual.skip_after),
        (900, 1, 0)
    );
    assert_eq!(
        (usual.stale_lock_seconds, usual.state_method),
        (30, StateMethod::Auto)
    );
    assert_eq!(
        (&usual.model, &usual.effort, &usual.repo_root),
        (&None, &None, &None)
    );
    assert_eq!(usual.originator, "codex_cli_rs");
    let mut on = usual.clone();
    let on: Vec<&str> = SWITCHES
        .iter()
        .filter(|s| *(s.field)(&mut on))
        .map(|s| s.variable)
        .collect();
    let right = [
        "RALPH_REQUIRE_EXTERNAL_REFERENCES_ON_SEARCH",
        "RALPH_SECURITY_PREFLIGHT",
        "RALPH_AUTO_PROGRESS_LOG_APPEND",
        "RALPH_STRICT_REPORT_DIR",
        "RALPH_AUTO_PROGRESS_REFRESH",
    ];
    assert_eq!(on, right);
    let empty: Vec<(&str, &str)> = variable_names()
        .into_iter()
        .map(|name| (name, ""))
        .collect();
    assert_eq!(
        read(&[], &empty).unwrap(),
        usual,
        "an empty variable is none"
    );
}

#[test]
fn a_flag_is_stronger_than_its_variable() {
    for switch in &SWITCHES {
        for (value, on) in [("true", true), ("false", false)] {
            let mut set = read(&[], &[(switch.variable, value)]).unwrap();
            assert_eq!(*(switch.field)(&mut set), on, "{}", switch.variable);
        }
        for value in ["yes", "1", "TRUE", "true "] {
            let right = format!("{} must be true|false", switch.variable);
            assert_eq!(read(&[], &[(switch.variable, value)]), Err(right));
        }
        let Some(flag) = switch.flag else {
            continue;
        };
        let off = flag.replacen("--", "--no-", 1);
        for (word, value, on) in [(flag, "false", true), (&off, "true", false)] {
            let mut set = read(&[word], &[(switch.variable, value)]).unwrap();
            assert_eq!(*(switch.field)(&mut set), on, "{word}");
        }
    }
    assert!(
        !read(&["--skip-security-check"], &[])
            .unwrap()
            .security_preflight
    );
    let both = [
        ("RALPH_MODEL", "a"),
        ("CODEX_MODEL", "b"),
        ("CODEX_REASONING_EFFORT", "low"),
    ];
    assert_eq!(
        read(&["--model", "c"], &both).unwrap().model.as_deref(),
        Some("c")
    );
    let set = read(&[], &both).unwrap();
    assert_eq!(
        (set.model.as_deref(), set.effort.as_deref()),
        (Some("a"), Some("low"))
    );
    assert_eq!(read(&[], &both[1..]).unwrap().model.as_deref(), Some("b"));
    let mode = read(&["--mode", "linting"], &[("MODE", "audit")])
        .unwrap()
        .mode;
    assert_eq!(mode, Some(Mode::Linting));
    let set = read(
        &["--timeout-seconds", "0", "-q"],
        &[("CODEX_TIMEOUT_SECONDS", "5")],
    )
    .unwrap();
    assert_eq!((set.timeout_seconds, set.verbosity), (0, Verbosity::Quiet));
    assert!(read(&["--tool", "codex"], &[("RALPH_TOOL", "bad")]).is_ok());
    assert!(read(&["--tool=codex-cli"], &[]).is_ok());
}

#[test]
fn what_cannot_be_meant() {
    for (words, variables, right) in [
        (&["--mode"][..], &[][..], "--mode requires a value"),
        (&["--surprise"], &[], "Unknown argument: --surprise"),
        (&["-1"], &[], "Unknown argument: -1"),
        (
            &["1", "2"],
            &[],
            "Only one positional N argument is allowed",
        ),
        (
            &["--mode", "fix"],
            &[],
            "MODE must be one of: audit | linting | fixing",
        ),
        (
            &[],
            &[("MODE", "Audit")],
            "MODE must be one of: audit | linting | fixing",
        ),
        (
            &[],
            &[("RALPH_TOOL", "invalid")],
            "Tool must be one of: codex (got: invalid)",
        ),
        (
            &[],
            &[("CODEX_TIMEOUT_SECONDS", "5s")],
            "CODEX_TIMEOUT_SECONDS must be a non-negative integer",
        ),
        (
            &[],
            &[("RALPH_MAX_ATTEMPTS_PER_STORY", "0")],
            "RALPH_MAX_ATTEMPTS_PER_STORY must be an integer >= 1",
        ),
        (
            &[],
            &[("RALPH_MAX_ATTEMPTS_PER_STORY", "x")],
            "RALPH_MAX_ATTEMPTS_PER_STORY must be an integer >= 1",
        ),
        (
            &[],
            &[("RALPH_SKIP_AFTER_FAILURES", "-1")],
            "RALPH_SKIP_AFTER_FAILURES must be a non-negative integer",
        ),
        (
            &[],
            &[("RALPH_STALE_LOCK_NO_PID_SECONDS", "1.5")],
            "RALPH_STALE_LOCK_NO_PID_SECONDS must be a non-negative integer",
        ),
        (
            &[],
            &[("RALPH_FIXING_STATE_METHOD", "fast")],
            "RALPH_FIXING_STATE_METHOD must be auto|full|git",
        ),
    ] {
        assert_eq!(read(words, variables), Err(right.to_owned()));
    }
    assert_eq!(read(&["-h", "--nonsense"], &[]).unwrap().ask, Ask::Help);
    assert_eq!(read(&["--validate-prd"], &[]).unwrap().ask, Ask::Validate);
    assert_eq!(read(&["--list-stories", "3"], &[]).unwrap().ask, Ask::List);
    let many = read(&["99999999999999999999999"], &[]).unwrap().max_stories;
    assert_eq!(many, Some(u64::MAX));
}
