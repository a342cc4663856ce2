//! The crew: roles that change nothing by themselves and ask Carson for what is to be done on the forge.

mod architect;
mod claude;
mod command;
mod day;
pub(crate) mod fixer;
mod merger;
mod outbox;
pub(crate) mod planner;
mod reviewer;
mod steward;
mod stories;
pub(crate) mod tester;
mod triager;
pub(crate) mod whole;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use carson_tests::fleet::{REPO, TestFleet};
use serde_json::Value;

use crate::faults;

/// A session that makes one commit.
const COMMIT: &str = "date +%N > work.txt; git add .; git commit --quiet -m Work; echo '[OK] done'";

/// A fleet with the implementer `hand`, the issue #1, and a role of this kind whose sessions are this shell
/// script.
fn crew(kind: &str, session: &str, more: &str) -> TestFleet {
    let fleet = faults::fleet(COMMIT, "");
    member(&fleet, kind, session, more);
    fleet
}

pub(crate) fn member(fleet: &TestFleet, kind: &str, session: &str, more: &str) {
    let program = fleet.root().join("cli").join(kind);
    let script = format!(
        "#!/bin/bash\nset -e\ncat >\"$CARSON_TMP/prompt\"\ncp \"$CARSON_TMP/prompt\" {:?}\n{session}\n",
        fleet.shared().join(format!("{kind}.prompt"))
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    fleet.account(kind, &format!("engine = \"command\"\nbinary = {program:?}"));
    let paths = format!("paths = {{ write = [{:?}] }}\n{more}", fleet.shared());
    fleet.role_of_kind(kind, &[kind], &paths);
}

/// A session that asks for this and says that all is well.
pub(crate) fn asks(entries: &str) -> String {
    format!(
        "cat >\"$CARSON_OUTBOX\" <<'END'\n{{\"version\": 1, \"effects\": [{entries}]}}\nEND\necho '[OK] asked'"
    )
}

/// What the last session of a role of this kind was told.
fn prompt(fleet: &TestFleet, kind: &str) -> String {
    fs::read_to_string(fleet.shared().join(format!("{kind}.prompt"))).unwrap()
}

/// The row of one firing of a role.
pub(crate) fn fire(fleet: &TestFleet, role: &str) -> Value {
    fleet.fire(role).json()
}

/// The row, which ended so.
pub(crate) fn ends(fleet: &TestFleet, role: &str, outcome: &str) -> Value {
    let row = fire(fleet, role);
    assert_eq!(row["outcome"], outcome, "{row:#}");
    row
}

pub(crate) fn reason(row: &Value) -> &str {
    row["reason"].as_str().unwrap()
}

/// Makes an issue for a planner.
fn large_issue(fleet: &TestFleet) -> u64 {
    let args = [
        "issue",
        "create",
        "Much",
        "--body",
        "All.",
        "--label",
        "carson:plan",
        "--json",
    ];
    fleet.ok(&args)["number"].as_u64().unwrap()
}

/// A pull request of the fleet's, as old as that.
pub(crate) fn pull(fleet: &TestFleet, minutes: i64) -> u64 {
    let row = ends(fleet, "hand", "OK");
    let number = row["pr_number"].as_u64().unwrap();
    age(fleet, number, minutes);
    number
}

/// Makes a pull request so old.
fn age(fleet: &TestFleet, number: u64, minutes: i64) {
    let path = fleet
        .home()
        .join(format!("forge/widget/pulls/{number:04}.md"));
    let text = fs::read_to_string(&path).unwrap();
    let at = carson_core::Clock::system().now() - chrono::TimeDelta::minutes(minutes);
    let line = |line: &str| match line.starts_with("created_at") {
        true => format!("created_at = \"{}\"", at.to_rfc3339()),
        false => line.to_owned(),
    };
    let text: Vec<String> = text.lines().map(line).collect();
    fs::write(&path, text.join("\n") + "\n").unwrap();
}

pub(crate) fn comments(fleet: &TestFleet, issue: u64) -> Vec<String> {
    let number = issue.to_string();
    let shown = fleet.ok(&["issue", "show", &number, "--repo", REPO, "--json"]);
    let all = shown["comments"].as_array().unwrap().iter();
    all.map(|one| one["body"].as_str().unwrap().to_owned())
        .collect()
}

/// A person's own comment.
fn says(fleet: &TestFleet, issue: u64, name: &str, text: &str) {
    let dir = fleet
        .home()
        .join(format!("forge/widget/issues/{issue:04}.comments"));
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join(name), text).unwrap();
}

/// Lets the sessions of a role write into the forge's files, as people do meanwhile: `$FORGE`.
fn in_people_s_place(fleet: &TestFleet, role: &str) {
    let forge = fleet.home().join("forge/widget");
    let file = fleet.home().join(format!("roles/{role}/role.toml"));
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replace("paths = ", "sandbox = \"off\"\npaths = ");
    let text = format!("{text}\n[identity]\nenv = {{ FORGE = {forge:?} }}\n");
    fs::write(&file, text).unwrap();
}

/// What the fleet's own upkeep does at once.
pub(crate) fn upkeep(fleet: &TestFleet) {
    let ran = fleet.carson(&["prune"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

/// Writes to its database.
pub(crate) fn sql(fleet: &TestFleet, line: &'static str) {
    on_database(fleet, async move |on| {
        sqlx::query(line).execute(on).await.unwrap();
    });
}

/// What one row's only column says.
fn sql_text(fleet: &TestFleet, line: &'static str) -> String {
    on_database(fleet, async move |on| {
        sqlx::query_scalar(line).fetch_one(on).await.unwrap()
    })
}

fn on_database<T: Send + 'static>(
    fleet: &TestFleet,
    ask: impl AsyncFnOnce(&mut sqlx::SqliteConnection) -> T + Send + 'static,
) -> T {
    let file = fleet.home().join("state/carson.db");
    let url = format!("sqlite:{}", file.display());
    let asks = move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            use sqlx::Connection as _;
            let mut on = sqlx::SqliteConnection::connect(&url).await.unwrap();
            ask(&mut on).await
        })
    };
    // Also for who is within a runtime.
    std::thread::spawn(asks).join().unwrap()
}
