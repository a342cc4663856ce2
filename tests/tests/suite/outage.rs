//! A provider that is down, and sessions that cannot do what they were asked, black-box: who goes on, who waits
//! and who is told. The CLI is a script that speaks as `codex exec --json` does.

use std::fs;
use std::path::PathBuf;
use std::thread;

use carson_tests::fleet::TestFleet;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Row};

use crate::limits::{commits, failed, minutes, run_out, says};

/// So short that no session is tried again within its firing: one firing is one session.
const IMPATIENT: &str = "30s";
const SIX: [&str; 6] = ["one", "two", "three", "four", "five", "six"];

struct Scene {
    fleet: TestFleet,
}

impl Scene {
    /// Accounts with the scripts of their sessions, which are well while no file says that they are down.
    fn new(accounts: &[(&str, String)]) -> Self {
        let fleet = TestFleet::new().with_env("TZ", "UTC");
        let scene = Self { fleet };
        for (name, script) in accounts {
            let path = scene.file(name, "sh");
            let refused = failed("error sending request: connection refused");
            let text = format!(
                "cat > /dev/null\necho run >> {:?}\nif [ -e {:?} ]; then sleep 1\n{refused}fi\n{script}",
                scene.file(name, "log"),
                scene.file(name, "down"),
            );
            fs::write(&path, text).unwrap();
            scene.fleet.account(
                name,
                &format!(
                    "engine = \"command\"\nbinary = \"/bin/sh\"\nargs = [{path:?}]\nspeaks = \"codex\"\n\
                     model = \"gpt-5\""
                ),
            );
        }
        scene
    }

    /// A role of these accounts that stops after one bad outcome, with an issue.
    fn role(&self, name: &str, accounts: &[&str], wall_clock: &str) {
        let more = format!(
            "stages = [\"execute\"]\n[limits]\nwall_clock = {wall_clock:?}\nfail_streak = 1\n"
        );
        self.fleet.role(name, "ACCOUNTS", &more);
        let path = self.fleet.home().join(format!("roles/{name}/role.toml"));
        let text = fs::read_to_string(&path).unwrap();
        let text = text.replace("[\"ACCOUNTS\"]", &format!("{accounts:?}"));
        fs::write(path, text).unwrap();
        self.fleet.issue(name, "Greet the owner", "In hello.txt.");
    }

    fn file(&self, account: &str, kind: &str) -> PathBuf {
        self.fleet.shared().join(format!("{account}.{kind}"))
    }

    fn goes_down(&self, account: &str) {
        fs::write(self.file(account, "down"), "").unwrap();
    }

    fn comes_back(&self, account: &str) {
        fs::remove_file(self.file(account, "down")).unwrap();
    }

    fn runs(&self, account: &str) -> usize {
        let text = fs::read_to_string(self.file(account, "log"));
        text.unwrap_or_default().lines().count()
    }

    fn fire(&self, role: &str) -> Value {
        let row = self.fleet.fire(role).json();
        match row["id"].as_str() {
            Some(id) => self.fleet.firing(id),
            None => row,
        }
    }

    fn blocks(&self) -> Vec<Value> {
        let blocks = self.fleet.ok(&["block", "list", "--json"]);
        blocks.as_array().unwrap().clone()
    }

    /// A chat that nobody listens to: what is told stays in the outbox.
    fn with_chat(self) -> Self {
        let path = self.fleet.home().join("carson.toml");
        let settings = fs::read_to_string(&path).unwrap();
        let chat = "\n[webhook]\nurl = \"http://127.0.0.1:9/\"\n";
        fs::write(path, settings + chat).unwrap();
        self
    }

    /// What was told that somebody is to look at; a post that is changed notifies nobody.
    fn alerts(&self) -> Vec<String> {
        let loud = "SELECT body FROM outbox WHERE kind <> 'update' AND \
                    (body LIKE '%\"severity\":\"warning\"%' OR body LIKE '%\"severity\":\"error\"%')";
        self.with_rows(async |rows| {
            let found = sqlx::query(loud).fetch_all(rows).await.unwrap();
            found.iter().map(|row| row.get(0)).collect()
        })
    }

    /// The account is down since a while, and may be asked.
    fn is_half_open(&self, account: &str) {
        let set = self.fleet.ok(&["block", "set", account, "--json"]);
        assert_eq!(set["blocked"], true);
        self.with_rows(async |rows| {
            let set = "UPDATE account_block SET kind = 'outage', set_by = 'a firing', \
                       until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 minute')";
            sqlx::query(set).execute(&mut *rows).await.unwrap();
            let counted =
                "INSERT INTO outage (account, failures) SELECT account, 5 FROM account_block";
            sqlx::query(counted).execute(&mut *rows).await.unwrap();
        });
    }

