//! SIGKILL of a firing's process in every stage. The next pass must lose nothing, give the claim
//! back, leave no process and no worktree behind, and the work must be done once in the end.
//!
//! A firing is held still in two ways, so that the kill never races with it. *Between*: a trigger
//! in the database keeps its next write from ending. *Within*: the scripted session, or the
//! promise, waits at a barrier with work in every state that git knows.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use carson_core::Stage;
use carson_tests::fleet::{TestFleet, workspaces};
use carson_tests::until;
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Executor};

const ROLE: &str = "implementer";

/// The plan is sent back once, so that every stage is passed through.
const TALK: &str = r#"
[[when]]
stage = "plan"
do = [BARRIER{ say = "Write it.\n[OK] planned" }]

[[when]]
stage = "review"
run = 1
do = [BARRIER{ say = "1. No test.\n[REVISE]" }]

[[when]]
stage = "review"
do = [{ say = "[APPROVE]" }]

[[when]]
stage = "revise"
do = [BARRIER{ say = "Write it with a test.\n[OK] planned" }]

[[when]]
stage = "execute"
do = [
    { edit = { path = "committed.txt", content = "committed\n" } },
    { commit = "First half" },
    { edit = { path = "staged.txt", content = "staged\n" } },
    { stage = "staged.txt" },
    { append = { path = "README.md", content = "unstaged\n" } },
    { edit = { path = "deep/untracked.txt", content = "untracked\n" } },
    BARRIER{ commit = "Second half" },
    { say = "[OK] written" },
]

[[when]]
stage = "diff-review"
do = [BARRIER{ say = "[APPROVE]" }]
"#;

/// The script with a barrier, and with a process that is left behind in front of it, in one stage.
fn script(held: Option<Stage>, barrier: &Path) -> String {
    let steps = format!("{{ grandchild = 600 }}, {{ barrier = {barrier:?} }}, ");
    let mut text = String::new();
    for part in TALK.split_inclusive("\n\n") {
        let here = held.is_some_and(|stage| part.contains(&format!("stage = \"{stage}\"")));
        text.push_str(&part.replace("BARRIER", if here { &steps } else { "" }));
    }
    text
}

/// A fleet with one piece of work, and a firing of it that stands still.
struct Scene {
    fleet: TestFleet,
    firing: Child,
}

impl Scene {
    fn fleet(held: Option<Stage>, promise: &str) -> (TestFleet, PathBuf) {
        let fleet = TestFleet::new();
        let barrier = fleet.shared().join("barrier");
        let promise = promise.replace("BARRIER", &barrier.display().to_string());
        fleet.script(&script(held, &barrier));
        let more = format!("[promise]\nrun = {promise:?}\ntimeout = \"5m\"\n");
        fleet.role(ROLE, "play", &more);
        assert_eq!(fleet.issue(ROLE, "Write it", "In committed.txt."), 1);
        (fleet, barrier)
    }

    /// Held by the database: the write that `when` describes never ends.
    fn between(event: &str, when: &str) -> Self {
        Self::trapped(event, when, |_| {})
    }

    /// The same, of a fleet that was changed before.
    fn trapped(event: &str, when: &str, prepare: impl FnOnce(&TestFleet)) -> Self {
        let (fleet, _) = Self::fleet(None, "true");
        prepare(&fleet);
        trap(&fleet, event, when);
        let firing = start(&fleet);
        until_held(&fleet);
        Self { fleet, firing }
    }

    /// Held in a session of this stage, or in the promise.
    fn within(stage: Stage) -> Self {
        let waits = "[ -e committed.txt ] || exit 1; touch BARRIER.reached; (sleep 600 &) ; while [ ! -e BARRIER.go ]; do sleep 0.1; done";
        let promise = if stage == Stage::Verify {
            waits
        } else {
            "true"
        };
        let (fleet, barrier) = Self::fleet(Some(stage), promise);
        let firing = start(&fleet);
        let reached = barrier.with_extension("reached");
        until("the session to reach its barrier", || {
            reached.exists().then_some(())
        });
        Self { fleet, firing }
    }

