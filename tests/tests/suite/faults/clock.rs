//! Faults of time: three days off, a clock that was set, a machine that slept.
//!
//! The clock is set for one process tree; the monotonic clock goes on as it is.

use carson_core::cadence::MISSED_MAX;
use carson_tests::fleet::TestFleet;
use carson_tests::{SetClock, until};
use chrono::TimeDelta;
use nix::sys::signal::Signal;
use serde_json::Value;

use super::{WAITS, Waiting, fleet, nothing_lost};
use crate::daemon::Daemon;
use crate::limits::{Script, commits, failed};

/// A role that is due every second and finds no work after its first firing.
fn ticking(more: &str) -> TestFleet {
    let fleet = fleet(
        "echo done > done.txt; git add .; git commit --quiet -m Done; echo '[OK] done'",
        "",
    );
    fleet.role_at(
        "tick",
        "sh",
        "* * * * * *",
        &format!("stages = [\"execute\"]\n{more}"),
    );
    fleet
}

/// The firings of the role, newest first.
fn rows(fleet: &TestFleet) -> Vec<Value> {
    let args = [
        "firings", "--role", "tick", "--all", "--limit", "1000", "--json",
    ];
    fleet.ok(&args).as_array().unwrap().clone()
}

fn ended(fleet: &TestFleet) -> usize {
    let rows = rows(fleet);
    rows.iter().filter(|row| !row["ended_at"].is_null()).count()
}

/// Waits for so many more firings than there are.
fn more_than(fleet: &TestFleet, before: usize, more: usize) {
    until("the role to fire", || {
        (ended(fleet) >= before + more).then_some(())
    });
}

fn stopped(mut daemon: Daemon) {
    daemon.signal(Signal::SIGTERM);
    daemon.ended();
}

/// No slot twice.
fn once_each(rows: &[Value]) {
    let mut slots: Vec<&str> = rows.iter().filter_map(|row| row["slot"].as_str()).collect();
    let count = slots.len();
    slots.sort_unstable();
    slots.dedup();
    assert_eq!(slots.len(), count, "a slot fired twice: {rows:#?}");
}

/// The same fleet, for which it is another time from now on.
fn at_another_time(fleet: TestFleet, ahead: TimeDelta) -> (TestFleet, SetClock) {
    let (fleet, mut clock) = SetClock::of(fleet);
    clock.set_ahead(ahead);
    (fleet, clock)
}

#[test]
fn f16_three_days_off_cost_one_firing() {
    let fleet = ticking("max_late = \"10d\"\ncatch_up = \"one\"\n");
    let daemon = Daemon::start(&fleet, &[]);
    more_than(&fleet, 0, 1);
    stopped(daemon);
    let before = rows(&fleet);
    let (fleet, _clock) = at_another_time(fleet, TimeDelta::days(3));
    let daemon = Daemon::start(&fleet, &[]);
    more_than(&fleet, before.len(), 1);
    stopped(daemon);
    let after = rows(&fleet);
    once_each(&after);
    // Of the 259,200 slots one fires, and stands for as many as are counted.
    let late: Vec<&Value> = after
        .iter()
        .filter(|row| row["missed"].as_u64() == Some(u64::from(MISSED_MAX)))
        .collect();
    assert_eq!(late.len(), 1, "{after:#?}");
}

#[test]
fn f14_a_clock_that_was_set_back_neither_silences_nor_repeats() {
    for offset in [TimeDelta::hours(-2), TimeDelta::days(-1)] {
        let fleet = ticking("");
        let daemon = Daemon::start(&fleet, &[]);
        more_than(&fleet, 0, 2);
        stopped(daemon);
        let before = ended(&fleet);
        let (fleet, _clock) = at_another_time(fleet, offset);
        let daemon = Daemon::start(&fleet, &[]);
        more_than(&fleet, before, 2);
        stopped(daemon);
        once_each(&rows(&fleet));
    }
}

#[test]
fn f14_a_clock_that_was_set_forward_fires_on() {
    for offset in [TimeDelta::hours(2), TimeDelta::days(30)] {
        let fleet = ticking("max_late = \"1h\"\n");
        let daemon = Daemon::start(&fleet, &[]);
        more_than(&fleet, 0, 1);
        stopped(daemon);
        let before = ended(&fleet);
        let (fleet, _clock) = at_another_time(fleet, offset);
        let daemon = Daemon::start(&fleet, &[]);
        more_than(&fleet, before, 1);
        stopped(daemon);
        once_each(&rows(&fleet));
    }
}

