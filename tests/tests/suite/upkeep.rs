//! Housekeeping of the mirrors and of a disk without room, as the daemon does it.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use carson_tests::fleet::TestFleet;
use carson_tests::judge::sound;
use carson_tests::until;
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Executor};

use crate::daemon::Daemon;

/// Lets the daemon find that its nightly job of this name is due now.
fn is_due(fleet: &TestFleet, job: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(fleet.home().join("state/carson.db"));
        let mut connection: SqliteConnection = options.connect().await.unwrap();
        let row = format!(
            "INSERT OR REPLACE INTO job VALUES ('here', '{job}', \
             strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-21 hours'), \
             strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-21 hours'), \
             strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 minute'), 0, 0, 'seeded')"
        );
        #[expect(
            clippy::disallowed_methods,
            reason = "every caller's name is a literal"
        )]
        let row = sqlx::AssertSqlSafe(row);
        connection.execute(row).await.unwrap();
    });
}

/// What the job said when it ran just now.
fn job_report(fleet: &TestFleet, job: &str) -> String {
    until("the job to run", || {
        let status = fleet.ok(&["status", "--json"]);
        let jobs = status["jobs"].as_array().unwrap().clone();
        let row = jobs.into_iter().find(|row| row["name"] == job)?;
        let said = row["said"].as_str().unwrap().to_owned();
        (said != "seeded").then_some(said)
    })
}

fn loose(fleet: &TestFleet) -> usize {
    let objects = fs::read_dir(fleet.mirror().join("objects")).unwrap();
    let dirs = objects
        .map(|item| item.unwrap())
        .filter(|item| item.file_name().len() == 2);
    // One that is being packed may go in between.
    let count = |dir: fs::DirEntry| fs::read_dir(dir.path()).map_or(0, Iterator::count);
    dirs.map(count).sum()
}

fn has(fleet: &TestFleet, commit: &str) -> bool {
    fleet.kept().contains(commit)
}

#[test]
fn a_mirror_that_nobody_uses_is_fetched_pruned_and_packed() {
    let fleet = sound();
    let _ = fleet.git(&["branch", "old", "main"]);
    assert_eq!(fleet.fire("hand").json()["outcome"], "OK");
    let salvage = fleet.git(&["rev-parse", "main"]);
    let known = fleet.store().join("refs/carson/salvage/kept-by-hand");
    fs::create_dir_all(known.parent().unwrap()).unwrap();
    fs::write(known, salvage).unwrap();
    assert!(loose(&fleet) > 0);
    let _ = fleet.git(&["branch", "--delete", "--force", "old"]);
    fleet.commit_to_main(&[("new.txt", "new\n")]);
    let new = fleet.tip("main");
    is_due(&fleet, "mirrors");

    let _daemon = Daemon::start(&fleet, &[]);

    until("the mirror to be packed", || {
        (loose(&fleet) == 0).then_some(())
    });
    assert_eq!(job_report(&fleet, "mirrors"), "1 mirror fetched and packed");
    let refs = mirror_refs(&fleet);
    assert!(
        refs.contains(&format!("{new} refs/remotes/origin/main")),
        "{refs}"
    );
    assert!(!refs.contains("refs/remotes/origin/old"), "{refs}");
    let kept = refs_of(&fleet, &fleet.store());
    assert!(kept.contains("refs/carson/salvage/kept-by-hand"), "{kept}");
    assert!(has(&fleet, &new));
    // And work goes on from there.
    let issue = fleet.issue("hand", "Again", "Please.");
    assert_eq!(fleet.fire("hand").json()["outcome"], "OK");
    assert_eq!(fleet.labels(issue), ["carson:pr-open"]);
}

fn mirror_refs(fleet: &TestFleet) -> String {
    refs_of(fleet, &fleet.mirror())
}

fn refs_of(fleet: &TestFleet, repository: &Path) -> String {
    fleet.git(&[
        "--git-dir",
        repository.to_str().unwrap(),
        "for-each-ref",
        "--format=%(objectname) %(refname)",
    ])
}

#[test]
fn a_mirror_that_a_firing_works_with_is_left_alone() {
    let fleet = sound();
    let barrier = fleet.shared().join("barrier");
    let script = format!(
        "[[when]]\ndo = [{{ edit = {{ path = \"a.txt\", content = \"a\\n\" }} }}, \
         {{ commit = \"Work\" }}, {{ barrier = {barrier:?} }}, {{ say = \"[OK] done\" }}]\n"
    );
    fs::write(fleet.root().join("play.toml"), script).unwrap();
    let mut fire = fleet.command(&["fire", "hand", "--json"]);
    let fire = fire.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let reached = fleet.shared().join("barrier.reached");
    until("the session", || reached.exists().then_some(()));
    fleet.commit_to_main(&[("new.txt", "new\n")]);
    let new = fleet.tip("main");
    is_due(&fleet, "mirrors");

    let daemon = Daemon::start(&fleet, &[]);

    assert_eq!(job_report(&fleet, "mirrors"), "nothing to do");
    assert!(!mirror_refs(&fleet).contains(&new));
    fs::write(fleet.shared().join("barrier.go"), "").unwrap();
    let done = fire.unwrap().wait_with_output().unwrap();
    let row: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    drop(daemon);
}