    /// Held by what a test put in its way: a file `BARRIER.reached` says that it is there, and it
    /// waits for `BARRIER.go`.
    fn behind(prepare: impl FnOnce(&mut TestFleet, &Path)) -> Self {
        let (mut fleet, barrier) = Self::fleet(None, "true");
        prepare(&mut fleet, &barrier);
        let firing = start(&fleet);
        let reached = barrier.with_extension("reached");
        until("the firing to reach its barrier", || {
            reached.exists().then_some(())
        });
        Self { fleet, firing }
    }

    /// Kills it, lets the next pass run, and holds the fleet against every promise.
    fn survives(mut self, stage: Stage) {
        let fleet = &self.fleet;
        let contents = contents(fleet);
        let before = row(fleet);
        let id = before["id"].as_str().unwrap().to_owned();
        // The note of the last stage is the very write that is held.
        let noted = if stage == Stage::Teardown {
            Stage::Report
        } else {
            stage
        };
        assert_eq!(before["stage"], noted.as_str(), "{before:#?}");
        self.stands_on_what_is_tested(&before);
        self.firing.kill().unwrap();
        self.firing.wait().unwrap();
        open_trap(fleet);

        let pass = fleet.ok(&["prune", "--json"]);

        let row = fleet.firing(&id);
        eprintln!(
            "killed in {stage}: {} ({}); {pass}",
            row["outcome"], row["reason"]
        );
        assert!(!row["ended_at"].is_null(), "{row:#?}");
        let finished = row["outcome"] == "OK";
        assert!(finished || row["outcome"] == "CRASHED", "{row:#?}");
        let kept = fleet.kept();
        let lost: Vec<_> = contents.iter().filter(|oid| !kept.contains(*oid)).collect();
        assert!(lost.is_empty(), "lost: {lost:?}\n{row:#?}");
        self.nothing_is_left();
        let wanted = if finished {
            "carson:pr-open"
        } else {
            "for:implementer"
        };
        assert_eq!(fleet.labels(1), [wanted], "{row:#?}");
        if finished {
            effects_are_done_once(fleet, &row);
        }

        self.is_done_once(finished);
    }

    /// A workspace on layers has on the disk what its session changed, and not the checkout.
    fn stands_on_what_is_tested(&self, row: &Value) {
        let of_a_session = &row["sandbox"]["workspace"];
        assert!(
            of_a_session.is_null() || of_a_session == &workspaces(),
            "{row:#?}"
        );
        let bench = self
            .fleet
            .home()
            .join("benches")
            .join(row["id"].as_str().unwrap());
        // In these the worktree is there, and nobody has written to the file.
        let whole = [Stage::Plan, Stage::Review, Stage::Revise];
        if whole.iter().any(|stage| row["stage"] == stage.as_str()) {
            let trees = fs::read_dir(&bench).unwrap().flatten();
            let mut trees =
                trees.filter(|item| item.file_name().to_string_lossy().starts_with("tree-"));
            let tree = trees.next().unwrap().path();
            assert_eq!(
                tree.join("README.md").exists(),
                workspaces() == "copy",
                "{tree:?}"
            );
        }
    }

    fn nothing_is_left(&self) {
        assert_eq!(self.fleet.descendants(), Vec::<i32>::new());
        assert_eq!(self.fleet.benches(), Vec::<PathBuf>::new());
        if self.fleet.mirror().exists() {
            let trees = fs::read_dir(self.fleet.mirror().join("worktrees"));
            assert_eq!(trees.map_or(0, Iterator::count), 0);
        }
    }

    /// The next firing takes the work again, unless it was finished.
    fn is_done_once(&self, finished: bool) {
        let fleet = &self.fleet;
        let barrier = fleet.shared().join("barrier");
        fs::write(fleet.root().join("play.toml"), script(None, &barrier)).unwrap();
        fs::write(barrier.with_extension("go"), "").unwrap();
        let again = fleet.fire(ROLE).json();
        let outcome = if finished { "SILENT" } else { "OK" };
        assert_eq!(again["outcome"], outcome, "{again:#?}");
        if !finished {
            let row = fleet.firing(again["id"].as_str().unwrap());
            assert_eq!(row["sandbox"]["workspace"], workspaces(), "{row:#?}");
        }
        self.nothing_is_left();
        let pulls = fleet.pulls();
        let ready = pulls.iter().filter(|pull| pull["draft"] == false);
        assert_eq!(ready.count(), 1, "{pulls:#?}");
        assert_eq!(fleet.labels(1), ["carson:pr-open"]);
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // A test that failed must not leave it in its endless write.
        let _ = self.firing.kill();
        let _ = self.firing.wait();
    }
}

