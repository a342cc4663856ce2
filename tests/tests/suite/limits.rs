//! The stops, black-box: what a provider's refusal does to the account, the work and the fleet.
//!
//! Where the CLI matters it is the real Claude Code; where only its words do, a shell script says
//! what `codex exec --json` says.

use std::fs;
use std::path::PathBuf;

use carson_core::Clock;
use carson_tests::fleet::{REPO, TestFleet};
use carson_tests::model::{Reply, Window, say, subscription_limit, subscription_usage, when};
use carson_tests::until;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Executor};

use crate::claude_firing::{COMMIT, Scene, planning};

pub(crate) const ROLE: &str = "implementer";

/// A fleet whose accounts are scripts that speak Codex.
pub(crate) struct Script {
    pub(crate) fleet: TestFleet,
}

/// What a session of the script does, one shell line after the other.
pub(crate) fn says(event: &Value) -> String {
    format!(
        "printf '%s\\n' '{}'\n",
        event.to_string().replace('\'', "'\\''")
    )
}

pub(crate) fn failed(message: &str) -> String {
    says(&json!({"type": "turn.failed", "error": {"message": message}})) + "exit 1\n"
}

/// It answers, and ends in a way that is no end.
pub(crate) fn gives_up() -> String {
    let hard =
        json!({"type": "item.completed", "item": {"type": "agent_message", "text": "It is hard."}});
    says(&hard) + "exit 3\n"
}

pub(crate) fn commits() -> String {
    let done = json!({"type": "item.completed", "item": {"type": "agent_message", "text": "Done.\n[OK] it greets"}});
    let used = json!({"type": "turn.completed", "usage": {"input_tokens": 1_000_000, "output_tokens": 1_000}});
    format!("{COMMIT}\n{}{}", says(&done), says(&used))
}

impl Script {
    /// The role with these sections, whose accounts run these scripts in turn; issue 1 is for it.
    pub(crate) fn new(accounts: &[(&str, String)], more: &str) -> Self {
        let fleet = TestFleet::new().with_env("TZ", "UTC");
        for (name, script) in accounts {
            let path = fleet.shared().join(format!("{name}.sh"));
            let text = format!(
                "cat > '{}'\necho run >> '{}'\n{script}",
                Self::prompt(&fleet, name).display(),
                Self::log(&fleet, name).display()
            );
            fs::write(&path, text).unwrap();
            fleet.account(name, &format!(
                "engine = \"command\"\nbinary = \"/bin/sh\"\nargs = [{path:?}]\nlimits = \"codex\"\nmodel = \"gpt-5\""
            ));
        }
        let names: Vec<&str> = accounts.iter().map(|(name, _)| *name).collect();
        let scene = Self { fleet };
        scene.role(&names, more);
        scene.fleet.issue(ROLE, "Greet the owner", "In hello.txt.");
        scene
    }

    fn role(&self, accounts: &[&str], more: &str) {
        let more = format!("stages = [\"execute\"]\n{more}");
        self.fleet.role(ROLE, "ACCOUNTS", &more);
        let path = self.fleet.home().join(format!("roles/{ROLE}/role.toml"));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(
            path,
            text.replace("[\"ACCOUNTS\"]", &format!("{accounts:?}")),
        )
        .unwrap();
    }