    fn with_rows<T>(&self, ask: impl AsyncFnOnce(&mut SqliteConnection) -> T) -> T {
        let path = self.fleet.home().join("state/carson.db");
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let options = SqliteConnectOptions::new().filename(path);
            let mut rows = options.connect().await.unwrap();
            let answer = ask(&mut rows).await;
            rows.close().await.unwrap();
            answer
        })
    }
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

/// A session that says this and has done nothing.
fn only_says(words: &str) -> String {
    let said = json!({"type": "item.completed", "item": {"type": "agent_message", "text": words}});
    let used =
        json!({"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 10}});
    says(&said) + &says(&used)
}

fn failover(row: &Value) -> Vec<&Value> {
    let events = row["events"].as_array().unwrap().iter();
    events
        .filter(|event| event["kind"] == "account.failover")
        .map(|event| &event["data"])
        .collect()
}

#[test]
fn six_roles_under_an_outage_stop_after_five_failures_and_go_on_after_the_probe() {
    let scene = Scene::new(&[("main", commits())]).with_chat();
    for role in SIX {
        scene.role(role, &["main"], IMPATIENT);
    }
    scene.goes_down("main");

    for role in &SIX[..4] {
        let row = scene.fire(role);
        assert_eq!(text(&row, "outcome"), "FAILED", "{row:#?}");
        assert!(text(&row, "reason").contains("not available"), "{row:#?}");
    }
    let row = scene.fire("five");
    assert_eq!(text(&row, "outcome"), "RATE_LIMITED", "{row:#?}");
    assert!(
        text(&row, "reason").contains("outage: 5 sessions"),
        "{row:#?}"
    );
    let [block] = <[Value; 1]>::try_from(scene.blocks()).unwrap();
    assert_eq!(text(&block, "kind"), "outage", "{block:#?}");
    assert!((4..=5).contains(&minutes(&block)), "{block:#?}");
    for issue in 1..=5 {
        let issue = issue.to_string();
        let shown = scene.fleet.ok(&["issue", "show", &issue, "--json"]);
        let comments = shown["comments"].to_string();
        assert!(comments.contains("counts=false"), "{comments}");
        assert!(!comments.contains("counts=true"), "{comments}");
    }
    let skipped = scene.fleet.fire("six");
    assert_eq!(skipped.code, Some(16), "{skipped:#?}");
    assert_eq!(scene.runs("main"), 5);
    let why = scene.fleet.carson(&["why", "six"]).stdout;
    let flat: String = why.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("one session asks whether its provider is back"),
        "{why}"
    );

    // The wait is over, and the provider is not back: one asks, and the next wait is longer.
    run_out(&scene.fleet);
    assert_eq!(text(&scene.fire("six"), "outcome"), "RATE_LIMITED");
    let [block] = <[Value; 1]>::try_from(scene.blocks()).unwrap();
    assert!((9..=10).contains(&minutes(&block)), "{block:#?}");
    assert_eq!(scene.fleet.fire("one").code, Some(16));
    assert_eq!(scene.runs("main"), 6);

    scene.comes_back("main");
    run_out(&scene.fleet);
    for role in SIX {
        assert_eq!(text(&scene.fire(role), "outcome"), "OK", "{role}");
    }
    assert!(scene.blocks().is_empty());
    assert_eq!(scene.alerts().len(), 1, "{:#?}", scene.alerts());
    assert!(scene.alerts()[0].contains("Account main is blocked"));
    let breakers = scene.fleet.ok(&["breaker", "list", "--json"]);
    let mut breakers = breakers.as_array().unwrap().iter();
    assert!(breakers.all(|row| row["streak"] == 0 && row["opened_at"].is_null()));
}

#[test]
fn of_two_that_may_ask_again_one_does() {
    let scene = Scene::new(&[("main", commits())]);
    for role in &SIX[..2] {
        scene.role(role, &["main"], IMPATIENT);
    }
    scene.goes_down("main");
    scene.is_half_open("main");

    let fleet = &scene.fleet;
    let codes = thread::scope(|scope| {
        let both = [SIX[0], SIX[1]].map(|role| scope.spawn(move || fleet.fire(role).code));
        both.map(|fired| fired.join().unwrap())
    });

    assert_eq!(scene.runs("main"), 1, "{codes:?}");
    assert!(codes.contains(&Some(15)), "{codes:?}");
    assert!(codes.contains(&Some(16)), "{codes:?}");
}

/// Whoever is admitted once the other asks is too late for that: it is skipped, as under any block.
#[test]
fn who_comes_at_the_same_time_waits_for_the_answer() {
    let both_came = |_| {
        let slow = format!("sleep 2\n{}", commits());
        let scene = Scene::new(&[("main", slow)]);
        for role in &SIX[..2] {
            scene.role(role, &["main"], "10m");
        }
        scene.is_half_open("main");
        let fleet = &scene.fleet;
        let codes = thread::scope(|scope| {
            let both = [SIX[0], SIX[1]].map(|role| scope.spawn(move || fleet.fire(role).code));
            both.map(|fired| fired.join().unwrap())
        });
        (!codes.contains(&Some(16))).then_some((scene, codes))
    };

    let (scene, codes) = (0..5).find_map(both_came).expect("one was always late");

    assert_eq!(codes, [Some(0), Some(0)]);
    assert!(scene.blocks().is_empty());
}

#[test]
fn work_goes_on_by_another_account_while_the_first_is_down() {
    let scene = Scene::new(&[("main", commits()), ("spare", commits())]);
    for role in &SIX[..4] {
        scene.role(role, &["main"], IMPATIENT);
    }
    scene.role("both", &["main", "spare"], IMPATIENT);
    scene.goes_down("main");
    for role in &SIX[..4] {
        assert_eq!(text(&scene.fire(role), "outcome"), "FAILED");
    }

    let row = scene.fire("both");

    assert_eq!(text(&row, "outcome"), "OK", "{row:#?}");
    assert_eq!(
        (text(&row, "account"), &row["sessions"]),
        ("spare", &json!(2))
    );
    assert_eq!(
        failover(&row),
        [&json!({"from": "main", "to": "spare", "why": "outage"})]
    );
    scene.fleet.issue("both", "Greet the cat", "In hello.txt.");
    let next = scene.fire("both");
    assert_eq!(
        (text(&next, "outcome"), &next["sessions"]),
        ("OK", &json!(1))
    );
    assert_eq!((scene.runs("main"), scene.runs("spare")), (5, 2));
}

/// Whoever signs in is told of it once for each account, although the work was done.
#[test]
fn accounts_that_nobody_is_signed_in_to_are_each_told_once_although_another_does_the_work() {
    let refused = failed("Error code: 401 - {'error': {'code': 'invalid_api_key'}}");
    let accounts = [
        ("first", refused.clone()),
        ("second", refused),
        ("third", commits()),
    ];
    let scene = Scene::new(&accounts).with_chat();
    scene.role("one", &["first", "second", "third"], IMPATIENT);

    let row = scene.fire("one");

    assert_eq!(text(&row, "outcome"), "OK", "{row:#?}");
    assert_eq!(text(&row, "account"), "third", "{row:#?}");
    let alerts = scene.alerts();
    assert_eq!(alerts.len(), 2, "{alerts:#?}");
    for account in ["first", "second"] {
        let title = format!("Account {account} is blocked");
        let ends = format!("carson block clear {account}");
        let of_it = alerts.iter().filter(|alert| alert.contains(&title));
        let of_it: Vec<&String> = of_it.collect();
        assert!(
            of_it.len() == 1 && of_it[0].contains(&ends),
            "{account}: {alerts:#?}"
        );
    }

    scene.fleet.issue("one", "Greet the cat", "In hello.txt.");
    assert_eq!(text(&scene.fire("one"), "outcome"), "OK");
    assert_eq!(scene.alerts().len(), 2, "{:#?}", scene.alerts());
    assert_eq!(
        ["first", "second", "third"].map(|one| scene.runs(one)),
        [1, 1, 2]
    );
}

#[test]
fn what_one_engine_could_not_do_the_next_one_is_asked_once() {
    let mute = only_says("I would have to look at more files.");
    let idle = only_says("Done.\n[OK] it greets");
    for (first, why) in [(&mute, "no-sentinel"), (&idle, "no-change")] {
        let scene = Scene::new(&[("first", first.clone()), ("second", commits())]);
        scene.role("one", &["first", "second"], IMPATIENT);

        let row = scene.fire("one");

        assert_eq!(text(&row, "outcome"), "OK", "{row:#?}");
        assert_eq!(
            (text(&row, "account"), &row["sessions"]),
            ("second", &json!(2))
        );
        assert_eq!(
            failover(&row),
            [&json!({"from": "first", "to": "second", "why": why})]
        );
        let shown = scene.fleet.carson(&["firings", text(&row, "id")]).stdout;
        assert!(
            shown.contains("account.failover") && shown.contains(why),
            "{shown}"
        );
        assert!(scene.blocks().is_empty());
    }
    let three = [
        ("first", mute.clone()),
        ("second", mute),
        ("third", commits()),
    ];
    let scene = Scene::new(&three);
    scene.role("one", &["first", "second", "third"], IMPATIENT);

    let row = scene.fire("one");

    assert_eq!(text(&row, "outcome"), "FAILED", "{row:#?}");
    assert_eq!((text(&row, "account"), scene.runs("third")), ("second", 0));
}

#[test]
fn work_that_is_there_stays_with_the_engine_that_did_it() {
    let half = format!("echo half > half.txt\n{}", only_says("I stop here."));
    let scene = Scene::new(&[("first", half), ("second", commits())]);
    scene.role("one", &["first", "second"], IMPATIENT);

    let row = scene.fire("one");

    assert_eq!(
        (text(&row, "account"), scene.runs("second")),
        ("first", 0),
        "{row:#?}"
    );
    assert!(failover(&row).is_empty());
}