fn start(fleet: &TestFleet) -> Child {
    let mut command = fleet.command(&["fire", ROLE, "--json"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// The newest firing.
fn row(fleet: &TestFleet) -> Value {
    let firings = fleet.ok(&["firings", "--json"]);
    firings[0].clone()
}

/// Runs SQL against the fleet's database; an error at once where somebody else writes.
fn database(fleet: &TestFleet, sql: &str) -> Result<(), sqlx::Error> {
    #[expect(clippy::disallowed_methods, reason = "every caller's SQL is a literal")]
    let sql = sqlx::AssertSqlSafe(sql.to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let options = SqliteConnectOptions::new()
            .filename(fleet.home().join("state/carson.db"))
            .busy_timeout(std::time::Duration::ZERO);
        let mut connection: SqliteConnection = options.connect().await?;
        connection.execute(sql).await.map(|_| ())
    })
}

/// Keeps the write that is described from ending, ever. The database is there from the first command on.
pub(crate) fn trap(fleet: &TestFleet, event: &str, when: &str) {
    let trap = format!(
        "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         SELECT i FROM n;
         CREATE TRIGGER trap BEFORE {event} WHEN {when} BEGIN
         SELECT count(*) FROM endless; END;"
    );
    database(fleet, &trap).unwrap();
}

/// Waits for a firing that is held in the trap.
pub(crate) fn until_held(fleet: &TestFleet) {
    // Nobody else writes: a lock that stays is the trap's.
    let mut busy = 0;
    until("the firing to be held by the database", || {
        let free = database(fleet, "BEGIN IMMEDIATE; ROLLBACK").is_ok();
        busy = if free { 0 } else { busy + 1 };
        (busy > 20).then_some(())
    });
}

/// Takes the trap away. The lock of a process that was killed may outlive it for a moment.
pub(crate) fn open_trap(fleet: &TestFleet) {
    until("the database to be free again", || {
        database(fleet, "DROP TRIGGER IF EXISTS trap").ok()
    });
}

/// The names that git gives to what lies in the worktrees.
fn contents(fleet: &TestFleet) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut todo = Vec::new();
    for bench in fleet.benches() {
        // What else is in a bench belongs to the bench and is no work.
        let items = fs::read_dir(bench).unwrap().map(|item| item.unwrap());
        let trees = items.filter(|item| item.file_name().to_string_lossy().starts_with("tree-"));
        todo.extend(trees.map(|item| item.path()));
    }
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(dir).unwrap() {
            let path = item.unwrap().path();
            if path.ends_with(".git") {
                continue;
            }
            if path.is_dir() {
                todo.push(path);
            } else {
                found.insert(fleet.blob(&path));
            }
        }
    }
    found
}

macro_rules! between {
    ($($name:ident: $stage:ident, $event:literal, $when:literal;)*) => {
        $(#[test]
        fn $name() {
            Scene::between($event, $when).survives(Stage::$stage);
        })*

        const BETWEEN: &[Stage] = &[$(Stage::$stage),*];
    };
}

