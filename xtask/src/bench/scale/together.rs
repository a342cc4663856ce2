//! 1,000 roles that are due in the same second: with 200 places and work for 200 of them, and with a place for each.
//! Every slot must have one row, every row an end, and every skip a reason; how they ended is a figure.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use chrono::{TimeDelta, Timelike as _, Utc};
use serde_json::Value;

use super::super::fleet::Fleet;
use super::super::lateness;
use super::super::sample::Sample;
use super::super::{Figure, output};
use super::python;

const ROLES: usize = 1_000;
const WORK: usize = 200;
/// From the start of the daemon until the last firing has ended.
const PATIENCE: Duration = Duration::from_secs(600);

/// Sleeps so long that all who have work have it at the same time.
const PLAY: &str = "[[when]]\nstage = \"execute\"\ndo = [\n    { sleep_ms = 20000 },\n    \
    { append = { path = \"NOTES.md\", content = \"more\\n\" } },\n    { commit = \"Add to the notes\" },\n    \
    { say = \"[OK] done\" },\n]\n";

/// What the rows say of the slot: how many ended how, how many lived at once, when the last one ended.
const ROWS: &str = r"
import sqlite3, sys, json, datetime, collections
rows = sqlite3.connect('file:%s?mode=ro' % sys.argv[1], uri=True).execute(
    'SELECT role, outcome, claimed_at, ended_at, branch, reason FROM firing WHERE slot IS NOT NULL').fetchall()
at = datetime.datetime.fromisoformat
changes = []
for _, outcome, began, ended, _, _ in rows:
    if ended and outcome != 'SKIPPED':
        changes += [(at(began), 1), (at(ended), -1)]
lived = most = 0
for _, change in sorted(changes):
    lived += change
    most = max(most, lived)
print(json.dumps({
    'rows': len(rows), 'roles': len({row[0] for row in rows}), 'ended': sum(1 for row in rows if row[3]),
    'branches': sum(1 for row in rows if row[4]), 'most': most,
    'unsaid': sum(1 for row in rows if row[1] == 'SKIPPED' and not row[5]),
    'outcomes': collections.Counter(row[1] for row in rows),
    'last': max([at(row[3]).timestamp() for row in rows if row[3]], default=0)}))
";

pub fn measure(carson: &Path) -> anyhow::Result<Vec<Figure>> {
    let herds = [
        (
            "1,000 roles due in one second, 200 places, work for 200",
            (WORK, WORK),
        ),
        (
            "1,000 roles due in one second, 1,000 places, no work",
            (ROLES, 0),
        ),
    ];
    let measured = herds.into_iter().map(|(what, (places, work))| {
        let got = ended(carson, places, work)?;
        // The next one takes minutes, and may not end.
        println!("bench: {what}: {got}");
        Ok(Figure {
            what,
            got,
            target: "0 lost, supervisor <= 64 MB",
            beside: String::new(),
        })
    });
    measured.collect()
}

fn ended(carson: &Path, places: usize, work: usize) -> anyhow::Result<String> {
    let (far, roles) = ("0 0 1 1 *", 0..ROLES);
    let roles: Vec<_> = roles
        .map(|n| (format!("role-{n}"), far.to_owned()))
        .collect();
    let fleet = Fleet::new(carson, &roles)?;
    begin_the_repository(&fleet)?;
    replace(
        &fleet.home().join("carson.toml"),
        "max_firings = 1000\n",
        &format!("max_firings = {places}\n"),
    )?;
    for number in 0..work {
        let role = format!("role-{number}");
        let issue = ["issue", "create", "Work", "--body", "To do.", "--label"];
        output(fleet.command(&issue).arg(role))?;
    }
    // Twenty seconds at least for the daemon to be there.
    let due = Utc::now() + TimeDelta::seconds(80);
    let due = due - TimeDelta::seconds(due.second().into());
    let cadence = format!("{} {} * * *", due.minute(), due.hour());
    for (role, _) in &roles {
        let file = fleet.home().join("roles").join(role).join("role.toml");
        replace(&file, far, &cadence)?;
        replace(&file, "work =", "stages = [\"execute\"]\nwork =")?;
    }
    let mut daemon = fleet.daemon()?;
    let database = fleet.home().join("state/carson.db");
    let began = Instant::now();
    let rows: Value = loop {
        std::thread::sleep(Duration::from_secs(1));
        if database.exists() {
            // Before the first migration there are no rows to ask for.
            let said = python(ROWS, &[&database]).unwrap_or_default();
            let rows: Value = serde_json::from_str(&said).unwrap_or_default();
            if rows["ended"].as_u64() == Some(ROLES as u64) {
                break rows;
            }
        }
        if let Some(status) = daemon.ended()? {
            bail!("the daemon has ended ({status}):\n{}", daemon.log()?);
        }
        ensure!(
            began.elapsed() < PATIENCE,
            "not every slot has ended:\n{}",
            daemon.log()?
        );
    };
    let peak = peak(daemon.pid())?;
    ensure!(
        rows["rows"] == rows["roles"],
        "a slot has two rows: {rows:#}"
    );
    ensure!(rows["unsaid"] == 0, "a skip has no reason: {rows:#}");
    let last = rows["last"].as_f64().context("nothing has ended")?;
    #[expect(clippy::cast_precision_loss, reason = "seconds of today fit exactly")]
    let took = last - due.timestamp() as f64;
    Ok(format!(
        "all ended after {took:.1} s; {} slots, {} rows, {}; {} of {work} had their work; {} lived at once at most; due to begun {}; \
         supervisor {peak:.1} MB at most",
        ROLES,
        rows["rows"],
        rows["outcomes"],
        rows["branches"],
        rows["most"],
        Sample::new(lateness::begun(&fleet)?),
    ))
}

/// The remote gets its first commit, and the sessions what they play.
fn begin_the_repository(fleet: &Fleet) -> anyhow::Result<()> {
    let root = fleet.home().join("..");
    fs::write(root.join("play.toml"), PLAY)?;
    let seed = root.join("seed");
    let git = || {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]);
        git.arg("-C").arg(&seed);
        git
    };
    output(
        Command::new("git")
            .args(["init", "--quiet", "--initial-branch=main"])
            .arg(&seed),
    )?;
    fs::write(seed.join("NOTES.md"), "notes\n")?;
    output(git().args(["add", "--all"]))?;
    output(git().args(["commit", "--quiet", "--message=All"]))?;
    output(
        git()
            .args(["push", "--quiet"])
            .arg(root.join("remote.git"))
            .arg("main"),
    )?;
    let head = ["symbolic-ref", "HEAD", "refs/heads/main"];
    output(
        Command::new("git")
            .arg("--git-dir")
            .arg(root.join("remote.git"))
            .args(head),
    )?;
    Ok(())
}

fn replace(file: &Path, old: &str, new: &str) -> anyhow::Result<()> {
    let text = fs::read_to_string(file)?;
    ensure!(text.contains(old), "{} has no {old:?}", file.display());
    fs::write(file, text.replacen(old, new, 1))?;
    Ok(())
}

/// The most memory that this process had, in MB.
fn peak(pid: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kilobytes.context("the daemon has no VmHWM")? / 1024.0)
}
