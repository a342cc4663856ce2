//! What sessions wrote, where it is, and what the forge has of it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;

use super::super::super::output;
use super::row::Row;
use super::site::{HOSTS, Site};

/// What a firing's session says of itself.
#[derive(Debug, Default)]
pub struct Journal {
    /// The contents that it wrote, as git names them.
    pub blobs: Vec<String>,
    /// Whether it came to its end.
    pub is_done: bool,
}

/// What is there at the end.
#[derive(Debug, Default)]
pub struct Works {
    /// By firing.
    pub journals: BTreeMap<String, Journal>,
    /// What some ref of the remote reaches.
    pub remote: HashSet<String>,
    /// What some ref of a host's own store reaches.
    pub kept: HashSet<String>,
    pub branches: HashSet<String>,
    pub pulls: Vec<Pull>,
}

#[derive(Clone, Debug)]
pub struct Pull {
    pub number: u64,
    pub head: String,
    pub is_draft: bool,
    pub state: String,
}

impl Works {
    pub fn read(site: &Site) -> anyhow::Result<Self> {
        let refs = ["for-each-ref", "--format=%(refname:short)", "refs/heads"];
        let branches = git(&site.remote(), &refs)?;
        let mut kept = HashSet::new();
        for host in HOSTS {
            let store = site.home(host).join("kept/sample.git");
            if store.exists() {
                kept.extend(reachable(&store)?);
            }
        }
        let all = ["pr", "list", "--all", "--json"];
        let pulls: Vec<Value> = serde_json::from_str(&output(&mut site.ask(&all))?)?;
        Ok(Self {
            journals: journals(&site.journal())?,
            remote: reachable(&site.remote())?,
            kept,
            branches: branches.lines().map(str::to_owned).collect(),
            pulls: pulls
                .iter()
                .map(|pull| Pull::of(pull).with_context(|| format!("no pull request: {pull}")))
                .collect::<anyhow::Result<_>>()?,
        })
    }

    /// What was made and is nowhere, what is finished without its pull request, and what the forge has that nobody made.
    pub fn lost(&self, rows: &[Row]) -> Vec<String> {
        let mut lost = Vec::new();
        let known: HashMap<&str, &Row> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
        for (id, journal) in &self.journals {
            let Some(row) = known.get(id.as_str()) else {
                lost.push(format!("{id} worked and has no row"));
                continue;
            };
            let is_there = |blob: &&String| match row.is("OK") {
                true => self.remote.contains(*blob),
                false => self.remote.contains(*blob) || self.kept.contains(*blob),
            };
            let gone = journal.blobs.iter().filter(|blob| !is_there(blob)).count();
            if gone > 0 {
                let of = journal.blobs.len();
                lost.push(format!(
                    "{gone} of {of} contents are nowhere: {}",
                    row.named()
                ));
            }
        }
        for row in rows.iter().filter(|row| row.is("OK")) {
            if let Some(why) = self.misses(row) {
                lost.push(format!("{why}: {}", row.named()));
            }
        }
        lost
    }

    /// What a finished firing should have and has not.
    fn misses(&self, row: &Row) -> Option<&'static str> {
        let Some(number) = row.pull else {
            return Some("it has no pull request");
        };
        let Some(pull) = self.pulls.iter().find(|pull| pull.number == number) else {
            return Some("its pull request is not there");
        };
        if pull.is_draft {
            return Some("its pull request is a draft");
        }
        let pushed = row.pushed.as_ref();
        if !self.branches.contains(&pull.head)
            || !pushed.is_some_and(|sha| self.remote.contains(sha))
        {
            return Some("its commit is not in the remote");
        }
        None
    }

    /// Issues that were finished twice, or have two pull requests that ask to be merged.
    pub fn doubled(&self, rows: &[Row]) -> Vec<String> {
        let mut doubled = Vec::new();
        let mut finished: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.is("OK")) {
            finished
                .entry(row.work.as_deref().unwrap_or("no work"))
                .or_default()
                .push(row);
        }
        for (work, rows) in finished {
            if rows.len() > 1 {
                let rows: Vec<_> = rows.iter().map(|row| row.named()).collect();
                doubled.push(format!("{work} was finished twice: {}", rows.join("; ")));
            }
        }
        let mut asking: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for pull in self.finished_pulls() {
            let of = |row: &&Row| {
                row.pull == Some(pull.number) || row.branch.as_deref() == Some(&pull.head)
            };
            match rows.iter().find(of).and_then(|row| row.work.as_deref()) {
                Some(work) => asking.entry(work).or_default().push(pull.number),
                None => doubled.push(format!("#{} of {} has no firing", pull.number, pull.head)),
            }
        }
        for (work, pulls) in asking.iter().filter(|(_, pulls)| pulls.len() > 1) {
            doubled.push(format!("{work} has the pull requests {pulls:?}"));
        }
        doubled
    }

    /// Those that ask to be merged, or were.
    pub fn finished_pulls(&self) -> impl Iterator<Item = &Pull> {
        let pulls = self.pulls.iter();
        pulls.filter(|pull| !pull.is_draft && pull.state != "closed")
    }

    /// Drafts that wait for somebody.
    pub fn open_drafts(&self) -> usize {
        let pulls = self.pulls.iter();
        pulls
            .filter(|pull| pull.is_draft && pull.state == "open")
            .count()
    }
}

