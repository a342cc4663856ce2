//! The promise on the untouched base, before a session is paid.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::daemon::Daemon;
use crate::faults::fleet;
use crate::hostile::leavings::with_stages;

const WORK: &str = "echo work > work.txt; git add work.txt; git diff --cached --quiet || git commit --quiet -m Work";

/// A fleet whose agent works; its role's promise is this command.
fn promised(promise: &str) -> TestFleet {
    let more = format!("[promise]\nrun = {promise:?}\n[limits]\nmax_attempts = 1\n");
    let fleet = fleet(&format!("{WORK}\necho '[OK] done'"), "");
    with_stages(&fleet, "\"execute\", \"verify\"", &more);
    fleet
}

fn fired(fleet: &TestFleet) -> Value {
    let row = fleet.fire("hand").json();
    fleet.firing(row["id"].as_str().unwrap())
}

#[test]
fn a_promise_that_cannot_be_run_costs_no_session() {
    let fleet = promised("pytst -q");
    for _ in 0..2 {
        let row = fired(&fleet);
        assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
        assert_eq!(row["sessions"], 0, "{row:#}");
        let reason = row["reason"].as_str().unwrap();
        assert!(
            reason.contains("pytst") && reason.contains("127"),
            "{reason}"
        );
    }
    let found = fleet.carson(&["doctor"]).stdout;
    assert!(
        found.contains("role.hand.promise") && found.contains("pytst"),
        "{found}"
    );
    let role = fleet.home().join("roles/hand/role.toml");
    let text = std::fs::read_to_string(&role).unwrap();
    std::fs::write(&role, text.replace("pytst -q", "test -e work.txt")).unwrap();
    let told = || fleet.ok(&["status", "--json"])["preflights"].clone();
    assert_eq!(told()[0]["failed"], "role.hand.promise", "{:#}", told());
    // None of that was an attempt of the issue's, and what was mended is over.
    let row = fired(&fleet);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert_eq!(told(), serde_json::json!([]));
}

/// It is the role's limit that ended it, not what is in the base.
#[test]
fn a_check_that_writes_more_into_a_file_than_its_role_may_is_told_so() {
    let fleet = fleet(&format!("{WORK}\necho '[OK] done'"), "");
    let large = "head -c 3000000 /dev/zero > large; exit $?";
    let more = format!("[promise]\nrun = {large:?}\n[limits]\nmax_attempts = 1\nmax_file_mb = 1\n");
    with_stages(&fleet, "\"execute\", \"verify\"", &more);
    let row = fired(&fleet);
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains("limits.max_file_mb"), "{row:#}");
}

/// Whoever stops it is told nothing that was not asked.
#[test]
fn a_look_ahead_that_is_stopped_ends_and_says_nothing() {
    let fleet = promised("sleep 60");
    let mut ahead = fleet.command(&["fire", "hand", "--dry-run"]);
    let ahead = ahead.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut ahead = ahead.spawn().unwrap();
    let said = BufReader::new(ahead.stderr.take().unwrap()).lines();
    let mut said = said.map(Result::unwrap);
    let runs = |line: &String| line.contains("the check runs on the untouched base: sleep 60");
    said.find(runs).expect("the check runs");
    let rest = thread::spawn(move || said.count());
    let began = Instant::now();
    kill(
        Pid::from_raw(ahead.id().try_into().unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    let ended = ahead.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), &*ended.stdout), (Some(1), &b""[..]));
    assert!(began.elapsed() < Duration::from_secs(30));
    rest.join().unwrap();
    assert_eq!(fleet.benches(), Vec::<std::path::PathBuf>::new());
}

/// Whoever only looks ahead is told before, and nothing is left of the look.
#[test]
fn a_look_ahead_runs_the_check_where_a_firing_would() {
    let fleet = promised("pytst -q");
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]);
    assert!(
        ahead
            .stdout
            .starts_with("hand: would be skipped: preflight: role.hand.promise: ")
            && ahead.stdout.contains("pytst"),
        "{ahead:#?}"
    );
    assert!(
        ahead
            .stderr
            .contains("the check runs on the untouched base: pytst -q"),
        "{ahead:#?}"
    );
    let role = fleet.home().join("roles/hand/role.toml");
    let text = std::fs::read_to_string(&role).unwrap();
    std::fs::write(
        &role,
        text.replace("pytst -q", "echo no work yet; test -e work.txt"),
    )
    .unwrap();
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]);
    assert!(
        ahead.stdout.starts_with("hand: would fire now\n"),
        "{ahead:#?}"
    );
    let warned = "warning: the check fails on the untouched base of widget, before any work";
    assert!(ahead.stdout.contains(warned), "{ahead:#?}");
    assert_eq!(fleet.benches(), Vec::<std::path::PathBuf>::new());
    assert_eq!(
        fleet.ok(&["firings", "--all", "--json"]),
        serde_json::json!([])
    );
    assert_eq!(fleet.labels(1), ["for:hand"]);
}