    /// Lets the role fire by itself.
    pub(crate) fn cadence(&self, line: &str) {
        let path = self.fleet.home().join(format!("roles/{ROLE}/role.toml"));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace("0 0 1 1 *", line)).unwrap();
    }

    fn log(fleet: &TestFleet, name: &str) -> PathBuf {
        fleet.shared().join(format!("{name}.log"))
    }

    /// What an account's CLI was told the last time.
    fn prompt(fleet: &TestFleet, name: &str) -> PathBuf {
        fleet.shared().join(format!("{name}.prompt"))
    }

    /// How often an account's CLI was started.
    fn runs(&self, name: &str) -> usize {
        let text = fs::read_to_string(Self::log(&self.fleet, name));
        text.unwrap_or_default().lines().count()
    }

    pub(crate) fn fire(&self) -> Value {
        let row = self.fleet.fire(ROLE).json();
        match row["id"].as_str() {
            Some(id) => self.fleet.firing(id),
            None => row,
        }
    }

    fn blocks(&self) -> Vec<Value> {
        let blocks = self.fleet.ok(&["block", "list", "--json"]);
        blocks.as_array().unwrap().clone()
    }

    fn comments(&self) -> String {
        self.fleet.ok(&["issue", "show", "1", "--json"])["comments"].to_string()
    }

    /// Changes a file of the forge, as a person would.
    pub(crate) fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.fleet.home().join("forge").join(REPO).join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    }
}

