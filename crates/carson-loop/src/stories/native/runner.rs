//! What a run holds, and what all its parts do with it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use carson_proc::Cancel;
use carson_redact::Redactor;

use super::areas::{Areas, Changed, Kind, Seen, Stays, Unseen};
use super::before::Before;
use super::error::StoriesError;
use super::event::{Outcome, What};
use super::journal::{Journal, LONGEST};
use super::others::Others;
use super::patch::patch;
use super::place::Place;
use super::refs::to_keep;
use super::repo::{Refs, Repo};
use super::told::Told;
use crate::caller::Caller;
use crate::executor_version::ExecutorVersion;
use crate::json_file::{Sync, write_bytes};
use crate::tree::{Contents, Missed, TreePath, read_plain};

/// Reasons that are written down of an attempt; the patch has the rest.
const REASONS: usize = 20;

/// Who runs it.
#[derive(Clone, Debug)]
pub struct Given {
    /// The process that asks: its environment is that of executors and promises.
    pub caller: Caller,
    /// Ends it early.
    pub cancel: Cancel,
}

/// An attempt that is over, before it is written down.
#[derive(Clone, Debug)]
pub(super) struct Over {
    pub story: String,
    pub attempt: u32,
    pub outcome: Outcome,
    pub why: Vec<String>,
    pub ended_by: String,
    pub took: std::time::Duration,
    pub changed: u64,
}

/// What a run holds.
pub(super) struct Runner<'r> {
    pub place: &'r Place,
    pub given: &'r Given,
    pub journal: Journal,
    pub areas: Areas,
    pub contents: Contents,
    pub repo: Option<Repo>,
    pub version: ExecutorVersion,
    /// How everything was when it was looked at last.
    pub seen: Option<Seen>,
    /// What of it cannot be looked at, and was told.
    pub unseen: BTreeSet<Unseen>,
    pub told: &'r mut dyn FnMut(Told),
}

