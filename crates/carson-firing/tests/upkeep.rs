//! Upkeep of a home: benches that may not go, processes that must, rows that nobody took.

#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    reason = "the processes are ones that Carson did not start"
)]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use carson_config::{LoadOptions, load};
use carson_core::breaker::Thresholds;
use carson_core::{Clock, FiringId, Outcome};
use carson_firing::prune::{Action, Plan};
use carson_firing::{orphan_processes, prune, recover};
use carson_home::Home;
use carson_store::{Claim, Ending, NewFiring, Store};
use chrono::TimeDelta;
use tempfile::TempDir;

async fn open_home() -> (TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "carson.toml",
        "[fleet]\nhost = \"box\"\n[repos.widget]\nurl = \"/nowhere\"\n\
         [accounts.claude]\nengine = \"claude\"\n",
    );
    let options = LoadOptions {
        home: dir.path().to_owned(),
        files: None,
        env: Vec::new(),
        user_home: None,
        machine: "box".into(),
    };
    let fleet = load(&options).unwrap().fleet;
    fleet.layout.create().unwrap();
    let home = Home {
        inspector: carson_proc::inspector::Inspector::here(),
        store: Store::open(&fleet.database).await.unwrap(),
        fleet: Arc::new(fleet),
        clock: Clock::system(),
        program: "/nowhere/carson".into(),
        environ: Vec::new(),
        user_home: None,
        redactor: carson_redact::Redactor::default(),
        vectors: Default::default(),
    };
    (dir, home)
}

/// A row that was claimed so many seconds ago, on a host.
async fn claimed(home: &Home, host: &str, ago: i64) -> FiringId {
    let id = FiringId::new();
    let at = home.clock.now() - TimeDelta::seconds(ago);
    let new = NewFiring {
        id,
        role: format!("r{}", &id.short()).parse().unwrap(),
        slot: None,
        host: host.parse().unwrap(),
        account: None,
        deadline_at: at + TimeDelta::hours(1),
        claimed_at: at,
        missed: 0,
        repo: None,
        work: None,
        probes: None,
    };
    assert_eq!(home.store.claim_firing(&new).await.unwrap(), Claim::Won);
    id
}

/// The same, and it ended so many seconds ago.
async fn ended(home: &Home, host: &str, ago: i64) -> FiringId {
    let id = claimed(home, host, ago + 10).await;
    let ending = Ending {
        outcome: Outcome::Failed,
        reason: String::new(),
        skip: None,
        at: home.clock.now() - TimeDelta::seconds(ago),
        thresholds: Some(Thresholds {
            fail_streak: 5,
            max_rejections: 2,
        }),
        posts: Vec::new(),
    };
    assert!(
        home.store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending)
            .await
            .unwrap()
    );
    id
}

/// A process with the marker of a firing; it is killed when it is dropped.
struct Stray(Child);

impl Stray {
    fn of(id: FiringId) -> Self {
        Self::with("CARSON_FIRING", id)
    }

    fn with(marker: &str, id: FiringId) -> Self {
        let mut command = Command::new("sleep");
        command.arg("600").env(marker, id.to_string());
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        // The kernel lets us go on before the new program has its environment.
        let environ = format!("/proc/{}/environ", child.id());
        while fs::read(&environ).unwrap().is_empty() {
            std::thread::yield_now();
        }
        Self(child)
    }

