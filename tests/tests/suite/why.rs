//! For each stop: `carson why` names it, and the command that it names ends it.

use std::fs;

use carson_tests::fleet::TestFleet;
use carson_tests::judge::sound;
use serde_json::Value;

/// The stops that stand for the role, by kind; that no daemon runs is always one here, and what is held is
/// listed beside them.
fn stops(fleet: &TestFleet) -> Vec<(String, Value)> {
    let why = fleet.ok(&["why", "hand", "--json"]);
    let stops = why["stops"].as_array().unwrap().iter();
    stops
        .map(|stop| (stop["stop"].as_str().unwrap().to_owned(), stop.clone()))
        .filter(|(kind, _)| !["daemon", "held-issue"].contains(&kind.as_str()))
        .collect()
}

fn kinds(fleet: &TestFleet) -> Vec<String> {
    stops(fleet).into_iter().map(|(kind, _)| kind).collect()
}

/// The command between backquotes, as arguments of `carson`.
fn command(fleet: &TestFleet, change: &str) -> Vec<String> {
    let typed = change.split('`').nth(1).unwrap();
    let home = fleet.home().display().to_string();
    let words = typed.split_whitespace().map(str::to_owned);
    words
        .filter(|word| !["carson", "--home", &home].contains(&word.as_str()))
        .collect()
}

/// The one stop is of this kind, says this, and its command ends it.
fn ended_by_its_command(fleet: &TestFleet, kind: &str, says: &str) {
    let mut found = stops(fleet);
    assert_eq!(found.len(), 1, "{found:#?}");
    let (stop, value) = found.remove(0);
    assert_eq!(stop, kind);
    assert!(value["why"].as_str().unwrap().contains(says), "{value:#}");
    let shown = fleet.carson(&["why", "hand"]);
    assert!(shown.stdout.contains("to change it: "), "{shown:#?}");
    let change = command(fleet, value["change"].as_str().unwrap());
    let args: Vec<&str> = change.iter().map(String::as_str).collect();
    let ran = fleet.carson(&args);
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:#?}");
    assert_eq!(kinds(fleet), [""; 0], "after {args:?}");
}

/// That a role is stopped by this stands on the first screen, too, and in its JSON.
pub(crate) fn stands_in_status(fleet: &TestFleet, role: &str, stop: &str) {
    let told = format!("{} of {role}", stop.to_uppercase());
    let shown = fleet.carson(&["status"]);
    assert!(shown.stdout.contains(&told), "{told}: {shown:#?}");
    let status = fleet.ok(&["status", "--json"]);
    let stops = status["role_stops"].as_array().unwrap();
    let is_it = |one: &Value| one["role"] == role && one["stop"] == stop;
    assert!(stops.iter().any(is_it), "{status:#}");
}

fn role(fleet: &TestFleet, change: impl FnOnce(String) -> String) {
    let path = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, change(text)).unwrap();
}

fn settings(fleet: &TestFleet, change: impl FnOnce(String) -> String) {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, change(text)).unwrap();
}

#[test]
fn pauses_blocks_and_breakers_are_ended_by_the_command_that_is_named() {
    let fleet = sound();
    assert_eq!(kinds(&fleet), [""; 0]);
    for (args, kind, says) in [
        (&["pause", "--reason", "lunch"][..], "pause", "lunch"),
        (&["pause", "--role", "hand"], "pause", "role hand"),
        (&["pause", "--repo", "widget"], "pause", "repo widget"),
        (&["pause", "--account", "play"], "block", "account play"),
        (
            &["block", "set", "play", "--for", "2h"],
            "block",
            "account play until 2",
        ),
        (
            &["block", "set", "play"],
            "block",
            "until an operator ends that",
        ),
    ] {
        let ran = fleet.carson(args);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        ended_by_its_command(&fleet, kind, says);
    }
    // Nothing is committed: a bad outcome.
    fs::write(
        fleet.root().join("play.toml"),
        "[[when]]\ndo = [{ exit = 3 }]\n",
    )
    .unwrap();
    role(&fleet, |text| format!("{text}[limits]\nfail_streak = 1\n"));
    let _ = fleet.fire("hand");
    let says = fleet.carson(&["why", "hand"]).stdout;
    assert!(says.contains("breaker"), "{says}");
    ended_by_its_command(&fleet, "breaker", "1 bad outcome in a row");
}

