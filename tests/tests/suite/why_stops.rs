//! `carson why` for the stops that only firings bring about: each is met by a real one, is told by
//! its word, with its facts and with what would change it, and is gone after that.

use std::fs;
use std::process::Child;

use carson_tests::fleet::TestFleet;
use carson_tests::judge::sound;
use carson_tests::until;
use serde_json::Value;

use crate::limits::{ROLE, Script, commits, failed, gives_up};
use crate::why::stands_in_status;

/// What stops a role, but that no daemon is there to fire it.
fn stops(fleet: &TestFleet, role: &str) -> Vec<Value> {
    let why = fleet.ok(&["why", role, "--json"]);
    let stops = why["stops"].as_array().unwrap().iter();
    stops
        .filter(|stop| stop["stop"] != "daemon")
        .cloned()
        .collect()
}

/// The one stop is this one; people read the same as programs.
fn assert_only_stop(fleet: &TestFleet, role: &str, stop: &str, why: &str, change: &str) {
    let found = stops(fleet, role);
    let [one] = &found[..] else {
        panic!("{found:#?}")
    };
    let text = |key: &str| one[key].as_str().unwrap();
    assert_eq!(text("stop"), stop, "{one:#}");
    assert!(text("why").contains(why), "{one:#}");
    assert!(text("change").contains(change), "{one:#}");
    let shown = fleet.carson(&["why", role]).stdout;
    println!("{shown}");
    for line in [
        format!("  {stop}: {}", text("why")),
        format!("    to change it: {}", text("change")),
    ] {
        assert!(shown.contains(&line), "no {line:?}: {shown}");
    }
}

fn verdict(fleet: &TestFleet, role: &str) -> String {
    let why = fleet.ok(&["why", role, "--json"]);
    why["verdict"].as_str().unwrap().to_owned()
}

/// The words of a role's skipped rows and of `fire`, newest first.
fn skip_of(value: &Value) -> &str {
    value["skip"].as_str().unwrap_or_default()
}

fn replace(fleet: &TestFleet, file: &str, from: &str, to: &str) {
    let path = fleet.home().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

/// A firing whose session waits until it may go on.
struct Running<'f> {
    fleet: &'f TestFleet,
    child: Child,
}

impl<'f> Running<'f> {
    fn of(fleet: &'f TestFleet) -> Self {
        let barrier = fleet.shared().join("wait");
        let play = format!(
            "[[when]]\ndo = [{{ barrier = {barrier:?} }}, {{ edit = {{ path = \"a\", content = \
             \"b\" }} }}, {{ commit = \"A\" }}, {{ say = \"[OK] done\" }}]\n"
        );
        fs::write(fleet.root().join("play.toml"), play).unwrap();
        let child = fleet.command(&["fire", "hand"]).spawn().unwrap();
        let reached = barrier.with_extension("reached");
        until("the session runs", || reached.exists().then_some(()));
        Self { fleet, child }
    }

