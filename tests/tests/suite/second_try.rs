//! What a usage window would lose is spent on a second try, and nothing of either try is lost by that.

use std::fs;
use std::process::Stdio;

use carson_core::admission::UsageWindow;
use carson_core::Clock;
use carson_store::Store;
use carson_tests::fleet::TestFleet;
use carson_tests::until;
use chrono::TimeDelta;
use serde_json::Value;

const ROLE: &str = "implementer";

/// Each try writes its number, and says what the test wants; whoever is shown two takes the one that the test wants.
const WORKER: &str = r#"prompt=$(cat)
case $CARSON_STAGE in
execute)
  n=$(( $(cat DIR/n 2>/dev/null || echo 0) + 1 )); echo $n >DIR/n
  printf '%s' "$prompt" >DIR/prompt.$n; ls >DIR/files.$n
  echo "try $n $(cat DIR/is.$n 2>/dev/null)" >work.txt
  git add .; git commit --quiet -m "Try $n"
  cat DIR/says.$n 2>/dev/null || echo '[OK] done';;
diff-review)
  case $prompt in
  "Two changes"*)
    printf '%s' "$prompt" >DIR/two; ls >DIR/files.two
    if [ -e DIR/hold ]; then touch DIR/reached; while [ -e DIR/hold ]; do sleep 0.05; done; fi
    better=$(cat DIR/better) || exit 0
    case ${prompt%%The second change:*} in *"+$better"*) echo '[FIRST]';; *) echo '[SECOND]';; esac;;
  *) echo '[APPROVE]';;
  esac;;
esac"#;

struct Scene {
    fleet: TestFleet,
}

impl Scene {
    /// One issue, whose first try was left as a draft.
    fn new() -> Self {
        let mut fleet = TestFleet::new();
        let dir = fleet.shared();
        fleet = fleet.with_program("worker", &WORKER.replace("DIR", &dir.display().to_string()));
        fleet.account("worker", "engine = \"command\"\nbinary = \"worker\"\nreserve = \"10%\"");
        let more = "spare = \"second-try\"\nstages = [\"execute\", \"verify\", \"diff-review\"]\n\
                    [promise]\nrun = \"! grep -q broken work.txt\"\n";
        fleet.role(ROLE, "worker", more);
        let scene = Self { fleet };
        scene.fleet.issue(ROLE, "Write", "Something.");
        scene.told("says.1", "[PARTIAL] half of it");
        assert_eq!(scene.fire()["outcome"], "PARTIAL");
        assert_eq!(scene.drafts(), [true]);
        scene
    }

    fn told(&self, file: &str, text: &str) {
        fs::write(self.fleet.shared().join(file), text).unwrap();
    }

    fn heard(&self, file: &str) -> String {
        fs::read_to_string(self.fleet.shared().join(file)).unwrap()
    }

    fn fire(&self) -> Value {
        let row = self.fleet.fire(ROLE).json();
        self.fleet.firing(row["id"].as_str().unwrap())
    }

    /// Of each pull request that is open, whether it is a draft.
    fn drafts(&self) -> Vec<bool> {
        let open = self.fleet.pulls().into_iter().filter(|pull| pull["state"] == "open");
        open.map(|pull| pull["draft"] == true).collect()
    }

    /// So much of a window that starts again in so many minutes is used.
    fn used(&self, used: f64, minutes: i64) {
        let database = format!("sqlite:{}", self.fleet.home().join("state/carson.db").display());
        let now = Clock::system().now();
        let window = UsageWindow {
            account: "worker".parse().unwrap(),
            name: "five_hour".to_owned(),
            utilization: used,
            resets_at: Some(now + TimeDelta::minutes(minutes)),
            seen_at: now,
        };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let store = Store::open(&database).await.unwrap();
            store.note_window(&window).await.unwrap();
        });
    }

    fn why(&self) -> String {
        self.fleet.ok(&["why", ROLE, "--json"])["spare"].as_str().unwrap().to_owned()
    }

    /// What a branch or a ref has in the file.
    fn work(&self, repository: &std::path::Path, name: &str) -> String {
        let at = repository.to_str().unwrap();
        self.fleet.git(&["-C", at, "show", &format!("{name}:work.txt")]).trim().to_owned()
    }
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