between! {
    in_preflight: Preflight, "UPDATE ON firing", "OLD.stage = 'preflight'";
    in_pick_before_the_work_is_taken: Pick, "UPDATE ON firing", "OLD.stage = 'pick'";
    in_pick_with_the_claim: Pick, "UPDATE ON firing", "NEW.stage = 'workspace' AND OLD.stage = 'pick'";
    in_workspace_before_the_place_is_noted: Workspace, "UPDATE ON firing", "OLD.stage = 'workspace'";
    in_workspace_with_a_worktree: Workspace, "UPDATE ON firing", "OLD.stage = 'workspace' AND NEW.stage = 'plan'";
    in_plan: Plan, "UPDATE ON firing", "OLD.stage = 'plan' AND NEW.stage = 'review'";
    in_review: Review, "UPDATE ON firing", "OLD.stage = 'review' AND NEW.stage = 'revise'";
    in_revise: Revise, "UPDATE ON firing", "OLD.stage = 'revise' AND NEW.stage = 'review'";
    in_execute: Execute, "UPDATE ON firing", "OLD.stage = 'execute' AND NEW.stage = 'verify'";
    in_verify: Verify, "UPDATE ON firing", "OLD.stage = 'verify' AND NEW.stage = 'diff-review'";
    in_diff_review: DiffReview, "UPDATE ON firing", "OLD.stage = 'diff-review' AND NEW.stage = 'settle'";
    in_settle: Settle, "UPDATE ON firing", "OLD.stage = 'settle'";
    in_settle_with_the_outcome: Settle, "UPDATE ON firing", "OLD.stage = 'settle' AND NEW.stage = 'salvage'";
    in_salvage_with_a_push_nobody_noted: Salvage, "UPDATE ON firing", "OLD.stage = 'salvage'";
    in_salvage_at_its_end: Salvage, "UPDATE ON firing", "OLD.stage = 'salvage' AND NEW.stage = 'report'";
    in_report_with_nothing_decided: Report, "UPDATE ON firing", "OLD.stage = 'report'";
    in_report_with_half_a_list_of_effects: Report, "INSERT ON effect", "NEW.n = 1";
    in_report_with_a_pull_request_nobody_noted: Report, "UPDATE ON firing", "OLD.pr_number IS NULL AND NEW.pr_number IS NOT NULL";
    in_report_with_a_pull_request_that_is_still_owed: Report, "UPDATE ON effect", "NEW.n = 0";
    in_report_with_a_release_nobody_noted: Report, "UPDATE ON effect", "NEW.n = 1";
    in_report_with_the_forge_told: Report, "UPDATE ON firing", "OLD.stage = 'report' AND NEW.ended_at IS NOT NULL";
    in_teardown: Teardown, "INSERT ON stage", "NEW.name = 'teardown'";
}

macro_rules! within {
    ($($name:ident: $stage:ident;)*) => {
        $(#[test]
        fn $name() {
            Scene::within(Stage::$stage).survives(Stage::$stage);
        })*
    };
}

within! {
    within_the_plan_session: Plan;
    within_the_review_session: Review;
    within_the_revise_session: Revise;
    within_the_execute_session: Execute;
    within_the_promise: Verify;
    within_the_diff_review_session: DiffReview;
}

fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// A shell's way to wait at a barrier, the first time it comes by.
fn wait_at(barrier: &Path) -> String {
    let barrier = barrier.display();
    format!(
        "if [ ! -e {barrier}.reached ]; then touch {barrier}.reached; n=0; \
         while [ ! -e {barrier}.go ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done; fi"
    )
}

/// A worktree that is known to git, with nothing in it.
#[test]
fn in_workspace_with_half_a_worktree() {
    let scene = Scene::behind(|fleet, barrier| {
        let path = std::env::var("PATH").unwrap();
        let wrapper = fleet.root().join("wrapped/git");
        let text = format!(
            "#!/bin/bash\nPATH={path:?}\ncase \" $* \" in *' worktree add '*)\n\
             half=()\nfor one in \"$@\"; do half+=(\"$one\"); [ \"$one\" = add ] && half+=(--no-checkout); done\n\
             git \"${{half[@]}}\"\n{wait}\nexit 0 ;;\nesac\nexec git \"$@\"\n",
            wait = wait_at(barrier)
        );
        program(&wrapper, &text);
        let wrapped = format!("{}:{path}", wrapper.parent().unwrap().display());
        fleet.set_env("PATH", wrapped);
    });
    // The wrapper is no part of what is tested after the kill.
    fs::remove_file(scene.fleet.root().join("wrapped/git")).unwrap();
    scene.survives(Stage::Workspace);
}

/// The remote has the branch, and nobody has made the pull request.
#[test]
fn in_salvage_after_the_push_before_the_pull_request() {
    let scene = Scene::behind(|fleet, barrier| {
        let hook = fleet.remote().join("hooks/post-receive");
        program(&hook, &format!("#!/bin/bash\n{}\n", wait_at(barrier)));
    });
    assert_eq!(scene.fleet.branches().len(), 1);
    assert_eq!(scene.fleet.pulls(), Vec::<Value>::new());
    scene.survives(Stage::Salvage);
}

