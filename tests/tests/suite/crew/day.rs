//! A day of the whole crew while daemons, firings and sessions are killed at random.
//!
//! The suite runs it for some seconds, `CARSON_DAY_SECONDS` for long. At the end the forge is read: every issue
//! and every pull request is done or somebody's, nothing was said, filed, reviewed or merged twice.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carson_tests::Dice;
use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::daemon::Daemon;
use crate::soak::processes;

/// What every session does first: it is told its work, takes its time, and sometimes dies of it.
const BEGINS: &str =
    "cat >\"$CARSON_TMP/prompt\"; sleep 0.$((RANDOM % 4)); test $((RANDOM % 12)) = 0 && exit 9\n";
const PLANS: &str = r#"asks '{"kind":"issue","title":"A of '$CARSON_WORK'","body":"To do."},{"kind":"issue","title":"B of '$CARSON_WORK'","body":"To do."}'"#;
const JUDGES: &str = r#"asks '{"kind":"label","issue":'$CARSON_WORK',"add":["p2"]},{"kind":"comment","issue":'$CARSON_WORK',"body":"Judged."}'"#;
const WORKS: &str = "echo part >part-$CARSON_WORK.txt; test $((CARSON_WORK % 2)) = 0 && echo flaw >flaw-$CARSON_WORK.txt\n\
    git add . && git commit --quiet -m \"Part $CARSON_WORK\" && echo '[OK] done'";
const REVIEWS: &str = r#"verdict=approve; body=Fine.; ls flaw-* >/dev/null 2>&1 && verdict=changes && body='P1: a flaw'
asks '{"kind":"review","pull":'$CARSON_WORK',"head":"'$(git rev-parse HEAD)'","verdict":"'$verdict'","body":"'"$body"'"}'"#;
const MENDS: &str =
    "git rm --quiet flaw-* && git commit --quiet -m 'Without the flaw' && echo '[OK] mended'";
const ASKS: &str = "asks() { printf '{\"version\":1,\"effects\":[%s]}' \"$1\" >\"$CARSON_OUTBOX\" && echo '[OK] asked'; }\n";
/// How long what is left may take; each look at it takes its time.
const PATIENCE: Duration = Duration::from_secs(180);
/// Nobody is worn out by what is done to them here.
const LIMITS: &str = "[limits]\nwall_clock = \"1m\"\nfail_streak = 100000\nmax_firings_per_day = 100000\n\
    max_open_prs = 100\nmax_work_attempts = 50\n";

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

fn household() -> TestFleet {
    let fleet = TestFleet::new();
    fs::create_dir_all(fleet.root().join("cli")).unwrap();
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let merges = "[repos.widget]\npolicy = { merge = true }\n";
    fs::write(&settings, text.replace("[repos.widget]\n", merges)).unwrap();
    let check = "[promise]\nrun = \"ls part-*\"\n";
    let filed = "[grant]\nissues = 2\nissues_per_day = 200\nissue_label = \"carson:ready\"\napproval = true\n";
    let soon = "work = { min_age = \"0s\" }\n";
    let labels = "[grant]\ncomments = 1\nlabels = [\"p2\"]\n";
    for (kind, session, top, sections) in [
        ("planner", PLANS, "", filed),
        ("triager", JUDGES, "", labels),
        (
            "implementer",
            WORKS,
            "stages = [\"execute\", \"verify\"]\n",
            check,
        ),
        ("reviewer", REVIEWS, soon, ""),
        (
            "fixer",
            MENDS,
            "stages = [\"execute\", \"verify\"]\n",
            check,
        ),
    ] {
        let program = fleet.root().join("cli").join(kind);
        fs::write(&program, format!("#!/bin/bash\n{ASKS}{BEGINS}{session}\n")).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        fleet.account(kind, &format!("engine = \"command\"\nbinary = {program:?}"));
        role(
            &fleet,
            kind,
            &format!("engines = [{kind:?}]\n{top}"),
            sections,
        );
    }
    role(&fleet, "merger", soon, "");
    let down = fleet.shared().join("down");
    let probe = format!(
        "[command]\nrun = \"test ! -e {}\"\n[grant]\nissues = 1\nissues_per_day = 100\n",
        down.display()
    );
    let reads = format!("paths = {{ read = [{:?}] }}\n", fleet.shared());
    role(&fleet, "command", &reads, &probe);
    fleet
}