/// Whether `carson why` knows of no stop, but that no daemon is there to fire the role.
fn nothing_stops(why: &Value) -> bool {
    let stops = why["stops"].as_array().unwrap();
    stops.iter().all(|stop| stop["stop"] == "daemon")
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

#[test]
fn codex_through_command_blocks_its_account_until_the_time_that_it_names() {
    let limit = "You\u{2019}ve hit your usage limit. Upgrade to Pro or try again at 5:46 AM.";
    let scene = Script::new(&[("codex", failed(limit))], "");

    let row = scene.fire();

    assert_eq!(text(&row, "outcome"), "RATE_LIMITED", "{row:#?}");
    let [block] = <[Value; 1]>::try_from(scene.blocks()).unwrap();
    let until: chrono::DateTime<chrono::Utc> = text(&block, "until").parse().unwrap();
    assert_eq!(
        until.format("%H:%M:%S").to_string(),
        "05:46:00",
        "{block:#?}"
    );
    let now = Clock::system().now();
    assert!(until > now && until - now <= chrono::TimeDelta::days(1));
    assert_eq!(scene.fleet.labels(1), ["for:implementer"]);
    assert!(scene.comments().contains("counts=false"));
    assert_eq!(scene.fleet.fire(ROLE).code, Some(16));
    assert_eq!(scene.runs("codex"), 1);
}

#[test]
fn codex_through_command_is_heard_and_priced() {
    let scene = Script::new(&[("codex", commits())], "");

    let row = scene.fire();

    assert_eq!(text(&row, "outcome"), "OK", "{row:#?}");
    assert_eq!(row["tokens"], 1_001_000);
    assert_eq!(row["cost_estimated"], true);
    assert!(
        (row["cost_usd"].as_f64().unwrap() - 1.764).abs() < 1e-9,
        "{row:#?}"
    );
    let shown = scene.fleet.carson(&["firings", text(&row, "id")]).stdout;
    assert!(shown.contains("cost: ~$1.7640"), "{shown}");
    let listed = scene.fleet.carson(&["firings"]).stdout;
    assert!(listed.contains("~$1.76"), "{listed}");
}

#[test]
fn a_provider_that_was_not_reached_is_asked_again_within_the_firing() {
    let refused = failed("stream disconnected before completion: connection refused");
    // The first session finds no marker and leaves one outside of the worktree.
    let script = format!(
        "if [ ! -e \"$0.seen\" ]; then touch \"$0.seen\"; {refused}fi\n{}",
        commits()
    );
    let scene = Script::new(&[("codex", script)], "");

    let row = scene.fire();

    assert_eq!(text(&row, "outcome"), "OK", "{row:#?}");
    assert_eq!((&row["retries"], &row["sessions"]), (&json!(1), &json!(2)));
    assert_eq!(scene.runs("codex"), 2);
    assert!(scene.blocks().is_empty());
}

#[test]
fn one_that_stays_away_costs_the_work_no_attempt() {
    // What is left of this wall clock is too short to wait for another session.
    let refused = failed("error sending request: connection refused");
    let scene = Script::new(&[("codex", refused)], "[limits]\nwall_clock = \"20s\"\n");

    let row = scene.fire();

    assert_eq!(text(&row, "outcome"), "FAILED", "{row:#?}");
    assert!(text(&row, "reason").contains("not available"), "{row:#?}");
    assert!(scene.comments().contains("counts=false"));
    assert_eq!(scene.fleet.labels(1), ["for:implementer"]);
    assert_eq!((scene.runs("codex"), scene.blocks().len()), (1, 0));
}

#[test]
fn a_session_that_may_have_changed_something_is_not_repeated() {
    let called =
        json!({"type": "item.completed", "item": {"type": "command_execution", "command": "ls"}});
    let script = says(&called) + &failed("Selected model is at capacity.");
    let scene = Script::new(&[("codex", script)], "");

    let row = scene.fire();

    assert_eq!(text(&row, "outcome"), "FAILED", "{row:#?}");
    assert_eq!((scene.runs("codex"), &row["retries"]), (1, &json!(0)));
}

#[test]
fn a_limit_at_the_first_session_moves_on_to_the_next_account() {
    let limit = failed("You've hit your usage limit. Try again in 3 hours.");
    let scene = Script::new(&[("first", limit), ("second", commits())], "");

    let row = scene.fire();

    assert_eq!(text(&row, "outcome"), "OK", "{row:#?}");
    assert_eq!(
        (text(&row, "account"), &row["sessions"]),
        ("second", &json!(2))
    );
    let [block] = <[Value; 1]>::try_from(scene.blocks()).unwrap();
    assert_eq!(block["account"], "first");
}

#[test]
fn work_that_exists_is_not_carried_to_another_account() {
    let limit = format!("{COMMIT}\n{}", failed("You've hit your usage limit."));
    let scene = Script::new(&[("first", limit), ("second", commits())], "");

    let row = scene.fire();

    assert_eq!(text(&row, "outcome"), "RATE_LIMITED", "{row:#?}");
    assert_eq!((scene.runs("first"), scene.runs("second")), (1, 0));
    assert_eq!(scene.fleet.pulls()[0]["draft"], true, "the commit is kept");
}

#[test]
fn an_open_breaker_lets_one_firing_try_after_its_cooldown() {
    let script = "if [ ! -e \"$0.mended\" ]; then exit 3; fi\n".to_owned() + &commits();
    let scene = Script::new(&[("codex", script)], "[limits]\nfail_streak = 1\n");
    assert_eq!(text(&scene.fire(), "outcome"), "FAILED");
    let skipped = scene.fire();
    assert!(
        text(&skipped, "reason").contains("breaker open"),
        "{skipped:#?}"
    );
    let verdict = || text(&scene.fleet.ok(&["why", ROLE, "--json"]), "verdict").to_owned();
    assert!(verdict().contains("breaker open"), "{}", verdict());

    scene.role(&["codex"], "[limits]\nfail_streak = 1\ncooldown = \"1s\"\n");
    let may_try = || {
        let why = scene.fleet.ok(&["why", ROLE, "--json"]);
        nothing_stops(&why).then_some(())
    };
    until("the breaker is half-open", may_try);
    let shown = scene.fleet.carson(&["why", ROLE]).stdout;
    assert!(shown.contains("its breaker is half-open"), "{shown}");
    assert_eq!(text(&scene.fire(), "outcome"), "FAILED", "the probe");
    let breakers = scene.fleet.ok(&["breaker", "list", "--json"]);
    assert!(
        text(&breakers[0], "reason").contains("tried again"),
        "{breakers:#?}"
    );

    fs::write(scene.fleet.shared().join("codex.sh.mended"), "").unwrap();
    until("the breaker is half-open", may_try);
    assert_eq!(text(&scene.fire(), "outcome"), "OK");
    let breakers = scene.fleet.ok(&["breaker", "list", "--json"]);
    assert!(breakers[0]["opened_at"].is_null(), "{breakers:#?}");
}

#[test]
fn money_of_the_day_that_is_spent_stops_the_role_and_the_fleet() {
    for (limits, env) in [
        ("[limits]\nmax_cost_usd_per_day = 1.5\n", None),
        ("", Some("CARSON_FLEET__MAX_COST_USD_PER_DAY")),
        ("", Some("CARSON_FLEET__MAX_COST_USD_PER_MONTH")),
    ] {
        let mut scene = Script::new(&[("codex", commits())], limits);
        if let Some(name) = env {
            scene.fleet = scene.fleet.with_env(name, "1.5");
        }
        assert_eq!(text(&scene.fire(), "outcome"), "OK");
        scene.fleet.issue(ROLE, "Greet the cat", "");
        let skipped = scene.fleet.fire(ROLE);
        assert_eq!(skipped.code, Some(16), "{skipped:#?}");
        let reason = skipped.json()["reason"].to_string();
        assert!(
            reason.contains("budget used up: ~$1.76 of $1.50"),
            "{reason}"
        );
        assert_eq!(scene.runs("codex"), 1);
        let why = scene.fleet.carson(&["why", ROLE]).stdout;
        assert!(why.contains("spent: ~$1.76 of $1.50"), "{why}");
    }
}

#[test]
fn a_pull_request_that_was_closed_is_a_remembered_no() {
    let scene = Script::new(&[("codex", commits())], "");
    assert_eq!(text(&scene.fire(), "outcome"), "OK");
    scene.edit("pulls/0002.md", "state = \"open\"", "state = \"closed\"");
    scene.edit("issues/0001.md", "carson:pr-open", "for:implementer");

    assert_eq!(text(&scene.fire(), "outcome"), "SILENT");
    assert!(scene.fleet.labels(1).contains(&"needs:human".to_owned()));
    let comments = scene.comments();
    assert!(comments.contains("closed without merging"), "{comments}");
    assert_eq!(scene.runs("codex"), 1);

    // A person who takes the label away means it.
    scene.edit("issues/0001.md", "needs:human", "seen");
    assert_eq!(text(&scene.fire(), "outcome"), "OK");

    // Nobody says no by what is not there.
    scene.edit("issues/0001.md", "carson:pr-open", "for:implementer");
    let gone = scene.fleet.home().join("forge/widget/pulls");
    fs::remove_dir_all(gone).unwrap();
    assert_eq!(text(&scene.fire(), "outcome"), "OK");
}

#[test]
fn the_last_attempt_ends_with_people_who_read_what_was_tried() {
    let more = "[limits]\nmax_work_attempts = 2\nfail_streak = 9\n";
    let scene = Script::new(&[("codex", gives_up())], more);
    // A CLI that ends before a model has answered says nothing of the issue.
    let script = scene.fleet.shared().join("codex.sh");
    let answers = fs::read_to_string(&script).unwrap();
    fs::write(&script, "exit 3\n").unwrap();
    for _ in 0..3 {
        assert_eq!(text(&scene.fire(), "outcome"), "FAILED");
    }
    fs::write(&script, answers).unwrap();
    let rows = [scene.fire(), scene.fire()];
    for row in &rows {
        assert_eq!(text(row, "outcome"), "FAILED", "{row:#?}");
    }

    assert_eq!(text(&scene.fire(), "outcome"), "SILENT");
    assert!(scene.fleet.labels(1).contains(&"needs:human".to_owned()));
    let comments = scene.comments();
    assert!(comments.contains("What was tried"), "{comments}");
    for row in &rows {
        let line = format!("{} FAILED: ", text(row, "id"));
        assert!(comments.contains(&line), "{comments}");
        assert!(comments.contains(text(row, "branch")), "{comments}");
    }

    // Given back, the attempts are counted anew; what a person answered is a part of the work.
    scene.edit("issues/0001.md", "needs:human", "seen");
    let answer = "forge/widget/issues/0001.comments/answer.md";
    fs::write(scene.fleet.home().join(answer), "Greet in Latin.\n").unwrap();
    assert_eq!(text(&scene.fire(), "outcome"), "FAILED");
    let prompt = fs::read_to_string(Script::prompt(&scene.fleet, "codex")).unwrap();
    assert!(prompt.contains("Greet in Latin."), "{prompt}");
    assert_eq!(prompt.matches("ended as FAILED: `").count(), 3, "{prompt}");
    assert!(!prompt.contains("<!-- carson:"), "{prompt}");
}

#[test]
fn claude_overloaded_for_one_session_is_tried_again() {
    let scene = Scene::with_role("stages = [\"plan\", \"execute\"]\n");
    let overloaded = || Reply::error(529, "overloaded_error", "Overloaded");
    // The CLI itself asks three times a session.
    let then = [
        overloaded(),
        overloaded(),
        overloaded(),
        say("1. Write it.\n[OK] planned"),
    ];
    scene
        .on(planning(), Reply::requests(then))
        .else_all_goes_well();

    let fired = scene.fire();

    assert_eq!(fired.end(), ("OK", 0), "{fired:#?}");
    assert_eq!(
        (&fired.row["retries"], &fired.row["sessions"]),
        (&json!(1), &json!(3))
    );
    assert!(scene.blocks().is_empty());
}

#[test]
fn a_sign_in_or_a_bill_blocks_until_a_person_acts_and_says_how() {
    let cases = [
        (
            401,
            "authentication_error",
            "invalid x-api-key",
            "sign-in",
            "claude /login",
        ),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the API.",
            "billing",
            "add credit",
        ),
    ];
    for (code, kind, message, what, remedy) in cases {
        let scene = Scene::new();
        scene
            .on(planning(), Reply::error(code, kind, message))
            .else_all_goes_well();

        let fired = scene.fire();

        // Bad credentials are no limit.
        let end = match what {
            "sign-in" => ("AUTH", 17),
            _ => ("RATE_LIMITED", 15),
        };
        assert_eq!(fired.end(), end, "{fired:#?}");
        let [block] = <[Value; 1]>::try_from(scene.blocks()).unwrap();
        assert!(minutes(&block) <= 30, "one firing's word: {block:#?}");
        assert!(text(&block, "reason").contains("asks once more"));
        run_out(&scene.fleet);
        assert_eq!(scene.fire().end(), end);
        let [block] = <[Value; 1]>::try_from(scene.blocks()).unwrap();
        assert!(block["until"].is_null(), "{block:#?}");
        let clear = "carson block clear claude";
        let reason = text(&block, "reason");
        assert!(
            reason.starts_with(what) && reason.contains(remedy) && reason.contains(clear),
            "{reason}"
        );
        assert!(fired.text("reason").contains(remedy), "{fired:#?}");
        for command in [&["status"][..], &["why", ROLE], &["block", "list"]] {
            let said = scene.fleet.carson(command).stdout;
            // The table may break the line.
            let flat: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains("block clear"), "{command:?}: {said}");
        }
        assert!(scene.comments(1).contains("counts=false"));
    }
}

