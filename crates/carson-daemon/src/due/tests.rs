use std::collections::{BTreeMap, BTreeSet};

use carson_config::{LoadOptions, load};
use carson_core::FiringId;
use carson_core::breaker::Thresholds;
use carson_store::{Claim, Ending, NewFiring};
use chrono::{TimeDelta, Timelike};
use tempfile::TempDir;

use super::*;

mod any;

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A fleet whose roles have these cadences, in Berlin, with more lines of TOML each.
fn fleet<'r>(roles: impl IntoIterator<Item = (&'r str, &'r str, &'r str)>) -> Fleet {
    let dir = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("script.toml", "");
    let script = dir.path().join("script.toml");
    write(
        "carson.toml",
        &format!(
            "[fleet]\nname = \"home\"\nzone = \"Europe/Berlin\"\n\
             [repos.widget]\nurl = \"/nowhere\"\nforge = \"local\"\n\
             [accounts.play]\nengine = \"rehearsal\"\nscript = {script:?}\n"
        ),
    );
    for (name, cadence, more) in roles {
        let role = format!(
            "title = \"T\"\nrepos = [\"widget\"]\ncadence = [{cadence:?}]\nengines = [\"play\"]\n\
             work = {{ from = \"issues\", label = \"x\" }}\n{more}"
        );
        write(&format!("roles/{name}/role.toml"), &role);
    }
    let options = LoadOptions {
        files: None,
        home: dir.path().to_owned(),
        env: Vec::new(),
        user_home: None,
        machine: "box".into(),
    };
    load(&options)
        .unwrap_or_else(|findings| panic!("{findings}"))
        .fleet
}

/// A daemon's clock, ledger and store, without its processes.
struct Stage {
    fleet: Fleet,
    dir: TempDir,
    store: Store,
    clock: Clock,
    ledger: Ledger,
    /// What was fired: role, slot, how many missed ones it stood for, when.
    fired: Vec<(String, DateTime<Utc>, u32, DateTime<Utc>)>,
    late: usize,
}

impl Stage {
    async fn new(fleet: Fleet, now: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir).await;
        let mut stage = Self {
            fleet,
            dir,
            store,
            clock: Clock::manual(utc(now)),
            ledger: Ledger::default(),
            fired: Vec::new(),
            late: 0,
        };
        stage.restart().await;
        stage
    }

    /// Another daemon takes over, and knows what the store knows.
    async fn restart(&mut self) {
        self.store = open(&self.dir).await;
        self.ledger = Ledger::default();
        let learn = self.ledger.learn(&self.fleet, &self.store, &self.clock);
        learn.await.unwrap();
    }

    /// One pass of the loop: every firing ends at once.
    async fn pass_once(&mut self) {
        let now = self.clock.now();
        let due: Vec<_> = self.ledger.due(&self.fleet, now);
        let due: Vec<_> = due
            .into_iter()
            .map(|(role, due)| (role.name.clone(), due))
            .collect();
        for (role, due) in due {
            if due.too_late {
                self.late += 1;
            } else if claim(&self.store, &role, due, now).await {
                self.fired
                    .push((role.to_string(), due.slot, due.missed, now));
            }
            self.ledger.taken(&role, due.slot);
        }
    }

    async fn pass_at(&mut self, now: DateTime<Utc>) {
        self.clock.set(now);
        self.pass_once().await;
    }

    /// Sleeps from alarm to alarm, as the daemon does; how often it woke.
    async fn live_until(&mut self, end: DateTime<Utc>) -> usize {
        let mut wakes = 0;
        while let Some(next) = Ledger::next(&self.fleet, self.clock.now()).filter(|at| *at <= end) {
            self.pass_at(next).await;
            wakes += 1;
        }
        self.pass_at(end).await;
        wakes
    }

    fn slots(&self, role: &str) -> Vec<String> {
        let of_role = self.fired.iter().filter(|fired| fired.0 == role);
        of_role
            .map(|fired| fired.1.format("%dT%H:%M").to_string())
            .collect()
    }
}

async fn open(dir: &TempDir) -> Store {
    let url = format!("sqlite:{}/carson.db", dir.path().display());
    Store::open(&url).await.unwrap()
}

/// Claims and ends at once; `false` when the slot was taken.
async fn claim(store: &Store, role: &RoleName, due: Due, now: DateTime<Utc>) -> bool {
    let new = NewFiring {
        id: FiringId::new(),
        role: role.clone(),
        slot: Some(due.slot),
        host: "here".parse().unwrap(),
        account: None,
        deadline_at: now,
        claimed_at: now,
        missed: due.missed,
        repo: None,
        work: None,
        probes: None,
    };
    let won = store.claim_firing(&new).await.unwrap() == Claim::Won;
    let ending = Ending {
        outcome: carson_core::Outcome::Silent,
        reason: String::new(),
        skip: None,
        at: now,
        thresholds: Some(Thresholds {
            fail_streak: 0,
            max_rejections: 0,
        }),
        posts: Vec::new(),
    };
    won && store
        .as_firing(new.id, carson_store::Epoch::FIRST)
        .end_firing(&ending)
        .await
        .unwrap()
}

