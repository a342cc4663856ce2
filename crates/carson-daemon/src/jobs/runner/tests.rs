//! One job, in a home with nothing else.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use carson_config::{LoadOptions, load};
use carson_core::Clock;
use carson_store::Store;
use tempfile::TempDir;

use super::*;

async fn open_home() -> (TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("carson.toml"), "").unwrap();
    let options = LoadOptions {
        files: None,
        home: dir.path().to_owned(),
        env: Vec::new(),
        user_home: None,
        machine: "box".into(),
    };
    let fleet = load(&options).unwrap().fleet;
    let store = Store::open(&fleet.database).await.unwrap();
    let home = Home {
        inspector: carson_proc::inspector::Inspector::here(),
        fleet: Arc::new(fleet),
        store,
        clock: Clock::system(),
        program: "/nowhere/carson".into(),
        environ: Vec::new(),
        user_home: None,
        redactor: carson_redact::Redactor::default(),
        vectors: Default::default(),
    };
    (dir, home)
}

const HOUR: Duration = Duration::from_secs(3_600);

fn job<F: Future<Output = Done> + Send + 'static>(
    run: impl Fn(Home) -> F + Send + Sync + 'static,
) -> Job {
    Job::new("test", HOUR, Duration::from_millis(50), run)
}

#[tokio::test]
async fn a_job_that_hangs_or_panics_ends_as_one_that_failed() {
    let (_dir, home) = open_home().await;
    let hangs = job(|_| std::future::pending());
    let row = once(&hangs, &home, None).await;
    assert_eq!((row.failures, row.did), (1, 0));
    assert!(row.said.contains("was given up"), "{}", row.said);
    let panics = job(|_| async { panic!("on purpose") });
    let row = once(&panics, &home, Some(&row)).await;
    assert_eq!(row.failures, 2);
    assert!(row.said.contains("panicked"), "{}", row.said);
    let good = job(|_| async { Ok(Report::nothing("fine")) });
    assert_eq!(once(&good, &home, Some(&row)).await.failures, 0);
}

/// Everything of the jobs but their own work.
async fn kept(jobs: Vec<Job>, home: &Home, health: &Health) -> Vec<tokio::task::JoinHandle<()>> {
    let shared: Shared = Arc::new(std::sync::RwLock::new(home.clone()));
    jobs.into_iter()
        .map(|job| tokio::spawn(keep(job, alarm().unwrap(), shared.clone(), health.clone())))
        .collect()
}

async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let waited = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waited)
        .await
        .unwrap()
}

#[tokio::test]
async fn one_that_fails_stops_no_other_and_all_of_it_is_written_down() {
    let (_dir, home) = open_home().await;
    let wake = Arc::new(Notify::new());
    let tell = Arc::new(Notify::new());
    let works = Arc::new(AtomicBool::new(false));
    let seen = works.clone();
    let bad = Job::new("bad", HOUR, HOUR, move |_| {
        let works = seen.load(Ordering::SeqCst);
        async move {
            if works {
                Ok(Report::counted(2, "thing done", "things done"))
            } else {
                Err("no luck".into())
            }
        }
    })
    .woken_by(&wake)
    .telling(&tell);
    let good = Job::new("good", HOUR, HOUR, |_| async {
        Ok(Report::nothing("fine"))
    });
    let tasks = kept(vec![bad, good], &home, &Health::default()).await;
    let rows = until(async || {
        let rows = home.store.jobs(None).await.unwrap();
        (rows.len() == 2).then_some(rows)
    })
    .await;
    assert_eq!((rows[0].name.as_str(), rows[0].failures), ("bad", 1));
    assert_eq!(
        (rows[1].name.as_str(), rows[1].said.as_str()),
        ("good", "fine")
    );
    works.store(true, Ordering::SeqCst);
    wake.notify_one();
    tokio::time::timeout(Duration::from_secs(30), tell.notified())
        .await
        .unwrap();
    let kinds = until(async || {
        let events = home.store.events(9).await.unwrap();
        let kinds: Vec<String> = events.into_iter().map(|event| event.kind).collect();
        (kinds.len() == 2).then_some(kinds)
    })
    .await;
    assert_eq!(kinds, ["job.mended", "job.failed"]);
    let rows = home.store.jobs(None).await.unwrap();
    assert_eq!(
        (rows[0].failures, rows[0].said.as_str()),
        (0, "2 things done")
    );
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn nothing_runs_on_a_database_that_is_lost() {
    let (_dir, home) = open_home().await;
    let health = Health::default();
    health.lose("deleted".into());
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let wake = Arc::new(Notify::new());
    let job = job(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(Report::nothing("")) }
    })
    .woken_by(&wake);
    let tasks = kept(vec![job], &home, &health).await;
    for _ in 0..20 {
        wake.notify_one();
        tokio::task::yield_now().await;
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
}

#[test]
fn jobs_run_at_the_same_instants_whenever_they_began() {
    let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
    let five = TimeDelta::seconds(5);
    for (due, run) in [("12:00:05.003Z", "12:00:05Z"), ("12:00:08.1Z", "12:00:10Z")] {
        let due = at(&format!("2026-07-01T{due}"));
        assert_eq!(together(due, five), at(&format!("2026-07-01T{run}")));
        // Whoever wants another rhythm has it.
        for every in [TimeDelta::seconds(7), TimeDelta::milliseconds(20)] {
            assert_eq!(together(due, every), due);
        }
    }
}

#[tokio::test]
async fn quiet_jobs_run_at_night_and_by_day_when_the_nights_are_missed() {
    let (_dir, home) = open_home().await;
    let night = job(|_| async { Ok(Report::nothing("")) }).at_night();
    let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
    let fleet = &home.fleet;
    let next = night.next(fleet, at("2026-07-01T03:00:00Z"));
    // Its every is an hour: within the same night.
    assert_eq!(next, at("2026-07-01T04:00:00Z"));
    assert_eq!(night.next(fleet, next), at("2026-07-02T02:00:00Z"));
    let row = |ended: &str, next: &str| JobRow {
        host: "box".into(),
        name: "test".into(),
        started_at: at(ended),
        ended_at: at(ended),
        next_at: at(next),
        did: 0,
        failures: 0,
        said: String::new(),
    };
    let now = at("2026-07-01T12:00:00Z");
    let fresh = row("2026-07-01T11:00:00Z", "2026-07-02T02:00:00Z");
    assert_eq!(
        night.first(fleet, Some(&fresh), now),
        at("2026-07-02T02:00:00Z")
    );
    for last in [
        None,
        Some(&row("2026-06-30T12:00:00Z", "2026-07-01T02:00:00Z")),
    ] {
        assert_eq!(night.first(fleet, last, now), at("2026-07-01T12:10:00Z"));
    }
}

#[tokio::test]
async fn a_clock_that_was_set_back_does_not_silence_a_job() {
    let (_dir, home) = open_home().await;
    let shared: Shared = Arc::new(std::sync::RwLock::new(home.clone()));
    let job = Job::new("test", Duration::from_millis(20), HOUR, |_| async {
        Ok(Report::nothing(""))
    });
    let mut due = home.clock.now() + TimeDelta::days(1);
    let alarm = alarm().unwrap();
    let waited = wait(&job, &alarm, &shared, &mut due);
    tokio::time::timeout(Duration::from_secs(30), waited)
        .await
        .unwrap();
}