impl Runner<'_> {
    /// The repository's refs.
    pub async fn refs(&self) -> Result<Option<Refs>, StoriesError> {
        match &self.repo {
            Some(repo) => Ok(Some(repo.refs().await?)),
            None => Ok(None),
        }
    }

    /// Makes everything again what it was before an attempt, keeps what it made, and writes down how it ended. Of our own
    /// files, those that came since and are `ours` stay.
    pub async fn undone(
        &mut self,
        before: &Before,
        after: Option<&Refs>,
        over: Over,
        mut ours: Vec<PathBuf>,
    ) -> Result<(), StoriesError> {
        self.place.clear()?;
        let changes = self.patch(&before.seen)?;
        // On a full disk there is room once it is undone.
        let mut patch = self.keep_patch(&changes, &over);
        ours.extend(patch.as_ref().ok().cloned().flatten());
        ours.extend(self.keep_plan(&over).ok().flatten());
        let kept = match (&before.refs, after) {
            (Some(before), Some(after)) => to_keep(before, after, &over.story, over.attempt),
            _ => Vec::new(),
        };
        if let (Some(repo), Some(was)) = (&self.repo, &before.refs) {
            repo.put_back(&was.dot_git)?;
        }
        // Who works in another work tree has gone on since the executor ended.
        let now = self.refs().await.ok().flatten();
        let others = before
            .refs
            .as_ref()
            .map(|was| Others::between(was, now.as_ref()));
        let others = others.unwrap_or_default();
        let stays = Stays {
            ours: &ours,
            others: &others,
            refs_are_set: false,
        };
        let (mut missed, seen) = self.all_back(before, &stays).await?;
        self.journal.reopen()?;
        self.journal.restore()?;
        if patch.is_err() {
            patch = self.keep_patch(&changes, &over);
        }
        missed.extend(self.refs_missed(before, &others).await);
        for (name, object) in kept.iter().filter(|_| missed.is_empty()) {
            if let Some(repo) = &self.repo {
                repo.keep(name, object).await?;
            }
        }
        self.seen = Some(seen);
        let (story, attempt) = (over.story.clone(), over.attempt);
        let kept = kept.into_iter().map(|(name, _)| name).collect();
        if let Err(error) = &patch {
            (self.told)(Told::Note(format!(
                "what attempt {attempt} of {story} changed is undone, and could not be kept: {error}"
            )));
        }
        self.write_down(
            over,
            patch.ok().flatten(),
            kept,
            self.seen.as_ref().and_then(Seen::tree_hash),
        )?;
        if missed.is_empty() {
            return Ok(());
        }
        Err(StoriesError::not_undone(&story, attempt, &missed))
    }

    /// Of git's files the objects are not kept: whether all that refs name is still there.
    async fn refs_missed(&self, before: &Before, others: &Others) -> Option<Missed> {
        let was = before.refs.as_ref()?;
        let now = self.refs().await.ok().flatten();
        let path = TreePath::new(".git").ok()?;
        let why = "its refs, or the objects that they name, are not what they were".to_owned();
        let is_same = now.is_some_and(|now| others.same(was, &now));
        (!is_same).then_some(Missed { path, why })
    }

    /// The plan as the attempt left it, or as a person edited it meanwhile, where it is not what it should be.
    fn keep_plan(&self, over: &Over) -> Result<Option<PathBuf>, StoriesError> {
        if self.journal.stands() {
            return Ok(None);
        }
        let Ok(Some(bytes)) = read_plain(&self.place.plan, LONGEST) else {
            return Ok(None);
        };
        self.file(&over.story, over.attempt, "plan.json", &bytes)
            .map(Some)
    }

    /// Writes down how an attempt ended.
    pub fn write_down(
        &mut self,
        over: Over,
        patch: Option<PathBuf>,
        kept: Vec<String>,
        tree_hash: Option<crate::digest::Digest>,
    ) -> Result<(), StoriesError> {
        let why = shortened(&over.why, &self.given.caller.redactor);
        (self.told)(Told::Attempt {
            id: over.story.clone(),
            attempt: over.attempt,
            outcome: over.outcome,
            why: why.clone(),
            changed: over.changed,
            took: over.took,
        });
        let relative = |path: PathBuf| {
            path.strip_prefix(&self.place.root)
                .unwrap_or(&path)
                .display()
                .to_string()
        };
        self.journal.add(What::AttemptEnded {
            story: over.story,
            attempt: over.attempt,
            outcome: over.outcome,
            why,
            ended_by: over.ended_by,
            took_ms: u64::try_from(over.took.as_millis()).unwrap_or(u64::MAX),
            changed: over.changed,
            tree_hash,
            patch: patch.map(relative),
            kept,
        })
    }

    /// How many files of the tree are not what they were.
    pub fn changed_since(&mut self, before: &Seen) -> Result<u64, StoriesError> {
        let trees = self.trees_since(before)?;
        let changes = trees.iter().flat_map(|tree| &tree.changes);
        Ok(changes.filter(|change| !change.is_of_dirs()).count() as u64)
    }

    /// What an attempt changed in the tree, as a text.
    fn patch(&mut self, before: &Seen) -> Result<String, StoriesError> {
        let trees = self.trees_since(before)?;
        let trees = trees.iter();
        Ok(trees
            .map(|tree| patch(&tree.root, &self.contents, &tree.changes))
            .collect())
    }

    fn trees_since(&mut self, before: &Seen) -> Result<Vec<Changed>, StoriesError> {
        let after = self
            .areas
            .look(Some(before), &mut self.contents, &[], None)?;
        let mut changed = self.areas.changes(before, &after);
        changed.retain(|area| area.kind == Kind::Tree);
        Ok(changed)
    }

    /// The same as a file; none where it changed nothing.
    fn keep_patch(&self, text: &str, over: &Over) -> Result<Option<PathBuf>, StoriesError> {
        if text.is_empty() {
            return Ok(None);
        }
        self.file(&over.story, over.attempt, "patch", text.as_bytes())
            .map(Some)
    }

    /// Writes a file of an attempt, without secrets.
    pub fn file(
        &self,
        story: &str,
        attempt: u32,
        kind: &str,
        bytes: &[u8],
    ) -> Result<PathBuf, StoriesError> {
        self.place.make()?;
        let path = self.place.new_file(story, attempt, kind);
        let bytes = self.given.caller.redactor.redact_bytes(bytes);
        write_bytes(&path, &bytes, Sync::Later).map_err(StoriesError::io(&path))?;
        Ok(path)
    }
}

/// The first reasons, and how many more there are.
fn shortened(why: &[String], redactor: &Redactor) -> Vec<String> {
    let mut short: Vec<String> = why
        .iter()
        .take(REASONS)
        .map(|one| redactor.redact(one).into_owned())
        .collect();
    if why.len() > REASONS {
        short.push(format!("and {} more", why.len() - REASONS));
    }
    short
}
