//! What the daemon does for memory by itself.

use std::fs;
use std::path::Path;

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::budgets::{YES, candidates, judges_say};
use super::{NONE, asked, fleet};
use crate::daemon::Daemon;

/// A session that cannot go on, always for the same reason.
const BLOCKED: &str = "[[when]]\nstage = \"execute\"\ndo = [{ say = \"[BLOCKED] the parser needs a running database\" }]\n";
/// One that does its work.
const WELL: &str = "[[when]]\nstage = \"execute\"\ndo = [\n    \
     { tool = \"date +%N >work.txt\" }, { commit = \"Work\" }, { say = \"[OK] done\" },\n]\n";

fn plays(fleet: &TestFleet, script: &str) {
    fs::write(fleet.root().join("play.toml"), script).unwrap();
}

/// The fleet's role is checked from now on, by a check that passes.
fn checked(fleet: &TestFleet) {
    let file = fleet.home().join("roles/keeper/role.toml");
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replace(
        "stages = [\"execute\"]",
        "stages = [\"execute\", \"verify\"]",
    );
    fs::write(file, format!("{text}\n[promise]\nrun = \"true\"\n")).unwrap();
}

/// Ends two firings alike.
fn fails_twice(fleet: &TestFleet) {
    plays(fleet, BLOCKED);
    for _ in 0..2 {
        let row = fleet.fire("keeper").json();
        assert_eq!(row["outcome"], "BLOCKED", "{row:#}");
    }
}

fn of_source(fleet: &TestFleet, source: &str) -> Vec<Value> {
    let listed = asked(fleet, &["list", "--source", source]);
    listed.as_array().unwrap().clone()
}

fn said(fleet: &TestFleet, job: &str) -> String {
    until("the job to run", || {
        let status = fleet.ok(&["status", "--json"]);
        let jobs = status["jobs"].as_array().unwrap().clone();
        let row = jobs.into_iter().find(|row| row["name"] == job)?;
        Some(row["said"].as_str().unwrap().to_owned())
    })
}

#[test]
fn failures_that_came_again_are_harvested_and_candidates_are_judged_without_being_asked() {
    let fleet = fleet("judge = \"play\"\nauto_promote = true", NONE);
    fails_twice(&fleet);
    judges_say(&fleet, YES);
    candidates(&fleet, 2);
    let daemon = Daemon::start(&fleet, &[]);
    let told = said(&fleet, "memory");
    assert!(
        told.contains("1 lesson proposed, 3 candidates decided"),
        "{told}"
    );
    let believed = asked(&fleet, &["list", "--state", "promoted"]);
    assert_eq!(believed.as_array().unwrap().len(), 2, "{believed:#}");
    let [harvested] = of_source(&fleet, "harvest").try_into().unwrap();
    // Why it is blocked is in words of its own session: a judge's yes does not make them true.
    assert_eq!(harvested["state"], "held", "{harvested:#}");
    let text = harvested["text"].as_str().unwrap();
    assert!(
        text.contains("firings of keeper end BLOCKED again and again"),
        "{text}"
    );
    assert_eq!(harvested["evidence"].as_array().unwrap().len(), 2);
    daemon.killed();
}

#[test]
fn a_paused_fleet_decides_about_no_candidate() {
    let fleet = fleet("judge = \"play\"\nauto_promote = true", NONE);
    judges_say(&fleet, YES);
    candidates(&fleet, 1);
    let paused = fleet.carson(&["pause", "--reason", "people look first"]);
    assert_eq!(paused.code, Some(0), "{paused:?}");
    let daemon = Daemon::start(&fleet, &[]);
    let told = said(&fleet, "memory");
    assert!(
        told.contains("the fleet is paused: people look first"),
        "{told}"
    );
    daemon.killed();
    let run = asked(&fleet, &["gate"]);
    assert!(
        run["stopped"].as_str().unwrap().contains("paused"),
        "{run:#}"
    );
    let waiting = asked(&fleet, &["list", "--state", "candidate"]);
    assert_eq!(waiting.as_array().unwrap().len(), 1);
}

