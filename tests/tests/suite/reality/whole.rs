//! The whole program on GitHub: what follows on it once, whatever happens on the way.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use carson_tests::fleet::TestFleet;
use serde_json::{Value, json};

use super::github::GitHub;

/// What the sessions do, by the number of the issue.
const AGENT: &str = "#!/bin/bash\nset -e\nprompt=$(cat)\n\
    case $prompt in\n\
    *half-done*) date +%N > half-$RANDOM.txt; git add .; git commit --quiet -m Half; echo '[PARTIAL] half'; exit;;\n\
    *needs-a-key*) echo '[BLOCKED] it needs a key'; exit;;\n\
    esac\n\
    echo done > issue-$CARSON_WORK.txt; git add .; git commit --quiet -m Work; echo '[OK] done'\n";

/// GitHub, and a fleet that works there.
struct Scene {
    github: GitHub,
    fleet: TestFleet,
}

impl Scene {
    async fn begin() -> Self {
        let github = GitHub::start(false).await;
        github.back.makes_branches();
        let fleet = TestFleet::new();
        let program = fleet.root().join("cli/agent");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, AGENT).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        fleet.account("sh", &format!("engine = \"command\"\nbinary = {program:?}"));
        let limits =
            "[limits]\nmax_open_prs = 100\nfail_streak = 100\nmax_firings_per_day = 1000\n";
        fleet.role("hand", "sh", &format!("stages = [\"execute\"]\n{limits}"));
        let token = fleet.home().join("github.token");
        fs::write(&token, "token_of_carson").unwrap();
        fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
        let settings = fleet.home().join("carson.toml");
        let text = fs::read_to_string(&settings).unwrap();
        let widget = "[repos.widget]\nslug = \"acme/widget\"\nforge = \"github\"";
        let text = text.replace("[repos.widget]", widget);
        let section = format!(
            "\n[github]\napi_base = {:?}\ntoken_file = {token:?}\n",
            github.base
        );
        fs::write(&settings, text + &section).unwrap();
        Self { github, fleet }
    }

    async fn issue(&self, title: &str, body: &str, labels: &[&str]) -> u64 {
        let issue = json!({"title": title, "body": body, "labels": labels});
        let made = self.github.does("acme", "POST", "issues", &issue).await;
        made["number"].as_u64().unwrap()
    }

    /// Fires once more, to its row.
    fn fire(&self) -> Value {
        self.fleet.fire("hand").json()
    }

    /// Fires, and lets GitHub kill the process after so many writes. Whether it did.
    fn killed_after(&self, writes: usize) -> bool {
        let process = Arc::new(AtomicI32::new(0));
        self.github.front.kills_after(writes, &process);
        let mut command = self.fleet.command(&["fire", "hand", "--json"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut firing = command.spawn().unwrap();
        process.store(i32::try_from(firing.id()).unwrap(), Ordering::SeqCst);
        firing.wait().unwrap().code().is_none()
    }

    /// The issue, its labels, and how many of each mark of ours its comments have.
    async fn state(&self, number: u64) -> (String, Vec<String>, BTreeMap<String, usize>) {
        let path = format!("issues/{number}");
        let issue = self.github.does("acme", "GET", &path, &Value::Null).await;
        let labels = issue["labels"].as_array().unwrap();
        let labels = labels
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned());
        let mut marks = BTreeMap::new();
        for comment in self
            .github
            .all(&format!("{path}/comments?per_page=100"))
            .await
        {
            let body = comment["body"].as_str().unwrap();
            for mark in body.split("<!-- carson:").skip(1) {
                let kind = mark.split_whitespace().next().unwrap().to_owned();
                *marks.entry(kind).or_default() += 1;
            }
        }
        let state = issue["state"].as_str().unwrap().to_owned();
        (state, labels.collect(), marks)
    }

    async fn pulls_of(&self, issue: u64) -> Vec<Value> {
        let all = self.github.all("pulls?state=all&per_page=100").await;
        let lines = [format!("Closes #{issue}"), format!("Issue: #{issue}")];
        all.into_iter()
            .filter(|pull| {
                let first = pull["body"].as_str().unwrap().lines().next();
                first.is_some_and(|line| lines.iter().any(|one| one == line))
            })
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn killed_after_any_write_nothing_is_missing_and_nothing_is_there_twice() {
    let scene = Scene::begin().await;
    let first = scene.issue("First", "To do.", &["for:hand"]).await;
    let before = scene.github.front.writes();
    let row = scene.fire();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let writes = scene.github.front.writes() - before;
    assert!(writes >= 5, "{writes}");
    let well = scene.state(first).await;
    assert!(well.1.contains(&"carson:pr-open".to_owned()), "{well:?}");
    for at in 1..=writes {
        let number = scene
            .issue(&format!("Killed after {at}"), "To do.", &["for:hand"])
            .await;
        assert!(scene.killed_after(at), "after {at} of {writes}");
        // Who comes next concludes it, and does what is left of the work.
        let mut ended = false;
        for _ in 0..4 {
            let _ = scene.fleet.carson(&["prune", "--json"]);
            ended = scene.fire()["work"].is_null();
            if ended {
                break;
            }
        }
        assert!(ended, "after {at} of {writes}: it goes on for ever");
        let (state, labels, marks) = scene.state(number).await;
        let told = format!("after {at} of {writes}: {state} {labels:?} {marks:?}, else {well:?}");
        assert_eq!((state, &labels), (well.0.clone(), &well.1), "{told}");
        assert_eq!(marks.get("claim"), marks.get("release"), "{told}");
        let pulls = scene.pulls_of(number).await;
        assert_eq!(pulls.len(), 1, "{told}: {pulls:#?}");
        assert_eq!(pulls[0]["draft"], false, "{told}");
    }
}