/// The remote refuses nothing, and has nothing: everything is committed here only.
#[test]
fn in_salvage_before_the_push() {
    let scene = Scene::behind(|fleet, barrier| {
        let hook = fleet.remote().join("hooks/pre-receive");
        program(&hook, &format!("#!/bin/bash\n{}\n", wait_at(barrier)));
    });
    assert_eq!(scene.fleet.branches(), Vec::<String>::new());
    scene.survives(Stage::Salvage);
}

/// A later attempt has joined the draft with the base, and nobody knows that yet: what is there is none of its own.
#[test]
fn in_workspace_as_it_goes_on_with_a_draft() {
    let (fleet, barrier) = Scene::fleet(None, "true");
    let half = "[[when]]\nstage = \"execute\"\ndo = [{ edit = { path = \"half.txt\", content = \"half\\n\" } }, \
                { commit = \"Half\" }, { say = \"[PARTIAL] half\" }]\n";
    let talk = script(None, &barrier);
    fs::write(fleet.root().join("play.toml"), format!("{half}{talk}")).unwrap();
    assert_eq!(fleet.fire(ROLE).json()["outcome"], "PARTIAL");
    fs::write(fleet.root().join("play.toml"), talk).unwrap();
    let draft = fleet.pulls();
    assert_eq!(draft[0]["draft"], true, "{draft:#?}");
    fleet.commit_to_main(&[("moved.txt", "moved\n")]);
    trap(
        &fleet,
        "UPDATE ON firing",
        "OLD.goes_on IS NULL AND NEW.goes_on IS NOT NULL",
    );
    let firing = start(&fleet);
    until_held(&fleet);
    let mut scene = Scene { fleet, firing };
    scene.firing.kill().unwrap();
    scene.firing.wait().unwrap();
    let fleet = &scene.fleet;
    open_trap(fleet);

    let _ = fleet.ok(&["prune", "--json"]);

    let row = row(fleet);
    assert_eq!(row["outcome"], "CRASHED", "{row:#?}");
    assert!(
        !row["reason"].as_str().unwrap().contains("commit"),
        "{row:#?}"
    );
    assert_eq!(fleet.pulls(), draft, "{row:#?}");
    assert_eq!(fleet.branches().len(), 1, "{row:#?}");
    scene.nothing_is_left();
    scene.is_done_once(false);
    assert_eq!(fleet.pulls().len(), 1);
    assert_eq!(fleet.branches().len(), 1);
}

/// Nothing but files: the commit that is being pushed is Carson's own, and the pass that ends the firing stands on it.
#[test]
fn in_salvage_before_the_push_of_what_was_not_committed() {
    let mut scene = Scene::behind(|fleet, barrier| {
        let hook = fleet.remote().join("hooks/pre-receive");
        program(&hook, &format!("#!/bin/bash\n{}\n", wait_at(barrier)));
        let left = "edit = { path = \"left.txt\", content = \"left\\n\" }";
        let play = format!(
            "[[when]]\nstage = \"execute\"\ndo = [{{ {left} }}, {{ say = \"[OK] written\" }}]\n\n\
             [[when]]\nstage = \"review\"\ndo = [{{ say = \"[APPROVE]\" }}]\n\n\
             [[when]]\nstage = \"plan\"\ndo = [{{ say = \"[OK] planned\" }}]\n"
        );
        fs::write(fleet.root().join("play.toml"), play).unwrap();
    });
    scene.firing.kill().unwrap();
    scene.firing.wait().unwrap();
    let fleet = &scene.fleet;
    // The remote is at the dead one's push still: it arrives while the next one is on its way.
    fs::write(fleet.shared().join("barrier.go"), "").unwrap();

    let _ = fleet.ok(&["prune", "--json"]);

    let row = row(fleet);
    assert_eq!(row["outcome"], "NO_COMMIT", "{row:#?}");
    let pulls = fleet.pulls();
    assert_eq!(pulls.len(), 1, "{row:#?}");
    assert_eq!(pulls[0]["draft"], true);
    assert_eq!(fleet.branches().len(), 1);
    scene.nothing_is_left();
}