#[tokio::test]
async fn sixty_roles_spread_over_the_hour_fire_each_at_its_minute() {
    let minutes: Vec<(String, String)> = (0..60)
        .map(|n| (format!("role-{n}"), format!("{n} * * * *")))
        .collect();
    let roles = minutes
        .iter()
        .map(|(name, line)| (name.as_str(), line.as_str(), ""));
    let mut stage = Stage::new(fleet(roles), "2026-06-01T00:00:30Z").await;
    let wakes = stage.live_until(utc("2026-06-01T06:00:30Z")).await;
    assert_eq!(wakes, 360, "one for each instant");
    assert_eq!(stage.fired.len(), 360);
    for (role, slot, missed, at) in &stage.fired {
        assert_eq!(format!("role-{}", slot.minute()), *role);
        assert_eq!((*missed, at), (0, slot), "neither early nor late");
    }
}

#[tokio::test]
async fn a_herd_is_splayed_and_every_role_keeps_its_place() {
    let names: Vec<String> = (0..20).map(|n| format!("role-{n}")).collect();
    let roles = names
        .iter()
        .map(|name| (name.as_str(), "0 * * * *", "splay = \"10m\"\n"));
    let mut stage = Stage::new(fleet(roles), "2026-06-01T00:30:00Z").await;
    stage.live_until(utc("2026-06-01T03:30:00Z")).await;
    assert_eq!(stage.fired.len(), 60);
    let mut delays: BTreeMap<String, BTreeSet<TimeDelta>> = BTreeMap::new();
    for (role, slot, _, at) in &stage.fired {
        assert_eq!(slot.minute(), 0);
        delays.entry(role.clone()).or_default().insert(*at - *slot);
    }
    assert!(
        delays.values().all(|of_role| of_role.len() == 1),
        "{delays:?}"
    );
    let different: BTreeSet<_> = delays.values().flatten().collect();
    assert!(different.len() > 15 && **different.last().unwrap() < TimeDelta::minutes(10));
}

#[tokio::test]
async fn a_restart_neither_repeats_a_slot_nor_loses_one() {
    let mut stage = Stage::new(fleet([("one", "*/20 * * * *", "")]), "2026-06-01T09:50:00Z").await;
    stage.live_until(utc("2026-06-01T10:20:00Z")).await;
    stage.restart().await;
    stage.pass_once().await;
    assert_eq!(stage.slots("one"), ["01T10:00", "01T10:20"]);
    // Away from 10:20 to 11:45: 10:40, 11:00, 11:20 and 11:40 are one firing.
    stage.clock.set(utc("2026-06-01T11:45:00Z"));
    stage.restart().await;
    stage.pass_once().await;
    stage.restart().await;
    stage.pass_once().await;
    assert_eq!(stage.slots("one"), ["01T10:00", "01T10:20", "01T11:40"]);
    assert_eq!(stage.fired[2].2, 3);
}

#[tokio::test]
async fn a_role_that_is_new_waits_for_its_first_slot() {
    let mut stage = Stage::new(fleet([("one", "0 3 * * *", "")]), "2026-06-01T12:00:00Z").await;
    stage.pass_at(utc("2026-06-01T23:00:00Z")).await;
    assert!(stage.fired.is_empty(), "last night's was before its time");
    stage.pass_at(utc("2026-06-02T01:00:00Z")).await;
    assert_eq!(stage.slots("one"), ["02T01:00"], "three in Berlin");
}

#[tokio::test]
async fn what_is_missed_follows_the_rules_of_the_role() {
    let roles = [
        ("catches-up", "0 * * * *", ""),
        ("does-not", "0 * * * *", "catch_up = \"none\"\n"),
        ("not-so-late", "0 2 * * *", "max_late = \"2h\"\n"),
        ("late", "0 2 * * *", "max_late = \"12h\"\n"),
        ("never-there", "0 12 * * *", "enabled = false\n"),
    ];
    // The lid is closed at midnight in Berlin and opened at half past seven.
    let mut stage = Stage::new(fleet(roles), "2026-06-01T21:30:00Z").await;
    stage.live_until(utc("2026-06-01T22:00:00Z")).await;
    assert_eq!(stage.fired.len(), 2);
    stage.pass_at(utc("2026-06-02T05:30:00Z")).await;
    stage.pass_once().await;
    assert_eq!(stage.slots("catches-up"), ["01T22:00", "02T05:00"]);
    assert_eq!(stage.slots("does-not"), ["01T22:00"]);
    assert_eq!(stage.slots("late"), ["02T00:00"]);
    assert!(stage.slots("not-so-late").is_empty() && stage.slots("never-there").is_empty());
    assert_eq!(stage.late, 2, "told once each");
    stage.live_until(utc("2026-06-02T06:00:00Z")).await;
    assert_eq!(stage.slots("does-not"), ["01T22:00", "02T06:00"]);
}