#[test]
fn the_better_second_try_takes_the_place_of_the_first_whose_branch_stays() {
    let scene = Scene::new();
    let first = text(&scene.fleet.pulls()[0], "head").to_owned();
    scene.used(0.2, 30);
    assert!(scene.why().contains("of worker's five_hour would be lost"), "{}", scene.why());
    scene.told("better", "try 2");

    let row = scene.fire();

    assert_eq!((&row["outcome"], &row["second_try"]), (&"OK".into(), &1.into()), "{row:#}");
    assert!(text(&row, "reason").starts_with("second try beside #1, it is kept"), "{row:#}");
    // It began at the base, and heard nothing of the first.
    assert_eq!(scene.heard("files.2"), "README.md\n");
    for told in ["try 1", "half of it", "Try 1", "PARTIAL"] {
        assert!(!scene.heard("prompt.2").contains(told), "{told}");
    }
    // Who chose saw both, in the base, and not whose they are.
    let two = scene.heard("two");
    assert!(two.contains("+try 1") && two.contains("+try 2"), "{two}");
    assert!(!two.contains("Try 1") && !two.contains(&first), "{two}");
    assert_eq!(scene.heard("files.two"), "README.md\n");
    assert_eq!(scene.drafts(), [false]);
    assert_eq!(scene.fleet.labels(1), ["carson:pr-open"]);
    let pulls = scene.fleet.pulls();
    assert_eq!(pulls[0]["state"], "closed", "{pulls:#?}");
    assert_eq!(scene.work(&scene.fleet.remote(), &first), "try 1");
    assert_eq!(scene.work(&scene.fleet.remote(), text(&row, "branch")), "try 2");
    let told = scene.fleet.ok(&["pr", "show", "1", "--json"]).to_string();
    assert!(told.contains("A later firing") && told.contains(&first), "{told}");
    let shown = scene.fleet.carson(&["firings", text(&row, "id")]).stdout;
    assert!(shown.contains("second try: beside #1"), "{shown}");
}

#[test]
fn the_first_try_stays_where_the_second_is_not_better_and_that_is_kept() {
    for (better, says) in [
        (Some("try 1"), "takes that for the better one"),
        (None, "did not say which is better"),
    ] {
        let scene = Scene::new();
        scene.used(0.2, 30);
        if let Some(better) = better {
            scene.told("better", better);
        }

        let row = scene.fire();

        assert_eq!(row["outcome"], "SILENT", "{row:#}");
        assert!(text(&row, "reason").contains(says), "{row:#}");
        assert_eq!(scene.drafts(), [true]);
        assert_eq!(scene.fleet.branches().len(), 1);
        assert_eq!(scene.work(&scene.fleet.store(), text(&row, "salvage_ref")), "try 2");
        let issue = scene.fleet.ok(&["issue", "show", "1", "--json"]).to_string();
        assert!(issue.contains(text(&row, "salvage_ref")), "{issue}");
        assert_eq!(scene.fleet.labels(1), ["for:implementer"]);
        // There is one beside each draft; the next firing goes on with that, as ever.
        let row = scene.fire();
        assert_eq!((&row["outcome"], &row["second_try"]), (&"OK".into(), &Value::Null), "{row:#}");
        assert_eq!(scene.heard("files.3"), "README.md\nwork.txt\n");
    }
}