/// The session that confirms, or not, that the work was done before.
#[test]
fn within_the_confirm_session() {
    let scene = Scene::behind(|fleet, barrier| {
        let play = format!(
            "[[when]]\nstage = \"plan\"\ndo = [{{ say = \"[ALREADY-DONE] README.md:1\" }}]\n\n\
             [[when]]\nstage = \"confirm\"\ndo = [{{ barrier = {barrier:?} }}, {{ say = \"[APPROVE]\" }}]\n"
        );
        fs::write(fleet.root().join("play.toml"), play).unwrap();
    });
    scene.survives(Stage::Confirm);
}

/// An issue whose work was done before: the claim ends, then the issue is closed. A kill before, between
/// and after the two leaves it closed, with one end of its claim.
#[test]
fn in_report_around_the_closing_of_an_issue() {
    for (event, when) in [
        ("INSERT ON effect", "NEW.n = 0"),
        ("UPDATE ON effect", "NEW.n = 0"),
        ("UPDATE ON effect", "NEW.n = 1"),
    ] {
        let mut scene = Scene::trapped(event, when, |fleet| {
            let play = "[[when]]\nstage = \"plan\"\ndo = [{ say = \"[ALREADY-DONE] README.md:1\" }]\n\n\
                        [[when]]\nstage = \"confirm\"\ndo = [{ say = \"[APPROVE]\" }]\n";
            fs::write(fleet.root().join("play.toml"), play).unwrap();
        });
        scene.firing.kill().unwrap();
        scene.firing.wait().unwrap();
        let fleet = &scene.fleet;
        open_trap(fleet);
        let _ = fleet.ok(&["prune", "--json"]);
        let row = row(fleet);
        assert_eq!(row["outcome"], "ALREADY_DONE", "{event} {when}: {row:#}");
        effects_are_done_once(fleet, &row);
        let issue = fleet.ok(&["issue", "show", "1", "--json"]);
        assert_eq!(issue["issue"]["state"], "closed", "{issue:#}");
        scene.nothing_is_left();
    }
}

/// What an earlier firing could only half do.
const HALF: &str = r#"
[[when]]
stage = "plan"
do = [{ say = "1. Write it.\n[OK] planned" }]

[[when]]
stage = "review"
do = [{ say = "[APPROVE]" }]

[[when]]
stage = "execute"
do = [{ edit = { path = "README.md", content = "half\n" } }, { say = "[PARTIAL] half" }]
"#;

#[test]
fn in_report_around_the_closing_of_an_older_draft() {
    for (event, when) in [
        ("INSERT ON effect", "NEW.n = 2"),
        ("UPDATE ON effect", "NEW.n = 2"),
    ] {
        let mut scene = Scene::trapped(event, when, |fleet| {
            let play = fleet.root().join("play.toml");
            let whole = fs::read_to_string(&play).unwrap();
            fs::write(&play, HALF).unwrap();
            assert_eq!(fleet.fire(ROLE).json()["outcome"], "PARTIAL");
            // It does not go with the base any more: the next one begins anew.
            fleet.commit_to_main(&[("README.md", "other\n")]);
            fs::write(play, whole).unwrap();
        });
        scene.firing.kill().unwrap();
        scene.firing.wait().unwrap();
        let fleet = &scene.fleet;
        open_trap(fleet);
        let _ = fleet.ok(&["prune", "--json"]);
        let row = row(fleet);
        assert_eq!(row["outcome"], "OK", "{event} {when}: {row:#}");
        let firing = fleet.firing(row["id"].as_str().unwrap());
        let effects = firing["effects"].as_array().unwrap();
        assert_eq!(effects[2]["kind"], "close-drafts", "{effects:#?}");
        assert!(
            effects.iter().all(|effect| effect["state"] == "done"),
            "{effects:#?}"
        );
        let pulls = fleet.pulls();
        let [older, newer] = pulls.as_slice() else {
            panic!("{pulls:#?}")
        };
        assert_eq!(
            (&older["state"], &older["draft"]),
            (&"closed".into(), &true.into())
        );
        assert_eq!(
            (&newer["state"], &newer["draft"]),
            (&"open".into(), &false.into())
        );
        let number = older["number"].as_u64().unwrap();
        let told = fleet
            .home()
            .join(format!("forge/widget/pulls/{number:04}.comments"));
        assert_eq!(fs::read_dir(told).unwrap().count(), 1, "{event} {when}");
        scene.nothing_is_left();
    }
}