#[test]
fn our_own_embedder_is_kept_running_and_ends_with_the_daemon() {
    let fleet = fleet("embedder_dir = \"/models/minilm\"", NONE);
    let started = fleet.root().join("started");
    let script = format!("echo \"$$ $*\" >> {}; exec cat", started.display());
    let fleet = fleet.with_program("carson-embedder", &script);
    let daemon = Daemon::start(&fleet, &[]);
    let line = |n: usize| {
        until("the embedder to be started", || {
            let text = fs::read_to_string(&started).ok()?;
            text.lines().nth(n).map(str::to_owned)
        })
    };
    let first = line(0);
    let (pid, args) = first.split_once(' ').unwrap();
    assert_eq!(
        args,
        "/models/minilm --listen 127.0.0.1:11435 --until-input-ends"
    );
    kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGKILL).unwrap();
    let second = line(1);
    let pid = second.split_once(' ').unwrap().0.to_owned();
    daemon.says("the embedder is started again");
    // However the daemon ends: its input does then, too.
    daemon.killed();
    until("the embedder to end", || {
        (!Path::new("/proc").join(&pid).exists()).then_some(())
    });
}

#[test]
fn the_kill_switch_and_never_stop_the_daemon_from_looking() {
    let fleet = fleet("kill_switch = true", NONE);
    fails_twice(&fleet);
    let daemon = Daemon::start(&fleet, &[]);
    let told = said(&fleet, "memory");
    assert!(told.contains("memory.kill_switch is on"), "{told}");
    daemon.killed();
    assert_eq!(of_source(&fleet, "harvest"), Vec::<Value>::new());

    let fleet = super::fleet("gate_every = \"never\"", NONE);
    fails_twice(&fleet);
    let daemon = Daemon::start(&fleet, &[]);
    let told = said(&fleet, "memory");
    assert!(told.contains("never"), "{told}");
    daemon.killed();
    assert_eq!(of_source(&fleet, "harvest"), Vec::<Value>::new());
}

#[test]
fn what_a_check_or_the_code_contradicts_is_held_and_told_no_more() {
    let fleet = fleet("holdout = \"0%\"", NONE);
    fails_twice(&fleet);
    let run = asked(&fleet, &["gate"]);
    let id = run["harvested"][0].as_str().unwrap().to_owned();
    fleet.commit_to_main(&[(
        "src/upload.rs",
        "// the uploader gives up after three tries\n",
    )]);
    let evidence = format!("file:src/upload.rs@{}:1-1", fleet.tip("main"));
    let text = "The uploader gives up after three tries";
    let proposed = [
        "propose",
        text,
        "--scope",
        "repo:widget",
        "--evidence",
        &evidence,
    ];
    let of_code = asked(&fleet, &proposed)["id"].as_str().unwrap().to_owned();
    for id in [&id, &of_code] {
        assert_eq!(asked(&fleet, &["promote", id])["state"], "promoted");
    }
    let run = asked(&fleet, &["gate"]);
    assert_eq!(run["contradicted"], json!([]), "{run:#}");

    // The check passes: twice says nothing yet.
    plays(&fleet, WELL);
    checked(&fleet);
    for n in 1..=3 {
        let run = asked(&fleet, &["gate"]);
        assert_eq!(run["contradicted"], json!([]), "{n}: {run:#}");
        let row = fleet.fire("keeper").json();
        assert_eq!(row["outcome"], "OK", "{row:#}");
    }
    fleet.remove_from_main("src/upload.rs");
    let run = asked(&fleet, &["gate"]);
    let mut contradicted = vec![json!(id), json!(of_code)];
    contradicted.sort_by_key(ToString::to_string);
    let mut held = run["contradicted"].as_array().unwrap().clone();
    held.sort_by_key(ToString::to_string);
    assert_eq!(held, contradicted, "{run:#}");
    let chain = asked(&fleet, &["audit", &id]);
    let last = chain["history"].as_array().unwrap().last().unwrap();
    assert_eq!(last["state"], json!("held"));
    let why = last["why"].as_str().unwrap();
    assert!(
        why.contains("contradicted: the check passed in 3 firings"),
        "{why}"
    );
    let chain = asked(&fleet, &["audit", &of_code]);
    let last = chain["history"].as_array().unwrap().last().unwrap();
    assert!(
        last["why"].as_str().unwrap().contains("the file is gone"),
        "{last}"
    );
    assert_eq!(asked(&fleet, &["recall", "uploader tries"]), json!([]));
    // A person knows better.
    assert_eq!(asked(&fleet, &["promote", &id])["state"], "promoted");
}