#[test]
fn f15_a_machine_that_slept_fires_once_for_what_it_missed() {
    let fleet = ticking("");
    let daemon = Daemon::start(&fleet, &[]);
    more_than(&fleet, 0, 2);
    daemon.signal(Signal::SIGSTOP);
    let asleep = rows(&fleet).len();
    let began = std::time::Instant::now();
    until("five seconds of sleep", || {
        (began.elapsed().as_secs() >= 5).then_some(())
    });
    assert!(rows(&fleet).len() <= asleep + 1, "it fired in its sleep");
    daemon.signal(Signal::SIGCONT);
    more_than(&fleet, asleep, 2);
    stopped(daemon);
    let rows = rows(&fleet);
    once_each(&rows);
    let caught_up = rows
        .iter()
        .filter(|row| row["missed"].as_u64() >= Some(3))
        .count();
    assert_eq!(caught_up, 1, "{rows:#?}");
}

#[test]
fn f17_a_run_that_is_longer_than_its_period_is_no_failure() {
    let agent =
        "sleep 3; echo done > done.txt; git add .; git commit --quiet -m Done; echo '[OK] done'";
    let fleet = fleet(agent, "");
    fleet.role_at("tick", "sh", "* * * * * *", "stages = [\"execute\"]\n");
    fleet.issue("tick", "Long work", "To do.");
    let daemon = Daemon::start(&fleet, &[]);
    until("a slot to be skipped", || {
        let skipped = |row: &Value| {
            let reason = row["reason"].as_str().unwrap_or_default();
            row["outcome"] == "SKIPPED" && reason.contains("still runs")
        };
        rows(&fleet).iter().any(skipped).then_some(())
    });
    until("the work to be done", || {
        rows(&fleet)
            .iter()
            .any(|row| row["outcome"] == "OK")
            .then_some(())
    });
    stopped(daemon);
    let breakers = fleet.ok(&["breaker", "list", "--json"]);
    let streaks = breakers.as_array().unwrap().iter();
    for breaker in streaks {
        assert_eq!(
            breaker["fail_streak"].as_u64().unwrap_or(0),
            0,
            "{breakers:#}"
        );
    }
    once_each(&rows(&fleet));
}

/// A daemon whose clock is set while it runs, as the kernel wakes it then.
fn set_under(daemon: &Daemon, clock: &mut SetClock, ahead: TimeDelta) {
    clock.set_ahead(ahead);
    daemon.signal(Signal::SIGHUP);
}

#[test]
fn f14_a_clock_that_is_set_under_a_running_daemon_neither_silences_nor_repeats() {
    let (fleet, mut clock) = SetClock::of(ticking("max_late = \"1h\"\n"));
    let daemon = Daemon::start(&fleet, &[]);
    more_than(&fleet, 0, 2);
    for ahead in [
        TimeDelta::hours(2),
        TimeDelta::hours(-2),
        TimeDelta::days(30),
    ] {
        let before = ended(&fleet);
        set_under(&daemon, &mut clock, ahead);
        more_than(&fleet, before, 2);
    }
    stopped(daemon);
    once_each(&rows(&fleet));
}

#[test]
fn f15_a_zone_that_is_changed_under_a_running_daemon_repeats_no_time_of_day() {
    let fleet = ticking("");
    fleet.role_at(
        "tick",
        "sh",
        "30 12 * * *",
        "stages = [\"execute\"]\nzone = \"UTC\"\n",
    );
    let (fleet, mut clock) = SetClock::of(fleet);
    let day = clock.now().date_naive() + TimeDelta::days(1);
    let at = |days, hour, minute| {
        let day = day + TimeDelta::days(days);
        day.and_hms_opt(hour, minute, 0).unwrap().and_utc() - TimeDelta::milliseconds(500)
    };
    clock.set(at(0, 12, 29));
    let daemon = Daemon::start(&fleet, &[]);
    daemon.says("daemon started");
    clock.set(at(0, 12, 30));
    daemon.signal(Signal::SIGHUP);
    more_than(&fleet, 0, 1);
    let role = fleet.home().join("roles/tick/role.toml");
    let text = std::fs::read_to_string(&role).unwrap();
    // Half past twelve has been there since seven o'clock UTC.
    std::fs::write(&role, text.replace("\"UTC\"", "\"Asia/Kolkata\"")).unwrap();
    daemon.signal(Signal::SIGHUP);
    until("the new settings", || {
        let shown = fleet.ok(&["roles", "show", "tick", "--json"]);
        shown.to_string().contains("Asia/Kolkata").then_some(())
    });
    clock.set(at(1, 7, 0));
    daemon.signal(Signal::SIGHUP);
    more_than(&fleet, 1, 1);
    stopped(daemon);
    let rows = rows(&fleet);
    let slots: Vec<&str> = rows.iter().filter_map(|row| row["slot"].as_str()).collect();
    assert_eq!(slots.len(), 2, "{rows:#?}");
    assert!(
        slots[0].contains("T07:00:00") && slots[1].contains("T12:30:00"),
        "{slots:?}"
    );
}