    fn goes_on(mut self) {
        fs::write(self.fleet.shared().join("wait.go"), "").unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_provider_limit_says_until_when_and_how_to_end_it_sooner() {
    let limit = failed("You've hit your usage limit. Try again in 3 hours.");
    let scene = Script::new(&[("codex", limit)], "");
    let row = scene.fire();
    assert_eq!(row["outcome"], "RATE_LIMITED", "{row:#}");
    let change = "wait, or `carson";
    assert_only_stop(&scene.fleet, ROLE, "block", "account codex until 2", change);
    let [stop] = &stops(&scene.fleet, ROLE)[..] else {
        panic!("one stop")
    };
    assert!(
        stop["change"]
            .as_str()
            .unwrap()
            .contains("block clear codex")
    );
    let blocks = scene.fleet.ok(&["block", "list", "--json"]);
    assert_eq!(blocks[0]["kind"], "limit", "{blocks:#}");
    assert_eq!(skip_of(&scene.fleet.fire(ROLE).json()), "block");
    let firing = scene.fleet.carson(&["why", row["id"].as_str().unwrap()]);
    assert!(
        firing.stdout.contains("to change it: wait, or `carson"),
        "{firing:#?}"
    );
    let cleared = scene.fleet.carson(&["block", "clear", "codex"]);
    assert_eq!(cleared.code, Some(0), "{cleared:#?}");
    assert!(stops(&scene.fleet, ROLE).is_empty());
}

#[test]
fn money_that_is_spent_names_the_key_that_says_so() {
    for (limits, env, key) in [
        (
            "[limits]\nmax_cost_usd_per_day = 1.5\n",
            None,
            "limits.max_cost_usd_per_day in roles/implementer/role.toml",
        ),
        (
            "",
            Some("CARSON_FLEET__MAX_COST_USD_PER_MONTH"),
            "fleet.max_cost_usd_per_month in carson.toml",
        ),
    ] {
        let mut scene = Script::new(&[("codex", commits())], limits);
        if let Some(name) = env {
            scene.fleet = scene.fleet.with_env(name, "1.5");
        }
        assert_eq!(scene.fire()["outcome"], "OK");
        let spent = "$1.76 of $1.50 for ";
        assert_only_stop(&scene.fleet, ROLE, "budget", spent, key);
        assert!(verdict(&scene.fleet, ROLE).contains("budget used up"));
        stands_in_status(&scene.fleet, ROLE, "budget");
        assert_eq!(skip_of(&scene.fleet.fire(ROLE).json()), "budget");
    }
}

#[test]
fn a_firing_that_runs_stops_its_role_and_fills_the_host() {
    let fleet = sound();
    fleet.role("other", "play", "stages = [\"execute\"]\n");
    replace(&fleet, "carson.toml", "max_firings = 8", "max_firings = 1");
    let running = Running::of(&fleet);

    let runs = "a firing of this role runs";
    assert_only_stop(&fleet, "hand", "overlap", runs, "queue-one");
    assert!(verdict(&fleet, "hand").contains("its firing still runs"));
    assert_eq!(skip_of(&fleet.fire("hand").json()), "overlap");
    // It is the role that is held up, and not its account.
    let foreseen = fleet.ok(&["fire", "hand", "--dry-run", "--json"]);
    assert_eq!(foreseen["account"], "play", "{foreseen:#}");

    let full = "1 of 1 firings run on this host";
    assert_only_stop(&fleet, "other", "host-full", full, "fleet.max_firings");
    assert!(verdict(&fleet, "other").starts_with("it waits: "));
    assert_eq!(fleet.fire("other").code, Some(16));

    running.goes_on();
    assert!(stops(&fleet, "hand").is_empty());
    assert!(stops(&fleet, "other").is_empty());
}

#[test]
fn a_queue_that_is_empty_or_waits_for_people_says_which() {
    let fleet = sound();
    assert_eq!(fleet.fire("hand").code, Some(0));
    let row = fleet.fire("hand").json();
    assert_eq!(row["outcome"], "SILENT", "{row:#}");
    let create = "issue create \"What is to be done\" --label for:hand`";
    assert_only_stop(&fleet, "hand", "no-work", "no work found", create);
    let idle = "it does not fire (no daemon was ever here), and would find nothing to do: ";
    assert!(verdict(&fleet, "hand").starts_with(idle));

    let number = fleet.issue("hand", "Delicate", "Ask first.");
    let file = format!("forge/widget/issues/{number:04}.md");
    replace(
        &fleet,
        &file,
        "\"for:hand\"",
        "\"for:hand\", \"needs:human\"",
    );
    assert_eq!(fleet.fire("hand").json()["outcome"], "SILENT");
    let waits = format!("#{number} of widget waits for a person");
    assert_only_stop(
        &fleet,
        "hand",
        "needs-human",
        &waits,
        "retry 3 --repo widget",
    );

    replace(&fleet, &file, ", \"needs:human\"", "");
    let fired = fleet.fire("hand");
    assert_eq!(fired.code, Some(0), "{fired:#?}");
    assert!(
        stops(&fleet, "hand").is_empty(),
        "{:#?}",
        stops(&fleet, "hand")
    );
}

#[test]
fn the_last_attempt_is_handed_over_and_why_says_to_whom() {
    let limits = "[limits]\nmax_work_attempts = 1\n";
    let scene = Script::new(&[("codex", gives_up())], limits);
    assert_eq!(scene.fire()["outcome"], "FAILED");
    assert_eq!(scene.fire()["outcome"], "SILENT");
    let waits = "#1 of widget waits for a person";
    assert_only_stop(&scene.fleet, ROLE, "needs-human", waits, "issue show 1");
    // The next look finds the label that this one left.
    let row = scene.fire();
    assert!(row["reason"].as_str().unwrap().contains(waits), "{row:#}");
}

#[test]
fn an_ended_firing_names_the_key_that_ended_it() {
    let fleet = sound();
    let path = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        path,
        format!("{text}[limits]\nmax_turns = 1\nmax_attempts = 1\n"),
    )
    .unwrap();
    let row = fleet.fire("hand").json();
    let id = row["id"].as_str().unwrap();
    let why = fleet.ok(&["why", id, "--json"]);
    let change = why["change"].as_str().unwrap();
    assert_eq!(
        change, "raise limits.max_turns in roles/hand/role.toml",
        "{why:#}"
    );
    let shown = fleet.carson(&["why", id]).stdout;
    println!("{shown}");
    assert!(
        shown.contains(&format!("  to change it: {change}")),
        "{shown}"
    );
}

#[test]
fn skipped_rows_hold_the_word_of_the_stop_that_they_met() {
    let fleet = sound();
    assert_eq!(fleet.fire("hand").code, Some(0));
    fleet.issue("hand", "Once more", "Please.");
    let path = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}[limits]\nmax_open_prs = 1\n")).unwrap();
    assert_eq!(skip_of(&fleet.fire("hand").json()), "open-prs");
    fs::write(&path, text).unwrap();
    replace(
        &fleet,
        "carson.toml",
        "[fleet]\n",
        "[fleet]\nmin_free_mb = 4294967295\n",
    );
    assert_eq!(skip_of(&fleet.fire("hand").json()), "preflight");
    let rows = fleet.ok(&["firings", "--all", "--json"]);
    let words: Vec<&str> = rows.as_array().unwrap().iter().map(skip_of).collect();
    assert_eq!(words, ["preflight", "open-prs", ""]);
    let table = fleet.carson(&["firings", "--all"]).stdout;
    assert!(table.contains("SKIPPED (open-prs)"), "{table}");
    let status = fleet.carson(&["status"]).stdout;
    assert!(status.contains("SKIPPED (preflight)"), "{status}");
}