impl Pull {
    fn of(pull: &Value) -> Option<Self> {
        Some(Self {
            number: pull["number"].as_u64()?,
            head: pull["head"].as_str()?.to_owned(),
            is_draft: pull["draft"].as_bool()?,
            state: pull["state"].as_str()?.to_lowercase(),
        })
    }
}

fn journals(dir: &Path) -> anyhow::Result<BTreeMap<String, Journal>> {
    let mut journals = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let text = fs::read_to_string(entry.path())?;
        let blobs = text.lines().filter_map(|line| line.split_once(' '));
        let journal = Journal {
            blobs: blobs.map(|(blob, _)| blob.to_owned()).collect(),
            is_done: text.lines().any(|line| line == "done"),
        };
        journals.insert(entry.file_name().to_string_lossy().into_owned(), journal);
    }
    Ok(journals)
}

fn reachable(repository: &Path) -> anyhow::Result<HashSet<String>> {
    let list = ["rev-list", "--objects", "--no-object-names", "--all"];
    Ok(git(repository, &list)?.lines().map(str::to_owned).collect())
}

fn git(repository: &Path, args: &[&str]) -> anyhow::Result<String> {
    let mut git = Command::new("git");
    output(git.arg("--git-dir").arg(repository).args(args))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, outcome: &str, pull: Option<u64>) -> Row {
        Row {
            id: id.into(),
            outcome: Some(outcome.into()),
            work: Some("issue:1".into()),
            branch: Some(format!("carson/{id}")),
            pushed: pull.map(|_| "c".into()),
            pull,
            ..Row::default()
        }
    }

    fn pull(number: u64, head: &str) -> Pull {
        Pull {
            number,
            head: head.into(),
            is_draft: false,
            state: "open".into(),
        }
    }

    #[test]
    fn what_is_nowhere_and_what_is_there_twice_is_found() {
        let journal = Journal {
            blobs: vec!["x".into()],
            is_done: true,
        };
        let mut works = Works {
            journals: [("one".to_owned(), journal)].into(),
            remote: ["x".to_owned(), "c".to_owned()].into(),
            branches: ["carson/one".to_owned(), "carson/two".to_owned()].into(),
            pulls: vec![pull(2, "carson/one")],
            ..Works::default()
        };
        let one = row("one", "OK", Some(2));
        assert_eq!(works.lost(std::slice::from_ref(&one)), Vec::<String>::new());
        assert_eq!(
            works.doubled(std::slice::from_ref(&one)),
            Vec::<String>::new()
        );

        works.pulls.push(pull(3, "carson/two"));
        let rows = [one, row("two", "CRASHED", None)];
        assert_eq!(works.doubled(&rows).len(), 1);
        let rows = [row("one", "OK", Some(2)), row("two", "OK", Some(3))];
        assert_eq!(works.doubled(&rows).len(), 2);

        works.remote.remove("x");
        assert_eq!(works.lost(&rows).len(), 1);
        works.kept.insert("x".into());
        assert_eq!(works.lost(&rows).len(), 1, "finished work is in the remote");
        assert_eq!(works.lost(&[row("one", "CRASHED", None)]).len(), 0);
        assert_eq!(works.lost(&[]).len(), 1);
    }
}
