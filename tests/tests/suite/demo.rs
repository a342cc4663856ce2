//! `carson demo`, as the README's first command runs it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use carson_tests::fleet::{Ran, TestFleet, tree};
use carson_tests::model::{
    Reply, ScriptedModel, bash, claude_binary, claude_env, codex_binary, codex_env, say, when,
};
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::programs::promtool;

#[test]
fn the_rehearsal_shows_every_end_and_the_crew_and_leaves_nothing() {
    let fleet = in_own_temporary(TestFleet::new());
    let shown = fleet.ok(&["demo", "--seconds", "60", "--json"]);
    every_end_is_shown(&shown);
    the_crew_takes_an_issue_from_the_plan_to_the_merge(&fleet, &shown);
    prometheus_takes_its_numbers(&fleet, &shown);
}

/// As `/metrics` has them. What promtool prints is a broken rule or convention.
fn prometheus_takes_its_numbers(fleet: &TestFleet, shown: &Value) {
    let mut metrics = fleet.command(&["metrics"]);
    let metrics = metrics.env("CARSON_HOME", home_of(shown)).output().unwrap();
    let text = String::from_utf8(metrics.stdout).unwrap();
    assert!(text.contains("outcome=\"TIMED_OUT\""), "{text}");
    assert_eq!(promtool(&text), "", "{text}");
}

/// Ctrl-C, a closed terminal, `kill`: the daemon and its firings end, too.
#[test]
fn who_ends_it_leaves_nothing_that_runs() {
    for (signal, at) in [
        (Signal::SIGINT, begun as fn(&TestFleet, &Path) -> bool),
        (Signal::SIGHUP, begun),
        (Signal::SIGTERM, begun),
        (Signal::SIGTERM, puts_its_bench_away),
    ] {
        let fleet = in_own_temporary(TestFleet::new());
        let mut demo = fleet.command(&["demo"]);
        let demo = demo.stdout(Stdio::null()).stderr(Stdio::piped());
        let demo = demo.spawn().unwrap();
        let root = until("a firing has come so far", || {
            let root = fs::read_dir(fleet.root().join("tmp")).ok()?.next()?;
            let root = root.ok()?.path();
            at(&fleet, &root.join("home")).then_some(root)
        });
        let pid = Pid::from_raw(demo.id().try_into().unwrap());
        kill(pid, signal).unwrap();
        let ended = demo.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        let removes = format!("rm -rf {}", root.canonicalize().unwrap().display());
        assert!(said.contains(&removes), "{said}");
        let left = running_below(&root);
        assert!(left.is_empty(), "{signal}: {left:#?}");
    }
}

fn begun(_fleet: &TestFleet, home: &Path) -> bool {
    fs::read_dir(home.join("benches")).is_ok_and(|mut benches| benches.next().is_some())
}

/// Whether a firing whose row has ended still puts its bench away; it is halted there.
fn puts_its_bench_away(fleet: &TestFleet, home: &Path) -> bool {
    let removes = |(_, line): &(i32, String)| {
        line.contains("bench.scratch/") && line.ends_with("carson-inspect inspector remove ")
    };
    let all = running_below(home.parent().unwrap());
    let Some((pid, line)) = all.into_iter().find(removes) else {
        return false;
    };
    let remover = Pid::from_raw(pid);
    let halted = kill(remover, Signal::SIGSTOP).is_ok();
    let rows = asked_at(fleet, home, &["firings", "--json"]);
    let of_it = |row: &&Value| line.contains(&format!("bench.scratch/{}-", row["pid"]));
    let row = rows.as_array().unwrap().iter().find(of_it);
    let found = halted && row.is_some_and(|row| !row["ended_at"].is_null());
    if !found {
        let _ = kill(remover, Signal::SIGCONT);
    }
    found
}

/// The processes whose command lines name a directory.
fn running_below(root: &Path) -> Vec<(i32, String)> {
    let name = root.file_name().unwrap().to_str().unwrap();
    let all = fs::read_dir("/proc").unwrap().flatten();
    let line = |entry: &fs::DirEntry| fs::read(entry.path().join("cmdline")).ok();
    let numbered = all.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = String::from_utf8_lossy(&line(&entry)?).replace('\0', " ");
        line.contains(name).then_some((pid, line))
    });
    numbered.collect()
}

