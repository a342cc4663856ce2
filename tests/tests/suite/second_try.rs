//! What a usage window would lose is spent on a second try, and nothing of either try is lost by that.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};

use carson_core::Clock;
use carson_core::admission::UsageWindow;
use carson_store::Store;
use carson_tests::fleet::TestFleet;
use carson_tests::until;
use chrono::TimeDelta;
use serde_json::Value;

const ROLE: &str = "implementer";

/// So many firings a day that the hour at which a test runs makes no difference.
const MANY: &str = "max_firings_per_day = 10000000\n";

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
    printf '%s' "$prompt" >DIR/two; ls >DIR/files.two; echo >>DIR/compared
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
        Self::with_limits("")
    }

    /// The same within these limits.
    fn with_limits(limits: &str) -> Self {
        let mut fleet = TestFleet::new();
        let dir = fleet.shared();
        fleet = fleet.with_program("worker", &WORKER.replace("DIR", &dir.display().to_string()));
        fleet.account(
            "worker",
            "engine = \"command\"\nbinary = \"worker\"\nreserve = \"10%\"",
        );
        let more = format!(
            "spare = \"second-try\"\nstages = [\"execute\", \"verify\", \"diff-review\"]\n\
             [promise]\nrun = \"! grep -q broken work.txt\"\n[limits]\n{MANY}{limits}"
        );
        fleet.role(ROLE, "worker", &more);
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
        let open = self
            .fleet
            .pulls()
            .into_iter()
            .filter(|pull| pull["state"] == "open");
        open.map(|pull| pull["draft"] == true).collect()
    }

    /// So much of a window that starts again in so many minutes is used.
    fn used(&self, used: f64, minutes: i64) {
        let database = format!(
            "sqlite:{}",
            self.fleet.home().join("state/carson.db").display()
        );
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
        self.fleet.ok(&["why", ROLE, "--json"])["spare"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// What a branch or a ref has in the file.
    fn work(&self, repository: &Path, name: &str) -> String {
        let at = repository.to_str().unwrap();
        self.fleet
            .git(&["-C", at, "show", &format!("{name}:work.txt")])
            .trim()
            .to_owned()
    }
}

/// Starts a firing, and kills it once it made a file of this name.
fn killed_at(scene: &Scene, reached: &str) {
    let mut firing = scene.fleet.command(&["fire", ROLE]);
    let firing = firing.stdout(Stdio::null()).stderr(Stdio::null());
    let mut firing: Child = firing.spawn().unwrap();
    let reached = scene.fleet.shared().join(reached);
    until("the firing to come so far", || {
        reached.exists().then_some(())
    });
    firing.kill().unwrap();
    firing.wait().unwrap();
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

#[test]
fn the_better_second_try_takes_the_place_of_the_first_whose_branch_stays() {
    let scene = Scene::new();
    let first = text(&scene.fleet.pulls()[0], "head").to_owned();
    scene.used(0.2, 30);
    assert!(
        scene.why().contains("of worker's five_hour would be lost"),
        "{}",
        scene.why()
    );
    scene.told("better", "try 2");

    let row = scene.fire();

    assert_eq!(
        (&row["outcome"], &row["second_try"]),
        (&"OK".into(), &2.into()),
        "{row:#}"
    );
    assert!(
        text(&row, "reason").starts_with("second try beside #2, it is kept"),
        "{row:#}"
    );
    // It began at the base, and heard nothing of the first.
    assert_eq!(scene.heard("files.2"), "README.md\n");
    for told in ["try 1", "half of it", "Try 1"] {
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
    assert_eq!(
        scene.work(&scene.fleet.remote(), text(&row, "branch")),
        "try 2"
    );
    let told = scene.fleet.ok(&["pr", "show", "2", "--json"]).to_string();
    assert!(
        told.contains("A later firing") && told.contains(&first),
        "{told}"
    );
    let shown = scene.fleet.carson(&["firings", text(&row, "id")]).stdout;
    assert!(shown.contains("second try: beside #2"), "{shown}");
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
        assert_eq!(
            scene.work(&scene.fleet.store(), text(&row, "salvage_ref")),
            "try 2"
        );
        let issue = scene
            .fleet
            .ok(&["issue", "show", "1", "--json"])
            .to_string();
        assert!(issue.contains(text(&row, "salvage_ref")), "{issue}");
        assert_eq!(scene.fleet.labels(1), ["for:implementer"]);
        // There is one beside each draft; the next firing goes on with that, as ever.
        let row = scene.fire();
        assert_eq!(
            (&row["outcome"], &row["second_try"]),
            (&"OK".into(), &Value::Null),
            "{row:#}"
        );
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
    assert!(
        text(&row, "reason").contains("the first one is kept"),
        "{row:#}"
    );
    assert_eq!(scene.drafts(), [true]);
    assert!(!scene.fleet.shared().join("two").exists());

    // And the other way round.
    let broken = Scene::broken();
    broken.used(0.2, 30);
    let row = broken.fire();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert!(
        text(&row, "reason").contains("the first fails the check"),
        "{row:#}"
    );
    assert!(!broken.fleet.shared().join("two").exists());
}

impl Scene {
    /// The same with a first try that does not pass the check.
    fn broken() -> Self {
        let scene = Self::new();
        // As if the check had become stricter since.
        let role = scene.fleet.home().join(format!("roles/{ROLE}/role.toml"));
        let stricter = fs::read_to_string(&role)
            .unwrap()
            .replace("broken work.txt", "'try 1' work.txt");
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
        if used > 0.9 {
            // Where what is kept for people is begun, nothing fires at all.
            let _ = scene.fleet.fire(ROLE);
            assert_eq!(scene.heard("n"), "1\n");
            continue;
        }
        let row = scene.fire();
        assert_eq!(row["second_try"], Value::Null, "{row:#}");
        assert_eq!(row["outcome"], "OK", "{row:#}");
    }
}

#[test]
fn what_is_new_comes_first() {
    let scene = Scene::new();
    scene.used(0.2, 30);
    scene.fleet.issue(ROLE, "Another", "New.");
    let row = scene.fire();
    assert_eq!(
        (&row["work"], &row["second_try"]),
        (&"issue-3".into(), &Value::Null),
        "{row:#}"
    );
}

#[test]
fn a_firing_that_dies_while_they_are_compared_loses_neither() {
    let scene = Scene::new();
    let first = text(&scene.fleet.pulls()[0], "head").to_owned();
    scene.used(0.2, 30);
    scene.told("better", "try 2");
    scene.told("hold", "");
    killed_at(&scene, "reached");

    let pruned = scene.fleet.carson(&["prune"]);
    assert_eq!(pruned.code, Some(0), "{pruned:#?}");

    fs::remove_file(scene.fleet.shared().join("hold")).unwrap();
    let rows = scene.fleet.ok(&["firings", "--json"]);
    let dead = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["outcome"] == "CRASHED")
        .unwrap();
    assert_eq!(dead["second_try"], 2, "{dead:#}");
    assert_eq!(scene.drafts(), [true]);
    assert_eq!(scene.fleet.branches(), std::slice::from_ref(&first));
    assert_eq!(scene.work(&scene.fleet.remote(), &first), "try 1");
    assert_eq!(
        scene.work(&scene.fleet.store(), text(dead, "salvage_ref")),
        "try 2"
    );
    assert_eq!(scene.fleet.labels(1), ["for:implementer"]);
}

#[test]
fn one_that_dies_once_it_has_won_is_offered_once_and_closes_the_first_once() {
    let scene = Scene::new();
    scene.used(0.2, 30);
    scene.told("better", "try 2");
    // What it won by is written down, and its branch is on the way.
    let (reached, go) = ("pushes", scene.fleet.shared().join("go"));
    let hook = scene.fleet.remote().join("hooks/pre-receive");
    let at = scene.fleet.shared().join(reached);
    let waits = format!(
        "#!/bin/sh\ntouch {}; while [ ! -e {} ]; do sleep 0.05; done\n",
        at.display(),
        go.display()
    );
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, waits).unwrap();
    fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    killed_at(&scene, reached);
    fs::write(&go, "").unwrap();

    for _ in 0..2 {
        let pruned = scene.fleet.carson(&["prune"]);
        assert_eq!(pruned.code, Some(0), "{pruned:#?}");
    }

    let rows = scene.fleet.ok(&["firings", "--json"]);
    let rows = rows.as_array().unwrap();
    let won = rows.iter().find(|row| row["second_try"] == 2).unwrap();
    assert_eq!(won["outcome"], "OK", "{rows:#?}");
    assert!(text(won, "reason").contains("it is kept"), "{won:#}");
    let pulls = scene.fleet.pulls();
    assert_eq!(pulls.len(), 2, "{pulls:#?}");
    assert_eq!(pulls[0]["state"], "closed", "{pulls:#?}");
    assert_eq!(scene.drafts(), [false]);
    assert_eq!(scene.fleet.labels(1), ["carson:pr-open"]);
    let told = scene.fleet.ok(&["pr", "show", "2", "--json"]).to_string();
    assert_eq!(told.matches("A later firing").count(), 1, "{told}");
    assert_eq!(scene.heard("compared"), "\n", "nobody compares them again");
    assert_eq!(scene.heard("n"), "2\n");
}

#[test]
fn neither_a_place_nor_a_budget_is_used_up_for_it() {
    let settings = |scene: &Scene| {
        let file = scene.fleet.home().join("carson.toml");
        (fs::read_to_string(&file).unwrap(), file)
    };
    let crowded = Scene::new();
    crowded.used(0.2, 30);
    let (text, file) = settings(&crowded);
    let one = text.replace("max_firings = 8", "max_firings = 1");
    fs::write(file, one).unwrap();
    let checked = crowded.fleet.carson(&["config", "check"]);
    let says = "no second try is made: another firing must fit beside it";
    assert!(format!("{checked:?}").contains(says), "{checked:#?}");
    let dear = Scene::with_limits("max_cost_usd = 2.0\nmax_cost_usd_per_day = 2.0\n");
    dear.used(0.2, 30);
    let capped = Scene::new();
    capped.used(0.2, 30);
    let role = capped.fleet.home().join(format!("roles/{ROLE}/role.toml"));
    let text = fs::read_to_string(&role).unwrap();
    let two = text.replace(MANY, "max_firings_per_day = 1\n");
    fs::write(role, two).unwrap();
    for (scene, why) in [
        (&crowded, "no other firing could begin on this host"),
        (&dear, "the budget of this role a day would not last"),
        (
            &capped,
            "the firings of its day (limits.max_firings_per_day = 1)",
        ),
    ] {
        assert!(scene.why().starts_with("nothing: "), "{}", scene.why());
        assert!(scene.why().contains(why), "{}", scene.why());
    }
    // It goes on with its draft, as ever.
    for scene in [crowded, dear] {
        let row = scene.fire();
        let expected = (&"OK".into(), &Value::Null);
        assert_eq!((&row["outcome"], &row["second_try"]), expected, "{row:#}");
    }
}

#[test]
fn one_that_fails_moves_no_breaker_and_counts_as_no_attempt() {
    let scene = Scene::with_limits("fail_streak = 1\nmax_work_attempts = 2\n");
    scene.used(0.2, 30);
    scene.told("says.2", "[BLOCKED] no way");
    let row = scene.fire();
    assert_eq!(
        (&row["outcome"], &row["second_try"]),
        (&"BLOCKED".into(), &2.into()),
        "{row:#}"
    );
    assert_eq!(scene.fleet.labels(1), ["for:implementer"]);
    let row = scene.fire();
    assert_eq!(
        (&row["outcome"], &row["second_try"]),
        (&"OK".into(), &Value::Null),
        "{row:#}"
    );
}

#[test]
fn new_work_of_any_repository_comes_before_it() {
    let scene = Scene::new();
    scene.used(0.2, 30);
    let file = scene.fleet.home().join("carson.toml");
    let settings = fs::read_to_string(&file).unwrap();
    let remote = scene.fleet.remote();
    let other = format!("[repos.other]\nurl = {remote:?}\nbase = \"main\"\n");
    fs::write(&file, format!("{settings}\n{other}")).unwrap();
    let role = scene.fleet.home().join(format!("roles/{ROLE}/role.toml"));
    let both = fs::read_to_string(&role).unwrap();
    fs::write(
        &role,
        both.replace("[\"widget\"]", "[\"widget\", \"other\"]"),
    )
    .unwrap();
    let label = format!("for:{ROLE}");
    let created = scene.fleet.carson(&[
        "issue", "create", "New", "--body", "Work.", "--label", &label, "--repo", "other",
    ]);
    assert_eq!(created.code, Some(0), "{created:#?}");
    let row = scene.fire();
    assert_eq!(
        (&row["repo"], &row["second_try"]),
        (&"other".into(), &Value::Null),
        "{row:#}"
    );
    let row = scene.fire();
    assert_eq!(
        (&row["repo"], &row["second_try"]),
        (&"widget".into(), &2.into()),
        "{row:#}"
    );
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