/// How many minutes a block still stands.
pub(crate) fn minutes(block: &Value) -> i64 {
    let until: chrono::DateTime<chrono::Utc> = text(block, "until").parse().unwrap();
    (until - Clock::system().now()).num_minutes()
}

/// Lets the blocks of all accounts end now.
pub(crate) fn run_out(fleet: &TestFleet) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(fleet.home().join("state/carson.db"));
        let mut rows: SqliteConnection = options.connect().await.unwrap();
        let over =
            "UPDATE account_block SET until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 minute')";
        rows.execute(over).await.unwrap();
    });
}

#[test]
fn a_week_is_believed_when_a_second_firing_says_it_too() {
    let scene = Scene::of_a_subscriber();
    let now = Clock::system().now().timestamp();
    let week = now + 7 * 24 * 60 * 60;
    scene.on(when(), subscription_limit(week));
    let blocked = || <[Value; 1]>::try_from(scene.blocks()).unwrap()[0].clone();

    assert_eq!(scene.fire().end(), ("RATE_LIMITED", 15));
    let block = blocked();
    assert!((25..=30).contains(&minutes(&block)), "{block:#?}");
    let reason = text(&block, "reason");
    assert!(
        reason.contains("the next firing asks once more"),
        "{reason}"
    );

    run_out(&scene.fleet);
    assert_eq!(scene.fire().end(), ("RATE_LIMITED", 15));
    let block = blocked();
    let until: chrono::DateTime<chrono::Utc> = text(&block, "until").parse().unwrap();
    assert_eq!(until.timestamp(), week, "{block:#?}");
}