    /// Whether somebody ended it; a corpse waits for us.
    fn is_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Stray {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn processes_of_firings_that_ended_are_ended_and_no_others() {
    let (_dir, home) = open_home().await;
    let old = Stray::of(ended(&home, "box", 120).await);
    let spared = [
        Stray::of(ended(&home, "box", 5).await),
        Stray::of(claimed(&home, "box", 5).await),
        Stray::of(ended(&home, "elsewhere", 120).await),
        Stray::of(FiringId::new()),
    ];
    assert_eq!(orphan_processes::reap(&home).await.unwrap(), 1);
    let mut old = old;
    assert!(old.is_ended());
    for mut one in spared {
        assert!(!one.is_ended());
    }
    assert_eq!(orphan_processes::reap(&home).await.unwrap(), 0);
}

fn bench(home: &Home, id: FiringId) -> std::path::PathBuf {
    let bench = home.fleet.layout.bench(&id);
    for dir in ["home", "tmp"] {
        fs::create_dir_all(bench.join(dir)).unwrap();
        fs::write(bench.join(dir).join("cache"), "x").unwrap();
    }
    bench
}

#[tokio::test]
async fn a_bench_with_a_process_a_lock_or_a_young_mtime_stays() {
    let (_dir, home) = open_home().await;
    let busy = ended(&home, "box", 120).await;
    let locked = ended(&home, "box", 120).await;
    let plain = ended(&home, "box", 120).await;
    let live = claimed(&home, "box", 5).await;
    let benches: Vec<_> = [busy, locked, plain, live]
        .map(|id| bench(&home, id))
        .into();
    fs::write(benches[1].join("locked"), "").unwrap();
    let _process = Stray::of(busy);
    let young = Plan {
        youth: Duration::from_secs(600),
        ..Plan::by_hand(false)
    };
    let pass = prune::pass(&home, &young).await.unwrap();
    assert_eq!(pass.benches.len(), 3);
    assert!(
        pass.benches
            .iter()
            .all(|one| matches!(one.action, Action::Kept(_)))
    );
    // By hand youth does not count; a process and a lock do.
    let pass = prune::pass(&home, &Plan::by_hand(false)).await.unwrap();
    for one in &pass.benches {
        let removed = one.firing == Some(plain);
        assert_eq!(one.action == Action::Removed, removed, "{one:?}");
    }
    let left: Vec<bool> = benches.iter().map(|bench| bench.exists()).collect();
    assert_eq!(left, [true, true, false, true]);
    // In need of room the caches of what may be touched go; nothing is left of that here.
    assert_eq!(prune::clear_caches(&home).await.unwrap(), 0);
    fs::remove_file(benches[1].join("locked")).unwrap();
    assert_eq!(prune::clear_caches(&home).await.unwrap(), 1);
    assert!(benches[1].exists() && !benches[1].join("home").exists());
    assert!(benches[0].join("home").exists() && benches[3].join("home").exists());
}

#[tokio::test]
async fn a_pass_without_time_begins_nothing_and_says_what_is_left() {
    let (_dir, home) = open_home().await;
    for _ in 0..3 {
        let id = ended(&home, "box", 120).await;
        bench(&home, id);
    }
    let none = Plan {
        within: Duration::ZERO,
        ..Plan::by_hand(false)
    };
    let pass = prune::pass(&home, &none).await.unwrap();
    assert_eq!((pass.benches.len(), pass.left), (0, 3));
    let pass = prune::pass(&home, &Plan::by_hand(false)).await.unwrap();
    assert_eq!((pass.benches.len(), pass.left), (3, 0));
}

/// A row that was claimed long ago may belong to a process that only now comes to write its number
/// (a database that was locked, a machine that was suspended). Whoever writes first has the row.
#[tokio::test]
async fn a_process_that_starts_late_and_recovery_never_both_have_a_row() {
    let (_dir, home) = open_home().await;
    let id = claimed(&home, "box", 120).await;
    let done = recover::pass(&home).await.unwrap().ended;
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].settled.outcome, Outcome::Crashed);
    let late = home
        .store
        .as_firing(id, carson_store::Epoch::FIRST)
        .start_firing((1, 1), None, home.clock.now());
    assert!(!late.await.unwrap(), "the late process is refused");

    // One that recovery seized and did not come to conclude is concluded by the next pass.
    let half = claimed(&home, "box", 120).await;
    let me = carson_proc::ProcessId::current();
    let seized = home
        .store
        .as_firing(half, carson_store::Epoch::FIRST)
        .start_firing((me.pid, me.start), None, home.clock.now());
    assert!(seized.await.unwrap());
    let done = recover::pass(&home).await.unwrap().ended;
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].id, half);
}

/// On a machine where hundreds start together a process needs its time to come to its row.
#[tokio::test]
async fn a_firing_whose_process_is_there_has_longer_to_begin() {
    let (_dir, home) = open_home().await;
    let (slow, stuck) = (
        claimed(&home, "box", 120).await,
        claimed(&home, "box", 900).await,
    );
    let starting = [slow, stuck].map(|id| Stray::with("CARSON_STARTED_FOR", id));
    let done = recover::pass(&home).await.unwrap().ended;
    let ids: Vec<FiringId> = done.iter().map(|ended| ended.id).collect();
    assert_eq!(ids, [stuck], "not for ever");
    drop(starting);
    let done = recover::pass(&home).await.unwrap().ended;
    assert_eq!(done[0].id, slow);
}

/// The number of a process that began before the machine was started anew may be anybody's by now.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_process_of_an_earlier_boot_is_believed() {
    let (_dir, home) = open_home().await;
    let ours = carson_proc::ProcessSpace::ours().unwrap().to_string();
    let before = ours.replacen(ours.split(' ').next().unwrap(), "before", 1);
    let somebody = Stray::with("SOMEBODY", FiringId::new());
    let process = carson_proc::ProcessId::of(somebody.0.id().cast_signed()).unwrap();
    let mut ids = Vec::new();
    for space in [ours, before] {
        let id = claimed(&home, "box", 120).await;
        let row = home.store.as_firing(id, carson_store::Epoch::FIRST);
        let began = (process.pid, process.start);
        let begun = row.start_firing(began, Some(&space), home.clock.now());
        assert!(begun.await.unwrap());
        ids.push(id);
    }
    let done = recover::pass(&home).await.unwrap().ended;
    let done: Vec<FiringId> = done.iter().map(|ended| ended.id).collect();
    assert_eq!(done, ids[1..]);
}