fn every_end_is_shown(shown: &Value) {
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
    let expected = [
        ("butler", "OK"),
        ("footman", "OK"),
        ("cook", "NO_COMMIT"),
        ("cook", "OK"),
        ("porter", "BLOCKED"),
        ("maid", "REJECTED"),
        ("clockmaker", "TIMED_OUT"),
    ];
    for (role, outcome) in expected {
        assert!(ends[role].contains(&outcome), "{ends:?}");
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

fn the_crew_takes_an_issue_from_the_plan_to_the_merge(fleet: &TestFleet, shown: &Value) {
    let crew = &shown["crew"];
    // The first one may be worked on before the second one is there.
    let parts: Vec<u64> = serde_json::from_value(crew["filed"].clone()).unwrap();
    assert_eq!(
        (parts.len(), &crew["filed"]),
        (2, &crew["done"]),
        "{crew:#}"
    );
    told_in_order(crew);
    let asked = |args: &[&str]| in_the_demo(fleet, shown, args);
    // Nothing was filed before the operator approved it.
    let planned = asked(&["issue", "show", "1", "--repo", "dinner", "--json"]);
    let comments = planned["comments"].as_array().unwrap().iter();
    let said: Vec<&str> = comments
        .map(|one| one["body"].as_str().unwrap().trim())
        .collect();
    let proposal = said
        .iter()
        .position(|said| said.contains("/carson approve "));
    let filed = said.iter().position(|said| said.contains("Filed: #2 #"));
    assert!(proposal.is_some() && proposal < filed, "{said:#?}");
    assert_eq!(planned["issue"]["state"], "open");
    for issue in parts {
        let part = asked(&[
            "issue",
            "show",
            &issue.to_string(),
            "--repo",
            "dinner",
            "--json",
        ]);
        assert_eq!(part["issue"]["state"], "closed", "{part:#}");
        let labels = part["issue"]["labels"].as_array().unwrap();
        assert!(labels.contains(&json!("carson:done")), "{part:#}");
    }
    let ledger = asked(&["outcomes", "--json"]);
    let pulls = ledger["pulls"].as_array().unwrap().iter();
    let merged = pulls.filter(|pull| pull["repo"] == "dinner" && pull["end"] == "untouched");
    assert_eq!(merged.count(), 2, "{ledger:#}");
    // The reviewer said no to the menu, and yes to another commit of it.
    let menu = ledger["pulls"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|pull| pull["repo"] == "dinner")
        .max_by_key(|pull| pull["firings"].as_u64());
    let menu = menu.unwrap()["number"].to_string();
    let reviews = asked(&["pr", "reviews", &menu, "--repo", "dinner", "--json"]);
    let reviews = reviews["reviews"].as_array().unwrap();
    let [no, yes] = reviews.as_slice() else {
        panic!("{reviews:#?}")
    };
    let says = |review: &Value, word: &str| review["body"].as_str().unwrap().contains(word);
    assert!(says(no, "Ship-ready: no") && says(no, "P1: "), "{no:#}");
    assert!(says(yes, "Ship-ready: yes"), "{yes:#}");
    assert_ne!(no["commit"], yes["commit"]);
    // All of it is on the base of the remote.
    let remote = format!("{}/dinner.git", shown["root"].as_str().unwrap());
    let file = |name: &str| fleet.git(&["-C", &remote, "show", &format!("main:{name}")]);
    let menu = file("menu.md");
    assert!(
        menu.contains("Pear tart") && !menu.contains("Almond"),
        "{menu}"
    );
    assert!(file("table.md").contains("The colonel"));
}

/// The plan, what the operator did, and the way of the pull request that was mended.
fn told_in_order(crew: &Value) {
    let deeds = crew["deeds"].as_array().unwrap().iter();
    let deeds: Vec<String> = deeds
        .map(|deed| {
            format!(
                "{} {}",
                deed["who"].as_str().unwrap(),
                deed["did"].as_str().unwrap()
            )
        })
        .collect();
    let opened = deeds.iter().find_map(|deed| {
        let deed = deed.strip_prefix("implementer opened pull request #")?;
        let (number, what) = deed.split_once(' ')?;
        what.starts_with("for #2 \"Write the menu\": 1 commit, the check passes")
            .then_some(number)
    });
    let menu = opened.unwrap_or_else(|| panic!("{deeds:#?}"));
    let mut after = deeds.iter();
    for begins in [
        "planner planned #1 \"Give a dinner\": \"Write the menu\" and \"Lay the table\"".to_owned(),
        "you carson approve 1 --repo dinner: filed #2 and #".to_owned(),
        format!("implementer opened pull request #{menu} for #2 "),
        format!("reviewer said no to #{menu}: P1: menu.md:5 has almonds"),
        format!("fixer mended #{menu}: "),
        format!("reviewer said yes to #{menu}: "),
        format!("merger merged #{menu} for #2"),
    ] {
        assert!(
            after.any(|deed| deed.starts_with(&begins)),
            "no {begins:?} in its place: {deeds:#?}"
        );
    }
    let merged = deeds
        .iter()
        .filter(|deed| deed.starts_with("merger merged #"));
    assert_eq!(merged.count(), 2, "{deeds:#?}");
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
    assert_eq!(shown["crew"], Value::Null, "a crew costs quota, too");
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

/// Everything about a firing of the demo.
fn of_the_demo(fleet: &TestFleet, shown: &Value, row: &Value) -> Value {
    let args = ["firings", row["id"].as_str().unwrap(), "--json"];
    in_the_demo(fleet, shown, &args)
}

/// What a command answers in the demo's own home.
fn in_the_demo(fleet: &TestFleet, shown: &Value, args: &[&str]) -> Value {
    asked_at(fleet, &home_of(shown), args)
}

fn home_of(shown: &Value) -> PathBuf {
    Path::new(shown["root"].as_str().unwrap()).join("home")
}

fn asked_at(fleet: &TestFleet, home: &Path, args: &[&str]) -> Value {
    let mut command = fleet.command(args);
    let ran: Ran = command.env("CARSON_HOME", home).output().unwrap().into();
    ran.json()
}