#[test]
fn what_cannot_have_been_used_is_flagged_and_stops_nobody() {
    let done = json!({"type": "item.completed", "item": {"type": "agent_message", "text": "Done.\n[OK] it greets"}});
    let used = json!({"type": "turn.completed", "usage": {"input_tokens": u64::MAX, "output_tokens": 9_000_000_000_u64}});
    let script = format!("{COMMIT}\n{}{}{}", says(&done), says(&used), says(&used));
    let scene = Script::new(&[("codex", script)], "");
    let settings = scene.fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(
        &settings,
        text.replace("[fleet]\n", "[fleet]\nmax_cost_usd_per_day = 50.0\n"),
    )
    .unwrap();

    let row = scene.fire();

    assert_eq!(row["outcome"], "OK", "{row:#?}");
    assert!(row["cost_usd"].is_null(), "{row:#?}");
    let event = &row["events"][0];
    assert_eq!(event["kind"], "usage.implausible", "{row:#?}");
    // The fleet goes on.
    scene.fleet.issue(ROLE, "Greet again", "In hello.txt.");
    assert_eq!(scene.fire()["outcome"], "OK");
}

#[test]
fn a_nearly_used_window_stops_low_priorities_and_a_reserve_stops_all() {
    let scene = Scene::of_a_subscriber();
    let reset = Clock::system().now().timestamp() + 2 * 60 * 60;
    let warned =
        say("[SILENT] nothing to plan").headers(subscription_usage(Window::FiveHours, 0.92, reset));
    scene.on(planning(), warned).else_all_goes_well();
    let low = "priority = \"low\"\n";
    scene.fleet.role("gardener", "claude", low);
    assert_eq!(scene.fire().end(), ("SILENT", 0));

    let held = |role: &str, stop: &str, says: &str, key: &str| {
        let why = scene.fleet.ok(&["why", role, "--json"]);
        assert!(text(&why, "verdict").contains(says), "{why:#}");
        let found = &why["stops"][0];
        assert_eq!(text(found, "stop"), stop, "{why:#}");
        assert!(text(found, "change").contains(key), "{found:#}");
        let skipped = scene.fleet.fire(role);
        assert_eq!(skipped.code, Some(16), "{skipped:#?}");
        // The sentence and the word of `fire` agree with those of `why`.
        let told = skipped.json();
        assert!(text(&told, "reason").contains(says), "{told:#}");
        assert_eq!(text(&told, "skip"), stop, "{told:#}");
    };
    let used = "low priority: claude used 92 % of five_hour";
    held("gardener", "low-priority", used, "priority = \"normal\"");
    let why = scene.fleet.ok(&["why", ROLE, "--json"]);
    assert!(nothing_stops(&why), "{why:#}");
    assert!(
        scene
            .fleet
            .carson(&["status"])
            .stdout
            .contains("NEARLY USED UP: claude used 92 %")
    );

    let settings = scene.fleet.home().join("carson.toml");
    let more = fs::read_to_string(&settings).unwrap() + "reserve = \"10%\"\n";
    fs::write(&settings, more).unwrap();
    let kept = "kept for people: 10 %";
    held(ROLE, "reserved", kept, "accounts.NAME.reserve");
    held("gardener", "reserved", kept, "accounts.NAME.reserve");
}
