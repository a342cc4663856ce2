//! Logs and transcripts of firings: the oldest go when they are too old or too many.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carson_config::Housekeeping;
use carson_core::FiringId;
use carson_home::Home;
use chrono::{DateTime, TimeDelta, Utc};

use super::error_chain;
use super::runner::{Done, Report};

/// No firing's papers are begun after this long.
const WITHIN: Duration = Duration::from_secs(120);

/// What is left of one firing.
#[derive(Debug, Default)]
struct Papers {
    paths: Vec<PathBuf>,
    bytes: u64,
    newest: DateTime<Utc>,
}

pub(super) async fn sweep(home: Home) -> Done {
    let live = home.store.live_firings(None).await.map_err(error_chain)?;
    let live: BTreeSet<FiringId> = live.into_iter().map(|row| row.id).collect();
    let (now, keep) = (home.clock.now(), home.fleet.housekeeping);
    let root = home.fleet.layout.root.clone();
    let swept = tokio::task::spawn_blocking(move || {
        let all = papers(&root);
        remove(all, &live, &keep, now, WITHIN)
    });
    let (count, bytes) = swept.await.map_err(error_chain)?.map_err(error_chain)?;
    let mut report = Report::counted(
        count,
        "firing's logs and transcripts removed",
        "firings' logs and transcripts removed",
    );
    if count > 0 {
        report.said.push_str(&format!(", {} MiB", bytes >> 20));
    }
    Ok(report)
}

/// By firing. Files that are not named after one are somebody else's.
fn papers(root: &Path) -> BTreeMap<FiringId, Papers> {
    let mut all: BTreeMap<FiringId, Papers> = BTreeMap::new();
    for dir in ["logs", "transcripts"] {
        let items = std::fs::read_dir(root.join(dir)).into_iter().flatten();
        for path in items.flatten().map(|item| item.path()) {
            let name = path.file_stem().and_then(|name| name.to_str());
            let Some(id) = name.and_then(|name| name.parse().ok()) else {
                continue;
            };
            let one = all.entry(id).or_default();
            measure(&path, one);
            one.paths.push(path);
        }
    }
    all
}

fn measure(path: &Path, into: &mut Papers) {
    let mut todo = vec![path.to_owned()];
    while let Some(path) = todo.pop() {
        let Ok(found) = path.symlink_metadata() else {
            continue;
        };
        if let Ok(changed) = found.modified() {
            into.newest = into.newest.max(changed.into());
        }
        if found.is_dir() {
            let items = std::fs::read_dir(&path).into_iter().flatten().flatten();
            todo.extend(items.map(|item| item.path()));
        } else {
            into.bytes += found.len();
        }
    }
}

/// Removes what is too old, then the oldest until the rest is small enough; how many firings' and
/// how much.
fn remove(
    all: BTreeMap<FiringId, Papers>,
    live: &BTreeSet<FiringId>,
    keep: &Housekeeping,
    now: DateTime<Utc>,
    within: Duration,
) -> std::io::Result<(usize, u64)> {
    let started = Instant::now();
    let limit = u64::from(keep.keep_mb) << 20;
    let old = now - TimeDelta::days(i64::from(keep.keep_days));
    let mut total: u64 = all.values().map(|papers| papers.bytes).sum();
    let mut oldest: Vec<(FiringId, Papers)> = all.into_iter().collect();
    oldest.sort_by_key(|(_, papers)| papers.newest);
    let (mut count, mut bytes) = (0, 0);
    for (id, papers) in oldest {
        if started.elapsed() > within || papers.newest >= old && total <= limit {
            break;
        }
        if live.contains(&id) {
            continue;
        }
        for path in &papers.paths {
            if path.is_dir() {
                std::fs::remove_dir_all(path)?;
            } else {
                std::fs::remove_file(path)?;
            }
        }
        total -= papers.bytes;
        bytes += papers.bytes;
        count += 1;
    }
    Ok((count, bytes))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    /// A home with papers of so many kibibytes and days of age.
    fn home(all: &[(u64, u32)]) -> (tempfile::TempDir, Vec<FiringId>, DateTime<Utc>) {
        let dir = tempfile::tempdir().unwrap();
        let now = carson_core::Clock::system().now();
        let mut ids = Vec::new();
        for (kib, days) in all {
            let id = FiringId::new();
            let folder = dir.path().join("transcripts").join(id.to_string());
            fs::create_dir_all(&folder).unwrap();
            fs::create_dir_all(dir.path().join("logs")).unwrap();
            let log = dir.path().join("logs").join(format!("{id}.log"));
            fs::write(folder.join("01.jsonl"), vec![b'x'; (*kib as usize) << 10]).unwrap();
            fs::write(&log, "").unwrap();
            let at = std::time::SystemTime::from(now) - DAY * *days;
            for path in [folder.join("01.jsonl"), folder, log] {
                File::open(path).unwrap().set_modified(at).unwrap();
            }
            ids.push(id);
        }
        fs::write(dir.path().join("logs/daemon.log"), vec![b'x'; 9 << 20]).unwrap();
        (dir, ids, now)
    }

    fn keep(keep_days: u32, keep_mb: u32) -> Housekeeping {
        Housekeeping {
            keep_days,
            keep_mb,
            ..Housekeeping::default()
        }
    }

    #[test]
    fn the_old_go_and_a_living_firing_keeps_its_own() {
        let (dir, ids, now) = home(&[(1, 40), (1, 31), (1, 29), (1, 0)]);
        let live = BTreeSet::from([ids[0]]);
        let all = papers(dir.path());
        assert_eq!(all.len(), 4);
        let (count, bytes) = remove(all, &live, &keep(30, 99), now, DAY).unwrap();
        assert_eq!((count, bytes), (1, 1 << 10));
        let left: Vec<FiringId> = papers(dir.path()).into_keys().collect();
        assert_eq!(left, [ids[0], ids[2], ids[3]]);
        assert!(!dir.path().join(format!("logs/{}.log", ids[1])).exists());
        assert!(dir.path().join("logs/daemon.log").exists());
    }

    #[test]
    fn when_there_is_too_much_the_oldest_go_first() {
        let (dir, ids, now) = home(&[(900, 3), (900, 2), (900, 1)]);
        let all = papers(dir.path());
        let (count, _) = remove(all, &BTreeSet::new(), &keep(30, 2), now, DAY).unwrap();
        assert_eq!(count, 1);
        assert!(!papers(dir.path()).contains_key(&ids[0]));
    }

    #[test]
    fn a_run_that_has_no_time_left_begins_nothing() {
        let (dir, _, now) = home(&[(1, 40); 5]);
        let all = papers(dir.path());
        let nothing = remove(all, &BTreeSet::new(), &keep(30, 99), now, Duration::ZERO);
        assert_eq!(nothing.unwrap(), (0, 0));
        assert_eq!(papers(dir.path()).len(), 5);
    }
}
