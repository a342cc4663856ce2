//! Setups that failed: noted beside the layer that they did not make, so that not every slot runs them again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_config::{Repo, Setup};
use chrono::{DateTime, Utc};
use serde::Serialize;

use super::cache;
use carson_home::Home;

/// The ending of the file that says why a setup failed.
const FAILED: &str = "failed";
/// How the note of a setup in a workspace that is a copy is called.
const COPY: &str = "copy";
/// How long a setup that failed is not tried again, while nothing changes.
const RESTS: Duration = Duration::from_secs(3600);

/// A setup that failed, as its lines are now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedSetup {
    /// Its repository.
    pub repo: String,
    /// When.
    pub failed_at: DateTime<Utc>,
    /// Why.
    pub why: String,
    /// Until when no firing runs it again by itself, where its lock files stay the same.
    pub rests_until: DateTime<Utc>,
    /// What it printed, where that was kept.
    pub log: Option<PathBuf>,
}

/// The setups of a repository that failed when they ran last as they are now, the newest first.
#[must_use]
pub fn failures(home: &Home, repo: &Repo) -> Vec<FailedSetup> {
    let items = fs::read_dir(cache::of_repo(home, &repo.name));
    let paths = items
        .into_iter()
        .flatten()
        .flatten()
        .map(|item| item.path());
    let failed = paths.filter(|path| path.extension().is_some_and(|ending| ending == FAILED));
    let mut ours: Vec<FailedSetup> = failed
        .filter_map(|path| {
            let failed_at: DateTime<Utc> = path.metadata().ok()?.modified().ok()?.into();
            let log = path.with_extension("log");
            Some(FailedSetup {
                repo: repo.name.to_string(),
                failed_at,
                why: noted(&path)?.of_lines(&repo.setup)?,
                // In copies it runs in each.
                rests_until: match path.file_stem() == Some(COPY.as_ref()) {
                    true => failed_at,
                    false => failed_at + RESTS,
                },
                log: log.is_file().then_some(log),
            })
        })
        .collect();
    ours.sort_by_key(|one| std::cmp::Reverse(one.failed_at));
    ours
}

/// Notes how the setup of a workspace that is a copy went.
pub fn note_copy(home: &Home, repo: &Repo, failed: Option<&str>) {
    let log = log_of_copy(home, repo);
    let path = log.with_extension(FAILED);
    match failed {
        None => {
            let _ = fs::remove_file(path);
            let _ = fs::remove_file(log);
        }
        Some(why) => note(&path, &repo.setup, (why, None)),
    }
}

/// Where it is kept what a setup of a workspace that is a copy printed when it failed, beside the note of that.
#[must_use]
pub fn log_of_copy(home: &Home, repo: &Repo) -> PathBuf {
    let dir = cache::of_repo(home, &repo.name);
    // Who cannot write there says so.
    let _ = crate::private_dir::private_dir(&dir);
    dir.join(COPY).with_extension("log")
}

/// Why the setup of this layer failed a short time ago, if it did, and in how many minutes it is tried again. A firing
/// that gives it markedly more time, `within`, than the one whose time was over is not held back by that.
pub(super) fn resting(layer: &Path, within: Duration) -> Option<(String, u64)> {
    let path = layer.with_extension(FAILED);
    let at = path.metadata().and_then(|found| found.modified()).ok()?;
    let left = RESTS.checked_sub(at.elapsed().ok()?)?;
    let noted = noted(&path)?;
    let has_more = noted
        .cut_after
        .is_some_and(|cut| within > cut + cut / 5 + Duration::from_secs(1));
    (!has_more).then(|| (noted.why, left.as_secs().div_ceil(60)))
}

/// Notes that the setup of this layer failed, or was cut because its time was over.
pub(super) fn note_of_layer(layer: &Path, setup: &Setup, failed: (&str, Option<Duration>)) {
    note(&layer.with_extension(FAILED), setup, failed);
}

/// A failure, as it was noted.
struct Noted {
    /// The name of the lines that failed.
    lines: String,
    /// After how long its time was over, by `setup_timeout` or with its firing, where that ended it.
    cut_after: Option<Duration>,
    why: String,
}

impl Noted {
    /// Why, where these are the lines that failed.
    fn of_lines(self, setup: &Setup) -> Option<String> {
        (self.lines == name_of_lines(setup)).then_some(self.why)
    }
}

/// A line for what failed, with the seconds after which it was cut, and one for why.
fn note(path: &Path, setup: &Setup, (why, cut_after): (&str, Option<Duration>)) {
    let cut = cut_after.map_or_else(String::new, |cut| format!(" {}", cut.as_secs()));
    let text = format!("{}{cut}\n{why}", name_of_lines(setup));
    if let Err(error) = fs::write(path, text) {
        tracing::warn!(path = %path.display(), %error, "a failure could not be noted");
    }
}

fn noted(path: &Path) -> Option<Noted> {
    let text = fs::read_to_string(path).ok()?;
    let (lines, why) = text.split_once('\n')?;
    let (lines, cut) = lines.split_once(' ').unwrap_or((lines, ""));
    Some(Noted {
        lines: lines.to_owned(),
        cut_after: cut.parse().ok().map(Duration::from_secs),
        why: why.to_owned(),
    })
}

fn name_of_lines(setup: &Setup) -> String {
    let name = carson_git::name_of(lines(setup).as_bytes());
    name.map_or_else(String::new, |name| name.to_string())
}

/// All of them as one text, of which each other list has another.
pub(super) fn lines(setup: &Setup) -> String {
    setup.lines.join("\n\0")
}

/// Lets every setup that failed be tried again at once; how many there were.
pub fn forget_failures(home: &Home) -> usize {
    let repos = home.fleet.repos.values();
    repos
        .map(|repo| forget(&cache::of_repo(home, &repo.name)))
        .sum()
}

/// The same of one repository.
pub(super) fn forget(layers: &Path) -> usize {
    let items = fs::read_dir(layers).into_iter().flatten().flatten();
    let paths = items.map(|item| item.path());
    let failed = paths.filter(|path| path.extension().is_some_and(|ending| ending == FAILED));
    failed.filter(|path| fs::remove_file(path).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_markedly_more_time_does_not_rest_for_who_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let layer = dir.path().join("setup-1");
        let setup = Setup::default();
        let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
        let rests = |within| resting(&layer, within).is_some();
        assert!(!rests(minutes(1)), "nothing failed");
        note_of_layer(&layer, &setup, ("it was cut", Some(minutes(10))));
        assert!(rests(minutes(1)) && rests(minutes(10)) && rests(minutes(11)));
        assert!(!rests(minutes(13)));
        note_of_layer(&layer, &setup, ("it ended with 1", None));
        assert!(rests(minutes(1)) && rests(minutes(600)));
        assert_eq!(resting(&layer, minutes(1)).unwrap().0, "it ended with 1");
        forget(dir.path());
        assert!(!rests(minutes(1)));
    }
}