fn role(fleet: &TestFleet, kind: &str, top: &str, sections: &str) {
    let dir = fleet.home().join("roles").join(kind);
    fs::create_dir_all(&dir).unwrap();
    let text = format!(
        "kind = {kind:?}\nrepos = [\"widget\"]\ncadence = [\"*/2 * * * * *\"]\nmax_late = \"5s\"\n{top}{LIMITS}{sections}"
    );
    fs::write(dir.join("role.toml"), text).unwrap();
}

/// What an operator does meanwhile: approves plans, and breaks what the probe looks at, or mends it.
fn operator(fleet: &TestFleet, specs: &[u64], down: bool) {
    for spec in specs {
        let _ = fleet.carson(&["approve", &spec.to_string()]);
    }
    let file = fleet.shared().join("down");
    match down {
        true => fs::write(file, "").unwrap(),
        false => drop(fs::remove_file(file)),
    }
}

fn torment(fleet: &TestFleet, dice: &mut Dice, specs: &[u64], time: Duration) -> u32 {
    let mut daemon = Some(Daemon::start(fleet, &[]));
    let (began, mut kills) = (Instant::now(), 0);
    while began.elapsed() < time || kills < 4 && began.elapsed() < time * 4 {
        std::thread::sleep(Duration::from_millis(300 + dice.roll(900)));
        operator(fleet, specs, dice.roll(3) == 0);
        let (what, which) = (dice.roll(10), dice.roll(1_000) as usize);
        let hit = |found: Vec<i32>| {
            let pid = found.get(which % found.len().max(1)).copied();
            pid.is_some_and(|pid| kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok())
        };
        kills += match what {
            0 | 1 => {
                if let Some(old) = daemon.take() {
                    old.killed();
                }
                daemon = Some(Daemon::start(fleet, &[]));
                1
            }
            2..=6 => u32::from(hit(processes(fleet, "firing run"))),
            _ => u32::from(hit(processes(fleet, "cli/"))),
        };
    }
    drop(daemon);
    kills
}

/// What is left of the day goes as on any other one, until all of it is somebody's.
fn calm(fleet: &TestFleet, specs: &[u64]) {
    let mut daemon = Daemon::start(fleet, &[]);
    let began = Instant::now();
    loop {
        operator(fleet, specs, false);
        let left = nobodys(fleet, specs);
        if left.is_empty() {
            break;
        }
        let rows = || fleet.ok(&["firings", "--all", "--limit", "40", "--json"]);
        assert!(began.elapsed() < PATIENCE, "{left:#?}\n{:#}", rows());
    }
    daemon.signal(Signal::SIGTERM);
    daemon.ended();
    crate::crew::upkeep(fleet);
}

/// Issues and pull requests that are neither ended nor given to people.
fn nobodys(fleet: &TestFleet, specs: &[u64]) -> Vec<Value> {
    let of_nobody = |issue: &Value| !is_somebody_s(fleet, specs, issue);
    let mut left: Vec<Value> = issues(fleet).into_iter().filter(of_nobody).collect();
    let open = |pull: &&Value| {
        let labels = pull["labels"].to_string();
        // A draft is what its issue goes on with.
        let is_draft = pull["draft"] == true;
        pull["state"] == "open" && !is_draft && !labels.contains("needs:human")
    };
    left.extend(pulls(fleet).iter().filter(open).cloned());
    left
}

fn pulls(fleet: &TestFleet) -> Vec<Value> {
    let all = fleet.ok(&["pr", "list", "--all", "--json"]);
    all.as_array().unwrap().clone()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let below = |path: PathBuf| match path.is_dir() {
        true => files(&path),
        false => vec![path],
    };
    let mut all: Vec<PathBuf> = entries.flat_map(|entry| below(entry.path())).collect();
    all.sort();
    all
}

fn texts(dir: &Path) -> Vec<String> {
    let all = files(dir).into_iter();
    all.filter_map(|file| fs::read_to_string(file).ok())
        .collect()
}

