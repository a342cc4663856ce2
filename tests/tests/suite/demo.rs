//! `carson demo`, as the README's first command runs it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use carson_tests::fleet::{Ran, TestFleet, tree};
use carson_tests::model::{
    Reply, ScriptedModel, bash, claude_binary, claude_env, codex_binary, codex_env, say, when,
};
use serde_json::Value;

#[test]
fn the_rehearsal_shows_every_end_and_leaves_nothing() {
    let fleet = in_own_temporary(TestFleet::new());

    let shown = fleet.ok(&["demo", "--seconds", "30", "--json"]);

    assert_eq!(
        (&shown["unfinished"], &shown["benches_left"]),
        (&0.into(), &0.into())
    );
    let firings = shown["firings"].as_array().unwrap();
    // A role may fire more than once: what was left uncommitted, its next firing goes on with.
    let mut ends: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in firings {
        let role = ends.entry(row["role"].as_str().unwrap()).or_default();
        role.push(row["outcome"].as_str().unwrap());
    }
    let expected = BTreeMap::from([
        ("butler", "OK"),
        ("footman", "OK"),
        ("cook", "NO_COMMIT"),
        ("porter", "BLOCKED"),
        ("maid", "REJECTED"),
        ("clockmaker", "TIMED_OUT"),
    ]);
    for (role, outcome) in &expected {
        assert!(ends[role].contains(outcome), "{ends:?}");
    }
    // These two share an account: the first to ask hits its limit, and then both are skipped, the one
    // that had begun too, if it comes to its session after that.
    let tired: Vec<_> = ["gardener", "groom"]
        .iter()
        .filter_map(|role| ends.get(role))
        .flatten()
        .collect();
    assert!(tired.contains(&&"RATE_LIMITED"), "{ends:?}");
    let either = ["RATE_LIMITED", "SKIPPED"];
    assert!(tired.iter().all(|end| either.contains(*end)), "{ends:?}");
    assert!(shown["skipped"].as_u64().unwrap() > 0);
}

#[test]
fn with_claude_code_it_works_in_a_copy_of_the_given_repository() {
    let model = ScriptedModel::start().unwrap();
    let commit = "date +%N > greet.txt && git add greet.txt && git commit -qm 'Greet'";
    let begins =
        |text: &'static str| when().matching(move |asked| asked.prompt().starts_with(text));
    model.on(begins("You plan "), say("Write it.\n[OK] planned"));
    model.on(begins("You review "), say("[APPROVE]"));
    model.on(
        begins("You do "),
        Reply::turns([bash(commit), say("[OK] done")]),
    );
    let mut fleet = in_own_temporary(TestFleet::new());
    for (name, value) in claude_env(&model, fleet.root()) {
        if !["HOME", "IS_SANDBOX"].contains(&name.as_str()) {
            fleet = fleet.with_env(name, value);
        }
    }
    let fleet = with_program(fleet, "claude", &claude_binary().unwrap());
    let given = fleet.remote();
    let before = tree(&given);

    let repo = given.to_str().unwrap();
    let shown = fleet.ok(&["demo", "--engine", "claude", "--repo", repo, "--json"]);

    let firings = shown["firings"].as_array().unwrap();
    assert_eq!(firings.len(), 2, "{shown:#?}");
    assert!(
        firings.iter().all(|row| row["outcome"] == "OK"),
        "{shown:#?}"
    );
    assert_eq!(shown["benches_left"], 0);
    assert_eq!(tree(&given), before, "the given repository was written to");
    assert!(model.unmatched().is_empty());
    // The settings hold a key.
    let root = Path::new(shown["root"].as_str().unwrap());
    let mode = fs::metadata(root.join("home/carson.toml")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
}

#[test]
fn with_codex_the_hook_stands_before_its_tools() {
    let model = ScriptedModel::start().unwrap();
    let push = "git push origin HEAD:refs/heads/main";
    let commit = "date +%N > greet.txt && git add greet.txt && git commit -qm 'Greet'";
    let begins =
        |text: &'static str| when().matching(move |asked| asked.prompt().starts_with(text));
    model.on(begins("You plan "), say("Write it.\n[OK] planned"));
    model.on(begins("You review "), say("[APPROVE]"));
    let works = [bash(push), bash(commit), say("[OK] done")];
    model.on(begins("You do "), Reply::turns(works));
    let mut fleet = in_own_temporary(TestFleet::new());
    for (name, value) in codex_env(&model, &fleet.root().join("codex")).unwrap() {
        fleet = fleet.with_env(name, value);
    }
    let fleet = with_program(fleet, "codex", &codex_binary().unwrap());
    let given = fleet.remote();

    let repo = given.to_str().unwrap();
    let shown = fleet.ok(&["demo", "--engine", "codex", "--repo", repo, "--json"]);

    assert!(model.unmatched().is_empty(), "{:#?}", model.unmatched());
    let firings = shown["firings"].as_array().unwrap();
    assert_eq!(firings.len(), 2, "{shown:#?}");
    for row in firings {
        assert_eq!(row["outcome"], "OK", "{shown:#?}");
        let row = of_the_demo(&fleet, &shown, row);
        let calls = row["blocked_calls"].as_array().unwrap();
        let [call] = calls.as_slice() else {
            panic!("{calls:#?}")
        };
        let rule = call["rule"].as_str().unwrap();
        assert!(rule.starts_with("blocked by rule protected-push"), "{rule}");
        assert_eq!(call["call"], push);
    }
    let mut results = model.requests().into_iter().map(|it| it.tool_results());
    let tried = results.find(|results| results.len() == 2).unwrap();
    assert!(
        tried[0].is_error && tried[0].text.contains("protected-push"),
        "{tried:#?}"
    );
    assert!(!tried[1].is_error, "{tried:#?}");
}

#[test]
fn without_the_cli_it_ends_at_once_and_says_why() {
    let fleet = in_own_temporary(TestFleet::new()).with_env("PATH", "/usr/bin:/bin");

    let shown = fleet.carson(&["demo", "--engine", "codex"]);

    assert_eq!(shown.code, Some(1), "{shown:#?}");
    assert!(shown.stdout.contains("is not installed"), "{shown:#?}");
}

/// The demo's home goes with the fleet's directory.
fn in_own_temporary(fleet: TestFleet) -> TestFleet {
    let dir = fleet.root().join("tmp");
    fs::create_dir(&dir).unwrap();
    fleet.with_env("TMPDIR", dir)
}

/// The operator's `PATH` begins with a directory in which this program is.
fn with_program(fleet: TestFleet, name: &str, program: &Path) -> TestFleet {
    let bin = fleet.root().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(program, bin.join(name)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)));
    fleet.with_env("PATH", path.unwrap())
}

/// Everything about a firing of the demo, from the demo's own home.
fn of_the_demo(fleet: &TestFleet, shown: &Value, row: &Value) -> Value {
    let home = Path::new(shown["root"].as_str().unwrap()).join("home");
    let args = ["firings", row["id"].as_str().unwrap(), "--json"];
    let ran: Ran = fleet
        .command(&args)
        .env("CARSON_HOME", home)
        .output()
        .unwrap()
        .into();
    ran.json()
}