/// With a pause of its repository a firing, a look ahead and `why` say the same; with one of several,
/// the role works in the others.
#[test]
fn a_paused_repository_stops_a_role_that_has_no_other() {
    let fleet = sound();
    let pause = ["pause", "--repo", "widget", "--reason", "a freeze"];
    assert_eq!(fleet.carson(&pause).code, Some(0));
    assert_only_stop(
        &fleet,
        "hand",
        "pause",
        "a freeze",
        "carson resume --repo widget",
    );
    let ran = fleet.carson(&["fire", "hand"]);
    assert!(
        ran.stdout.contains("SKIPPED: paused: repo widget"),
        "{ran:#?}"
    );
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]).stdout;
    assert!(
        ahead.contains("would be skipped: paused: repo widget"),
        "{ahead}"
    );

    // A second repository is open, without work.
    let remote = fleet.remote();
    let gadget = format!("\n[repos.gadget]\nurl = {remote:?}\nbase = \"main\"\n");
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{gadget}")).unwrap();
    let file = "roles/hand/role.toml";
    replace(&fleet, file, "[\"widget\"]", "[\"widget\", \"gadget\"]");
    let wanted = fleet.carson(&["fire", "hand", "--repo", "widget"]);
    assert!(
        wanted.stdout.contains("SKIPPED: paused: repo widget"),
        "{wanted:#?}"
    );
    let idle = fleet.carson(&["fire", "hand"]);
    assert!(idle.stdout.contains("SILENT: no work found"), "{idle:#?}");
    let found = stops(&fleet, "hand");
    let words: Vec<&str> = found
        .iter()
        .filter_map(|stop| stop["stop"].as_str())
        .collect();
    assert_eq!(words, ["no-work", "repo-pause"], "{found:#?}");
    assert!(
        verdict(&fleet, "hand").starts_with(
            "it does not fire (no daemon was ever here), and would find nothing to do"
        )
    );
    // What it says to type can be typed.
    let change = found[0]["change"].as_str().unwrap();
    assert!(change.contains("--repo widget"), "{change}");
}