/// What was fired stays fired; a role is silent for the length of the step at most.
#[tokio::test]
async fn a_clock_that_goes_back_an_hour_repeats_no_slot_and_goes_on_after_it() {
    let roles = [
        ("quarter", "*/15 * * * *", ""),
        ("daily", "30 10 * * *", ""),
    ];
    let mut stage = Stage::new(fleet(roles), "2026-06-01T08:00:00Z").await;
    stage.live_until(utc("2026-06-01T09:05:00Z")).await;
    assert_eq!(stage.fired.len(), 5);
    // The clock was an hour ahead, and is set right.
    stage.pass_at(utc("2026-06-01T08:05:00Z")).await;
    assert_eq!(
        stage.fired.len(),
        5,
        "nothing fires because of the step itself"
    );
    stage.live_until(utc("2026-06-01T09:20:00Z")).await;
    let first = ["01T08:15", "01T08:30", "01T08:45", "01T09:00"];
    assert_eq!(stage.slots("quarter"), [&first[..], &["01T09:15"]].concat());
    assert_eq!(stage.slots("daily"), ["01T08:30"]);
    // Set back while no daemon runs: the same.
    stage.clock.set(utc("2026-06-01T08:20:00Z"));
    stage.restart().await;
    stage.live_until(utc("2026-06-01T09:40:00Z")).await;
    assert_eq!(stage.slots("quarter")[4..], ["01T09:15", "01T09:30"]);
}

#[tokio::test]
async fn a_clock_that_is_mended_by_a_moment_repeats_nothing() {
    let mut stage = Stage::new(fleet([("one", "*/5 * * * *", "")]), "2026-06-01T09:58:00Z").await;
    stage.pass_at(utc("2026-06-01T10:00:00.500Z")).await;
    for back in [
        "2026-06-01T09:59:59.900Z",
        "2026-06-01T10:00:00.100Z",
        "2026-06-01T09:59:10Z",
    ] {
        stage.pass_at(utc(back)).await;
        stage.pass_at(utc("2026-06-01T10:00:00.200Z")).await;
    }
    // The daemon dies in between, and the clock is mended meanwhile.
    stage.clock.set(utc("2026-06-01T09:59:59.900Z"));
    stage.restart().await;
    stage.live_until(utc("2026-06-01T10:04:00Z")).await;
    assert_eq!(stage.slots("one"), ["01T10:00"]);
}

#[tokio::test]
async fn both_changes_of_the_hour_cost_and_repeat_nothing() {
    // 29 March: 02:00 becomes 03:00. 25 October: 03:00 becomes 02:00. Both at 01:00 UTC.
    let roles = || {
        [
            ("gap-time", "30 2 * * *", ""),
            ("hourly", "0 * * * *", ""),
            ("morning", "0 7 * * *", ""),
        ]
    };
    let mut spring = Stage::new(fleet(roles()), "2026-03-28T12:30:00Z").await;
    spring.live_until(utc("2026-03-29T12:30:00Z")).await;
    assert_eq!(
        spring.slots("gap-time"),
        ["29T01:00"],
        "the first instant after the gap"
    );
    assert_eq!(spring.slots("morning"), ["29T05:00"]);
    assert_eq!(spring.slots("hourly").len(), 24);

    let mut autumn = Stage::new(fleet(roles()), "2026-10-24T12:30:00Z").await;
    autumn.live_until(utc("2026-10-25T12:30:00Z")).await;
    assert_eq!(
        autumn.slots("gap-time"),
        ["25T00:30"],
        "the first of the two"
    );
    assert_eq!(autumn.slots("morning"), ["25T06:00"]);
    assert_eq!(autumn.slots("hourly").len(), 24);
    // A restart in the doubled hour.
    let mut night = Stage::new(fleet(roles()), "2026-10-25T00:10:00Z").await;
    night.live_until(utc("2026-10-25T00:45:00Z")).await;
    night.restart().await;
    night.live_until(utc("2026-10-25T02:30:00Z")).await;
    assert_eq!(night.slots("gap-time"), ["25T00:30"]);
    assert_eq!(night.slots("hourly"), ["25T01:00", "25T02:00"]);
}