#[test]
fn one_that_fails_the_check_loses_without_a_session() {
    let scene = Scene::new();
    // The draft that is there passes; the second one does not.
    scene.used(0.2, 30);
    scene.told("is.2", "broken");
    scene.told("says.3", "[PARTIAL] enough");
    scene.told("better", "try 2");
    let row = scene.fire();
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    assert!(text(&row, "reason").contains("the first one is kept"), "{row:#}");
    assert_eq!(scene.drafts(), [true]);
    assert!(!scene.fleet.shared().join("two").exists());

    // And the other way round.
    let broken = Scene::broken();
    broken.used(0.2, 30);
    let row = broken.fire();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert!(text(&row, "reason").contains("the first fails the check"), "{row:#}");
    assert!(!broken.fleet.shared().join("two").exists());
}

impl Scene {
    /// The same with a first try that does not pass the check.
    fn broken() -> Self {
        let scene = Self::new();
        // As if the check had become stricter since.
        let role = scene.fleet.home().join(format!("roles/{ROLE}/role.toml"));
        let stricter = fs::read_to_string(&role).unwrap().replace("broken work.txt", "'try 1' work.txt");
        fs::write(role, stricter).unwrap();
        scene
    }
}

#[test]
fn without_something_to_spare_it_goes_on_with_its_draft() {
    for (used, minutes, why) in [
        (0.2, 200, "starts again"),
        (0.8, 30, "is left over"),
        (0.95, 30, "is left over"),
    ] {
        let scene = Scene::new();
        scene.used(used, minutes);
        assert!(scene.why().contains(why), "{}", scene.why());
        let row = scene.fire();
        assert_eq!(row["second_try"], Value::Null, "{row:#}");
        // Where what is kept for people is begun, nothing fires at all.
        let expected = if used > 0.9 { "SKIPPED" } else { "OK" };
        assert_eq!(row["outcome"], expected, "{row:#}");
    }
}

#[test]
fn what_is_new_comes_first() {
    let scene = Scene::new();
    scene.used(0.2, 30);
    scene.fleet.issue(ROLE, "Another", "New.");
    let row = scene.fire();
    assert_eq!((&row["work"], &row["second_try"]), (&"issue-2".into(), &Value::Null), "{row:#}");
}

#[test]
fn a_firing_that_dies_while_they_are_compared_loses_neither() {
    let scene = Scene::new();
    let first = text(&scene.fleet.pulls()[0], "head").to_owned();
    scene.used(0.2, 30);
    scene.told("better", "try 2");
    scene.told("hold", "");
    let mut firing = scene.fleet.command(&["fire", ROLE]);
    let mut firing = firing.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let reached = scene.fleet.shared().join("reached");
    until("both to be shown", || reached.exists().then_some(()));
    firing.kill().unwrap();
    firing.wait().unwrap();

    let pruned = scene.fleet.carson(&["prune"]);
    assert_eq!(pruned.code, Some(0), "{pruned:#?}");

    fs::remove_file(scene.fleet.shared().join("hold")).unwrap();
    let rows = scene.fleet.ok(&["firings", "--json"]);
    let dead = rows.as_array().unwrap().iter().find(|row| row["outcome"] == "CRASHED").unwrap();
    assert_eq!(dead["second_try"], 1, "{dead:#}");
    assert_eq!(scene.drafts(), [true]);
    assert_eq!(scene.fleet.branches(), [first.clone()]);
    assert_eq!(scene.work(&scene.fleet.remote(), &first), "try 1");
    assert_eq!(scene.work(&scene.fleet.store(), text(dead, "salvage_ref")), "try 2");
    assert_eq!(scene.fleet.labels(1), ["for:implementer"]);
}

#[test]
fn who_leaves_no_drafts_has_no_second_tries() {
    let fleet = TestFleet::new().with_program("worker", "cat >/dev/null");
    fleet.account("worker", "engine = \"command\"\nbinary = \"worker\"");
    fleet.role_of_kind("reviewer", &["worker"], "spare = \"second-try\"\n");
    let checked = fleet.carson(&["config", "check"]);
    let said = format!("{}{}", checked.stdout, checked.stderr);
    assert!(said.contains("leaves no drafts of issues"), "{said}");
}