#[test]
fn stops_that_settings_make_name_the_key() {
    let fleet = sound();
    let cadence = "cadence = [\"0 0 1 1 *\"]";
    for (from, to, kind, key) in [
        (
            cadence,
            format!("enabled = false\n{cadence}"),
            "cadence",
            "enabled = true",
        ),
        (cadence, "cadence = []".into(), "cadence", "cadence = "),
    ] {
        role(&fleet, |text| text.replace(from, &to));
        let (stop, value) = stops(&fleet).remove(0);
        assert_eq!(stop, kind);
        assert!(value["change"].as_str().unwrap().contains(key), "{value:#}");
        role(&fleet, |text| text.replace(&to, from));
    }
    settings(&fleet, |text| {
        text.replace("[fleet]\n", "[fleet]\nmin_free_mb = 4294967295\n")
    });
    let (stop, value) = stops(&fleet).remove(0);
    assert_eq!(stop, "room");
    assert!(
        value["why"].as_str().unwrap().contains("fleet.min_free_mb"),
        "{value:#}"
    );
    let shown = fleet.carson(&["status"]);
    assert!(shown.stdout.contains("NO ROOM: "), "{shown:#?}");
    // The firing that could not start is the reason too.
    let _ = fleet.fire("hand");
    assert_eq!(kinds(&fleet), ["room", "preflight"]);
    settings(&fleet, |text| text.replace("4294967295", "0"));
    ended_by_its_command(&fleet, "preflight", "nearly full");
}

#[test]
fn caps_and_full_review_queues_say_where_they_stand() {
    let fleet = sound();
    role(&fleet, |text| format!("{text}[limits]\nmax_open_prs = 1\n"));
    assert_eq!(fleet.fire("hand").code, Some(0));
    fleet.issue("hand", "Once more", "Please.");
    assert_eq!(fleet.fire("hand").code, Some(16));
    let (stop, value) = stops(&fleet).remove(0);
    assert_eq!(stop, "open-prs");
    assert!(
        value["change"].as_str().unwrap().contains("pr list"),
        "{value:#}"
    );
    stands_in_status(&fleet, "hand", "open-prs");
    let queue = fleet.carson(&["queue"]).stdout;
    assert!(queue.contains("the role is stopped: "), "{queue}");
    role(&fleet, |text| {
        text.replace("max_open_prs", "max_firings_per_day")
    });
    assert!(kinds(&fleet).contains(&"daily-cap".to_owned()));
    stands_in_status(&fleet, "hand", "daily-cap");
}

#[test]
fn a_firing_tells_its_chain_and_that_no_daemon_runs_is_told() {
    let fleet = sound();
    let row = fleet.fire("hand").json();
    let id = row["id"].as_str().unwrap();
    let short = &id[id.len() - 8..];
    for name in [id, short] {
        let shown = fleet.carson(&["why", name]);
        for says in [
            "an operator fired hand",
            "took #1 of widget",
            "went through",
            "[OK]",
            "OK: ",
        ] {
            assert!(shown.stdout.contains(says), "no {says:?}: {shown:#?}");
        }
    }
    let why = fleet.carson(&["why", "hand"]).stdout;
    assert!(why.contains("no daemon was ever here"), "{why}");
    let unknown = fleet.carson(&["why", "nobody"]);
    assert_eq!(unknown.code, Some(2), "{unknown:#?}");
}

#[test]
fn who_forces_a_firing_says_why_and_that_is_told_and_kept() {
    let fleet = sound();
    assert_eq!(
        fleet.carson(&["pause", "--reason", "holidays"]).code,
        Some(0)
    );
    for without in [
        &["--force"][..],
        &["--reason", "x"],
        &["--force", "--reason", " "],
    ] {
        let ran = fleet.carson(&[&["fire", "hand"], without].concat());
        assert_eq!(ran.code, Some(2), "{without:?}: {ran:#?}");
    }
    let forced = [
        "fire",
        "hand",
        "--force",
        "--reason",
        "a customer waits",
        "--json",
    ];
    let ran = fleet.carson(&forced);
    assert!(
        ran.stderr
            .contains("fires over this: paused: fleet (holidays)"),
        "{ran:#?}"
    );
    let id = ran.json()["id"].as_str().unwrap().to_owned();
    let why = fleet.carson(&["why", &id]).stdout;
    let line = "by force, over paused: fleet (holidays): a customer waits";
    assert!(why.contains(line), "{why}");
    let shown = fleet.carson(&["show", &id]).stdout;
    assert!(shown.contains("firing.forced"), "{shown}");
    // What a provider says holds in any case.
    let set = ["block", "set", "play", "--for", "2h"];
    assert_eq!(fleet.carson(&set).code, Some(0));
    let held = fleet.carson(&forced);
    assert_eq!(held.json()["skip"], "block", "{held:#?}");
}