/// Every effect of a firing is done, and the forge shows each once.
fn effects_are_done_once(fleet: &TestFleet, row: &Value) {
    let firing = fleet.firing(row["id"].as_str().unwrap());
    let effects = firing["effects"].as_array().unwrap();
    assert!(!effects.is_empty(), "{firing:#}");
    assert!(
        effects.iter().all(|effect| effect["state"] == "done"),
        "{effects:#?}"
    );
    let comments = fs::read_dir(fleet.home().join("forge/widget/issues/0001.comments")).unwrap();
    let texts = comments.map(|item| fs::read_to_string(item.unwrap().path()).unwrap());
    let ended = texts.filter(|text| text.contains("carson:release")).count();
    assert_eq!(ended, 1, "{firing:#}");
}

/// It could not push, and died with that written down; then it can be pushed.
#[test]
fn what_can_be_pushed_after_all_has_its_pull_request() {
    let mut scene = Scene::trapped("UPDATE ON effect", "NEW.n = 0", |fleet| {
        let hook = fleet.remote().join("hooks/pre-receive");
        let go = fleet.shared().join("barrier.go");
        program(&hook, &format!("#!/bin/sh\n[ -e {} ]\n", go.display()));
    });
    scene.firing.kill().unwrap();
    scene.firing.wait().unwrap();
    let fleet = &scene.fleet;
    open_trap(fleet);
    assert_eq!(fleet.pulls(), Vec::<Value>::new());
    fs::write(fleet.shared().join("barrier.go"), "").unwrap();

    let _ = fleet.ok(&["prune", "--json"]);

    let row = row(fleet);
    let pulls = fleet.pulls();
    assert_eq!(pulls.len(), 1, "{row:#?}");
    assert_eq!(fleet.branches().len(), 1);
    assert!(!row["pr_number"].is_null(), "{row:#?}");
    effects_are_done_once(fleet, &row);
    scene.nothing_is_left();
}

/// Killed between the forge's pull request and the note of it.
fn killed_as_it_opened_its_pull() -> Scene {
    let event = "UPDATE ON firing";
    let noted = "OLD.pr_number IS NULL AND NEW.pr_number IS NOT NULL";
    let mut scene = Scene::between(event, noted);
    scene.firing.kill().unwrap();
    scene.firing.wait().unwrap();
    open_trap(&scene.fleet);
    scene
}

/// Killed as it opened its pull request, which a person closed before anybody looked: it stays closed.
#[test]
fn a_pull_request_that_people_closed_meanwhile_is_not_opened_again() {
    let scene = killed_as_it_opened_its_pull();
    let fleet = &scene.fleet;
    let file = fs::read_dir(fleet.home().join("forge/widget/pulls"))
        .unwrap()
        .next();
    let file = file.unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.replace("state = \"open\"", "state = \"closed\""),
    )
    .unwrap();

    let _ = fleet.ok(&["prune", "--json"]);

    let pulls = fleet.pulls();
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    assert_eq!(pulls[0]["state"], "closed");
    effects_are_done_once(fleet, &row(fleet));
}

/// Who gives a bench up whose firing is dead is not sent away: its work is saved first.
#[test]
fn a_dead_firing_that_is_given_up_is_concluded_first() {
    let scene = killed_as_it_opened_its_pull();
    let fleet = &scene.fleet;
    let id = row(fleet)["id"].as_str().unwrap().to_owned();
    let gone = fleet.ok(&["prune", "--discard", &id, "--json"]);
    assert_eq!(gone["bench"]["did"], "gone", "{gone:#}");
    assert_eq!(fleet.pulls().len(), 1, "{gone:#}");
    effects_are_done_once(fleet, &row(fleet));
    scene.nothing_is_left();
}