/// That sessions are paid on a base that fails its check is told before the first of them, and once.
#[test]
fn a_check_that_fails_before_any_work_is_told_before_a_session_is_paid() {
    let fleet = promised("echo no work yet; test -e work.txt");
    let ran = fleet.fire("hand");
    let told = "warning: the check fails on the untouched base of widget, before any work: `echo no work yet";
    let (before, after) = ran
        .stderr
        .split_once(told)
        .unwrap_or_else(|| panic!("{ran:#?}"));
    assert!(
        !before.contains("execute") && after.contains("execute"),
        "{ran:#?}"
    );
    let row = fleet.firing(ran.json()["id"].as_str().unwrap());
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let told = |row: &Value| {
        let events = row["events"].as_array().unwrap().iter();
        events
            .filter(|event| event["kind"] == "check.fails-on-base")
            .count()
    };
    assert_eq!(told(&row), 1, "{row:#}");
    let doctor = fleet.carson(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("warning role.hand.promise: when it was last run, on "),
        "{doctor:#?}"
    );
    fleet.issue("hand", "More", "");
    let again = fired(&fleet);
    assert_eq!(told(&again), 0, "{again:#}");
}

#[test]
fn work_whose_promise_fails_as_it_did_before_is_told_so() {
    let fleet = promised(
        "echo \"took $(date +%N) s\"; echo the base is $(echo BROKEN | tr A-Z a-z); exit 1",
    );
    for _ in 0..2 {
        let row = fired(&fleet);
        let reason = row["reason"].as_str().unwrap();
        assert_eq!(row["outcome"], "FAILED", "{row:#}");
        assert!(
            reason.contains("fails in the same way on the untouched base"),
            "{reason}"
        );
        // What it printed stands where people look.
        assert!(reason.contains("the base is broken"), "{reason}");
        let id = row["id"].as_str().unwrap();
        let log = fleet.carson(&["logs", id]).stdout;
        let ran = log.lines().find(|line| line.contains(" INFO check run "));
        assert!(
            ran.is_some_and(|line| line.contains("the base is broken")),
            "{log}"
        );
        let kept = fleet.home().join("transcripts").join(id);
        let files = carson_tests::fleet::tree(&kept);
        let verified = files
            .iter()
            .find(|(file, _)| file.to_string_lossy().ends_with("-verify.txt"));
        let (_, output) = verified.unwrap_or_else(|| panic!("{:?}", files.keys()));
        assert!(String::from_utf8_lossy(output).contains("the base is broken"));
        let draft = fleet.pulls().pop().unwrap()["body"].to_string();
        assert!(draft.contains("the base is broken"), "{draft}");
    }
    let id = fired(&fleet)["id"].as_str().unwrap().to_owned();
    let why = fleet.carson(&["why", &id]).stdout;
    assert!(
        why.contains("promise.run") && !why.contains("max_attempts"),
        "{why}"
    );
}

/// An issue is not tried again and again for a base that is not its fault; another one may mend that base.
#[test]
fn work_that_fails_as_the_base_does_is_paid_once_and_goes_on_when_that_is_mended() {
    let agent = format!(
        "if grep -q 'Mend the base' \"$CARSON_TMP/prompt\"; then echo x > mended.txt; git add mended.txt; fi\n\
         {WORK}\necho '[OK] done'"
    );
    let fleet = fleet(&agent, "");
    fleet.role_at("hand", "sh", "* * * * * *", "stages = [\"execute\"]\n");
    let promise = "[promise]\nrun = \"echo the base is broken; test -e mended.txt\"\n\
                   [limits]\nmax_attempts = 1\nmax_open_prs = 9\n";
    with_stages(&fleet, "\"execute\", \"verify\"", promise);
    let daemon = Daemon::start(&fleet, &[]);
    let rows = |work: &str| -> Vec<Value> {
        let rows = fleet.ok(&["firings", "--all", "--limit", "1000", "--json"]);
        let rows = rows.as_array().unwrap().iter();
        let ended = rows.filter(|row| row["work"] == work && row["ended_at"].is_string());
        ended.cloned().collect()
    };
    let ends_as = |work: &str, outcome: &str| {
        until(&format!("{work} to end as {outcome}"), || {
            rows(work).into_iter().find(|row| row["outcome"] == outcome)
        })
    };
    let row = ends_as("issue-1", "FAILED");
    let why = fleet.carson(&["why", "hand"]).stdout;
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    let held =
        "#1 of widget: its check fails on the untouched base as it did after a session's work";
    assert!(why.contains(held), "{why}");
    assert!(why.contains("the base is broken"), "{why}");
    let told = fleet.ok(&["issue", "show", "1", "--json"]).to_string();
    for words in [
        "the base is broken",
        "counts as no attempt",
        "mend it in the repository",
    ] {
        assert!(told.contains(words), "{told}");
    }
    // Whoever mends it is not held up.
    let other = fleet.issue("hand", "Mend the base", "");
    ends_as(&format!("issue-{other}"), "OK");
    assert_eq!(rows("issue-1").len(), 1, "{:#?}", rows("issue-1"));
    assert_eq!(fleet.labels(1), ["for:hand"]);
    // Another base that fails in the same way costs a look, and no session.
    fleet.commit_to_main(&[("other.txt", "x\n")]);
    let looked = ends_as("issue-1", "SKIPPED");
    assert_eq!(looked["sessions"], 0, "{looked:#}");
    assert!(
        looked["reason"]
            .as_str()
            .unwrap()
            .contains("no other was paid"),
        "{looked:#}"
    );
    fleet.commit_to_main(&[("mended.txt", "x\n")]);
    ends_as("issue-1", "OK");
    let paid = rows("issue-1")
        .iter()
        .filter(|row| row["sessions"] != 0)
        .count();
    assert_eq!(paid, 2, "{row:#}");
    drop(daemon);
    let attempts = fleet.ok(&["issue", "show", "1", "--json"]);
    assert!(
        !attempts.to_string().contains("needs:human"),
        "{attempts:#}"
    );
}