#[test]
fn every_issue_and_pull_request_ends_as_somebody_s_and_nothing_is_done_twice() {
    let seconds = setting("CARSON_DAY_SECONDS", 5);
    let mut dice = Dice::new(setting("CARSON_DAY_SEED", 11));
    let fleet = household();
    let mut specs = Vec::new();
    for n in 0..1 + seconds / 20 {
        let title = format!("Feature {n}");
        let args = [
            "issue",
            "create",
            &title,
            "--body",
            "Much.",
            "--label",
            "carson:plan",
            "--json",
        ];
        specs.push(fleet.ok(&args)["number"].as_u64().unwrap());
        let args = [
            "issue",
            "create",
            &title,
            "--body",
            "Little.",
            "--label",
            "carson:ready",
            "--json",
        ];
        let _ = fleet.ok(&args);
    }
    let kills = torment(&fleet, &mut dice, &specs, Duration::from_secs(seconds));
    calm(&fleet, &specs);
    let (issues, pulls) = (issues(&fleet), pulls(&fleet));
    eprintln!(
        "{kills} kills, {} issues, {} pull requests",
        issues.len(),
        pulls.len()
    );
    nothing_twice(&fleet, &issues, &pulls);
    // A firing outlives its daemon, and its bench is nobody else's as long as it lives.
    until("no bench is left", || {
        crate::crew::upkeep(&fleet);
        fleet.benches().is_empty().then_some(())
    });
    assert!(kills >= 3);
}

/// Those that are closed, too.
fn issues(fleet: &TestFleet) -> Vec<Value> {
    let dir = fleet.home().join("forge/widget/issues");
    let names = files(&dir)
        .into_iter()
        .filter(|file| file.parent() == Some(&dir));
    let names = names.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()));
    names
        .map(|number| {
            fleet.ok(&["issue", "show", number.trim_start_matches('0'), "--json"])["issue"].clone()
        })
        .collect()
}

/// Closed, done, given to people, or resting after an attempt.
fn is_somebody_s(fleet: &TestFleet, specs: &[u64], issue: &Value) -> bool {
    let number = issue["number"].as_u64().unwrap();
    let labels = issue["labels"].to_string();
    let is_planned = specs.contains(&number) && {
        let comments = format!("forge/widget/issues/{number:04}.comments");
        let comments = texts(&fleet.home().join(comments));
        comments.iter().any(|text| text.contains("Filed: "))
    };
    let ended = issue["state"] == "closed" || labels.contains("carson:done");
    let owned = labels.contains("needs:human") || is_planned;
    // It is the queue's, which tries it again when it has rested.
    let rests = || {
        let why = fleet.carson(&["why", &format!("issue-{number}")]).stdout;
        why.contains("it failed a moment ago and is tried again at")
    };
    (ended || owned || rests()) && !labels.contains("carson:in-flight")
}

fn nothing_twice(fleet: &TestFleet, issues: &[Value], pulls: &[Value]) {
    // Each note of ours, review and issue has a first line of its own.
    let mut seen = HashSet::new();
    let forge = fleet.home().join("forge/widget");
    for file in files(&forge) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let line = text
            .lines()
            .find(|line| line.contains("<!-- carson:note key="));
        // A probe's issue may come again once it was closed.
        let Some(line) = line.filter(|line| !line.contains("key=command")) else {
            continue;
        };
        assert!(seen.insert(line.to_owned()), "{}: {line}", file.display());
    }
    let mut titles: BTreeMap<&str, u32> = BTreeMap::new();
    for issue in issues {
        let title = issue["title"].as_str().unwrap();
        let is_part = title.contains(" of ");
        let is_open_report = title.ends_with(" fails") && issue["state"] == "open";
        if is_part || is_open_report {
            *titles.entry(title).or_default() += 1;
        }
    }
    assert!(titles.values().all(|count| *count == 1), "{titles:?}");
    let mut merged: BTreeMap<String, u32> = BTreeMap::new();
    for pull in pulls {
        let number = pull["number"].as_u64().unwrap();
        let reviews = fleet.ok(&["pr", "reviews", &number.to_string(), "--json"]);
        let mut heads = HashSet::new();
        for review in reviews["reviews"].as_array().unwrap() {
            let body = review["body"].as_str().unwrap();
            let head = body
                .lines()
                .find(|line| line.contains("Reviewed-head-sha:"));
            assert!(
                heads.insert(head.map(str::to_owned)),
                "#{number}: {reviews:#}"
            );
        }
        if pull["state"] == "merged" {
            *merged.entry(pull["title"].to_string()).or_default() += 1;
        }
    }
    assert!(merged.values().all(|count| *count == 1), "{merged:?}");
}