/// Killed before its claim was released, and somebody cleaned the comments up meanwhile: the issue is
/// not held by nobody for ever.
#[test]
fn a_claim_whose_comment_is_gone_is_released_all_the_same() {
    let mut scene = Scene::between("UPDATE ON effect", "NEW.n = 0");
    scene.firing.kill().unwrap();
    scene.firing.wait().unwrap();
    let fleet = &scene.fleet;
    open_trap(fleet);
    let comments = fleet.home().join("forge/widget/issues/0001.comments");
    fs::remove_dir_all(comments).unwrap();

    let _ = fleet.ok(&["prune", "--json"]);

    assert_eq!(fleet.labels(1), ["carson:pr-open"]);
    effects_are_done_once(fleet, &row(fleet));
    scene.nothing_is_left();
}

/// The forge takes no pull request for a while: the work is done, its claim stays, and a later pass opens
/// exactly one.
#[test]
fn what_the_forge_does_not_take_now_is_owed_and_done_later() {
    let (fleet, _) = Scene::fleet(None, "true");
    // It goes away as it takes the branch.
    let pulls = fleet.home().join("forge/widget/pulls");
    let hook = fleet.remote().join("hooks/post-receive");
    let text = format!(
        "#!/bin/bash\nrm -rf {0}; echo in the way > {0}\n",
        pulls.display()
    );
    program(&hook, &text);
    let row = fleet.fire(ROLE).json();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let owed = fleet.ok(&["status", "--json"]);
    assert_eq!(owed["owed"][0]["effect"], "open-pull", "{owed:#}");
    assert_eq!(owed["owed"][0]["firing"], row["id"], "{owed:#}");
    assert_eq!(fleet.labels(1), ["carson:in-flight"]);
    // Still away: nothing is lost, nothing is doubled, nobody else takes the work.
    database(&fleet, "UPDATE effect SET next_at = NULL").unwrap();
    let _ = fleet.ok(&["prune", "--json"]);
    assert_eq!(fleet.labels(1), ["carson:in-flight"]);
    assert_eq!(
        fleet.firing(row["id"].as_str().unwrap())["effects"][0]["tries"],
        2
    );
    fs::remove_file(&hook).unwrap();
    fs::remove_file(&pulls).unwrap();
    // Not before its time.
    let _ = fleet.ok(&["prune", "--json"]);
    assert_eq!(fleet.pulls(), Vec::<Value>::new());
    // What is owed is among what people will have to read.
    let role = fleet.home().join("roles").join(ROLE).join("role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(&role, format!("{text}[limits]\nmax_open_prs = 1\n")).unwrap();
    let second = fleet.issue(ROLE, "Write more", "In more.txt.");
    let skipped = fleet.fire(ROLE).json();
    assert_eq!(skipped["skip"], "open-prs", "{skipped:#}");
    assert_eq!(fleet.labels(second), [format!("for:{ROLE}")]);
    database(&fleet, "UPDATE effect SET next_at = NULL").unwrap();
    let paid = fleet.ok(&["prune", "--json"]);
    assert_eq!(paid["caught_up"][0]["id"], row["id"], "{paid:#}");
    assert_eq!(paid["caught_up"][0]["effects"], 2, "{paid:#}");
    // What was owed once is nowhere told as if it still were.
    let status = fleet.ok(&["status", "--json"]);
    assert_eq!(status["owed"].as_array().map(Vec::len), Some(0));
    assert_eq!(
        fleet.firing(row["id"].as_str().unwrap())["reason"],
        row["reason"]
    );
    let made = fleet.pulls();
    assert_eq!(made.len(), 1, "{made:#?}");
    assert_eq!(made[0]["draft"], false);
    assert_eq!(fleet.labels(1), ["carson:pr-open"]);
    effects_are_done_once(&fleet, &row);
    let _ = fleet.ok(&["prune", "--json"]);
    assert_eq!(fleet.pulls().len(), 1);
}

#[test]
fn no_stage_is_left_out() {
    // It comes only where a session says that there is nothing to do.
    let beside = [Stage::Confirm];
    let killed: BTreeSet<Stage> = BETWEEN.iter().copied().chain(beside).collect();
    assert_eq!(killed, BTreeSet::from(Stage::ALL));
}