#[test]
fn f47_a_clock_that_leaps_forward_ends_no_running_firing() {
    let agent = format!(
        "{WAITS}\necho done > done.txt; git add .; git commit --quiet -m Done; echo '[OK] done'"
    );
    let fleet = fleet(&agent, "[limits]\nwall_clock = \"5m\"\n");
    let (fleet, mut clock) = SetClock::of(fleet);
    let waiting = Waiting::of(&fleet);
    // Far past its deadline, by the calendar.
    clock.set_ahead(TimeDelta::hours(7));
    let looked = fleet.ok(&["prune", "--json"]);
    assert_eq!(looked["concluded"], serde_json::json!([]), "{looked:#}");
    let row = waiting.goes_on();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    nothing_lost(&fleet, &row, &["done\n"]);
}

/// The daemon claims a slot a moment before it is due: what has ended by then must not stop it.
#[test]
fn a_limit_that_ends_with_the_hour_does_not_cost_the_slot_of_that_hour() {
    let limit = failed("You've hit your usage limit. Try again at 12:00 PM.");
    let script = format!(
        "if [ ! -e \"$0.seen\" ]; then touch \"$0.seen\"; {limit}fi\n{}",
        commits()
    );
    let scene = Script::new(&[("codex", script)], "");
    scene.cadence("*/30 * * * *");
    let (fleet, mut clock) = SetClock::of(scene.fleet);
    let day = clock.now().date_naive() + TimeDelta::days(1);
    let at = |hour, minute| {
        let at = day.and_hms_opt(hour, minute, 0).unwrap().and_utc();
        at - TimeDelta::milliseconds(600)
    };
    clock.set(at(11, 29));
    let daemon = Daemon::start(&fleet, &[]);
    daemon.says("daemon started");
    for (hour, minute, outcome) in [(11, 30, "RATE_LIMITED"), (12, 0, "OK")] {
        clock.set(at(hour, minute));
        daemon.signal(Signal::SIGHUP);
        let slot = format!("T{hour}:{minute:02}:00Z");
        let row = until("its slot to end", || {
            let rows = fleet.ok(&["firings", "--all", "--json"]);
            let is_it = |row: &&Value| row["slot"].as_str().is_some_and(|at| at.ends_with(&slot));
            let row = rows.as_array()?.iter().find(is_it)?.clone();
            row["ended_at"].is_string().then_some(row)
        });
        assert_eq!(row["outcome"], outcome, "{row:#}");
    }
    stopped(daemon);
}

/// Claimed a moment before midnight, it works in the day that begins then.
#[test]
fn the_slot_of_midnight_counts_to_its_own_day() {
    let fleet = ticking("");
    let more = "stages = [\"execute\"]\nzone = \"UTC\"\n[limits]\nmax_firings_per_day = 1\n";
    fleet.role_at("tick", "sh", "0 0,12 * * *", more);
    for _ in 0..2 {
        fleet.issue("tick", "Work", "To do.");
    }
    let (fleet, mut clock) = SetClock::of(fleet);
    let day = clock.now().date_naive() + TimeDelta::days(2);
    let at = |hour| {
        let at = day.and_hms_opt(hour, 0, 0).unwrap().and_utc();
        at - TimeDelta::milliseconds(600)
    };
    clock.set(at(0) - TimeDelta::minutes(1));
    let daemon = Daemon::start(&fleet, &[]);
    daemon.says("daemon started");
    let ended = |hour| {
        clock.set(at(hour));
        daemon.signal(Signal::SIGHUP);
        let slot = format!("T{hour:02}:00:00Z");
        until("its slot to end", || {
            let rows = rows(&fleet);
            let is_it = |row: &&Value| row["slot"].as_str().is_some_and(|at| at.ends_with(&slot));
            let row = rows.iter().find(is_it)?.clone();
            row["ended_at"].is_string().then_some(row)
        })
    };
    let [midnight, noon] = [0, 12].map(ended);
    stopped(daemon);
    assert_eq!(midnight["outcome"], "OK", "{midnight:#}");
    assert_eq!(noon["skip"], "daily-cap", "{noon:#}");
}