/// What is asked for by its number is taken, or it is said why not.
#[test]
fn an_issue_that_was_asked_for_is_taken_or_it_is_said_why_not() {
    let fleet = sound();
    let other = fleet.issue("other", "Not for this role", "");
    for (number, why) in [
        (99, "#99 of widget: there is no such issue"),
        (other, "it does not carry the label for:hand"),
    ] {
        let ran = fleet.carson(&["fire", "hand", "--work", &number.to_string()]);
        assert_ne!(ran.code, Some(0), "{ran:#?}");
        assert!(ran.stderr.contains(why), "{ran:#?}");
    }
    let ran = fleet.carson(&["fire", "hand", "--work", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let again = fleet.carson(&["fire", "hand", "--work", "1"]);
    assert!(
        again.stderr.contains("it carries carson:pr-open"),
        "{again:#?}"
    );
    assert_eq!(
        fleet
            .ok(&["firings", "--all", "--json"])
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}

/// A full review queue is known before a firing meets it.
#[test]
fn a_look_ahead_knows_a_full_review_queue() {
    let fleet = sound();
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(&role, format!("{text}[limits]\nmax_open_prs = 1\n")).unwrap();
    let ahead = |fleet: &TestFleet| fleet.carson(&["fire", "hand", "--dry-run"]).stdout;
    assert!(ahead(&fleet).contains("would fire now"));
    assert_eq!(fleet.carson(&["fire", "hand"]).code, Some(0));
    fleet.issue("hand", "Once more", "");
    let said = ahead(&fleet);
    assert!(
        said.contains("would be skipped: review queue 1/1"),
        "{said}"
    );
}

/// A role that looks often and finds nothing works as soon as there is work.
#[test]
fn looks_that_found_nothing_use_up_nobodys_day() {
    let fleet = sound();
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(&role, format!("{text}[limits]\nmax_firings_per_day = 2\n")).unwrap();
    let issue = fleet.home().join("forge/widget/issues/0001.md");
    let aside = fleet.root().join("aside.md");
    fs::rename(&issue, &aside).unwrap();
    for _ in 0..4 {
        assert!(
            fleet
                .carson(&["fire", "hand"])
                .stdout
                .contains("no work found")
        );
    }
    fs::rename(&aside, &issue).unwrap();
    assert_eq!(fleet.carson(&["fire", "hand"]).code, Some(0));
    fleet.issue("hand", "Once more", "");
    let second = fleet.carson(&["fire", "hand"]);
    assert_ne!(second.code, Some(16), "{second:#?}");
    let third = fleet.carson(&["fire", "hand"]);
    assert!(
        third.stdout.contains("daily cap of 2 firings"),
        "{third:#?}"
    );
}
