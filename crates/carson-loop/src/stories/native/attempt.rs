//! One attempt at a story: one call of the executor, what it did held against what it may, the promise, and the way back.

use std::ffi::OsString;
use std::time::Duration;

use super::areas::{Changed, Kind, Seen};
use super::before::Before;
use super::error::StoriesError;
use super::event::{Outcome, What};
use super::judge::{Allowed, Violation};
use super::made::ToMake;
use super::promise::{Answer, Promise};
use super::prompt::prompt;
use super::refs;
use super::repo::{Refs, is_written_by_commits};
use super::runner::{Over, Runner};
use super::settings::Settings;
use super::told::Told;
use super::written::Story;
use crate::executor::{Call, How, Ran, run};
use crate::output::Output;
use crate::stories::fill_in::fill_in;
use crate::tree::TreeError;
use crate::words::Words;

/// The variable by which what a run started is found.
pub(super) const RUN: &str = "CARSON_STORIES_RUN";

/// What an executor did.
struct Did {
    ran: Ran,
    after: Seen,
    changed: Vec<Changed>,
    refs: Option<Refs>,
    violations: Vec<Violation>,
}

impl Runner<'_> {
    /// Makes one attempt; how it ended.
    pub async fn attempt(
        &mut self,
        story: &Story,
        settings: &Settings,
        run: &str,
    ) -> Result<Outcome, StoriesError> {
        let number = story.attempts.saturating_add(1);
        let prompt = prompt(story, settings.policy.as_deref());
        let prompt_file = self.file(&story.id, number, "prompt.md", prompt.text.as_bytes())?;
        let Some(mut before) = self.look_before(&story.id, number).await? else {
            return Ok(Outcome::Interrupted);
        };
        let line = fill_in(&settings.executor, "{prompt_file}", &prompt_file);
        let words = Words::line(&line).map_err(|_| StoriesError::NoExecutor)?;
        let root = self.place.root.clone();
        let executor_version = self.version.of(&words, &root, &self.given.caller).await;
        self.journal.add(What::AttemptBegan {
            story: story.id.clone(),
            attempt: number,
            prompt_hash: prompt.hash,
            tree_hash: before.seen.tree_hash().unwrap_or(prompt.hash),
            head: before.refs.as_ref().and_then(|refs| refs.commit.clone()),
            executor_version,
        })?;
        self.areas
            .look_at_own_again(&mut before.seen, &mut self.contents)?;
        let allowed = allowed(story)?;
        let to_make = ToMake::look(&self.place.root, allowed.created());
        let env = self.env(story, number, run, &prompt_file);
        let call = Call {
            words: &words,
            cwd: &root,
            env,
            stdin: prompt.text.into_bytes(),
            timeout: settings.timeout,
            walls: None,
        };
        let did = self.executed(&call, &before, &allowed).await?;
        let mut output = did.ran.output.clone();
        let (outcome, why) = self
            .judged(
                story,
                settings,
                &call,
                &allowed,
                &to_make,
                &did,
                &mut output,
            )
            .await?;
        let over = Over {
            story: story.id.clone(),
            attempt: number,
            outcome,
            why,
            ended_by: did.ran.how.to_string(),
            took: did.ran.elapsed,
            changed: files(&did.changed),
        };
        self.end(before, did, over, &output).await?;
        Ok(outcome)
    }

    /// How everything is; `None` when somebody asked to stop meanwhile.
    async fn look_before(
        &mut self,
        story: &str,
        attempt: u32,
    ) -> Result<Option<Before>, StoriesError> {
        const ALL: [Kind; 3] = [Kind::Tree, Kind::Git, Kind::Own];
        let cancel = Some(&self.given.cancel);
        let seen = match self
            .areas
            .look(self.seen.as_ref(), &mut self.contents, &ALL, cancel)
        {
            Err(TreeError::Cancelled) => return Ok(None),
            seen => seen?,
        };
        let refs = self.refs().await?;
        let before = Before { seen, refs };
        before.write(&self.place.before(), story, attempt)?;
        Ok(Some(before))
    }

    fn env(
        &self,
        story: &Story,
        attempt: u32,
        run: &str,
        prompt: &std::path::Path,
    ) -> Vec<(OsString, OsString)> {
        let mut env = self.given.caller.env.clone();
        let own: [(&str, OsString); 4] = [
            (RUN, run.into()),
            ("CARSON_STORY_ID", story.id.clone().into()),
            ("CARSON_STORY_ATTEMPT", attempt.to_string().into()),
            ("CARSON_STORY_PROMPT", prompt.into()),
        ];
        env.extend(own.map(|(name, value)| (name.into(), value)));
        env
    }

    /// Runs the executor, and looks at what it did.
    async fn executed(
        &mut self,
        call: &Call<'_>,
        before: &Before,
        allowed: &Allowed,
    ) -> Result<Did, StoriesError> {
        let ran = run(call, &self.given.cancel, |_| {}).await;
        // Of git's and our own files what is there now may have to be put back after the promise.
        let kept = [Kind::Git, Kind::Own];
        let after = self
            .areas
            .look(Some(&before.seen), &mut self.contents, &kept, None)?;
        let changed = self.areas.changes(&before.seen, &after);
        let mut violations = self.violations(&changed, allowed);
        // Before git is asked, nothing of it is what the executor made it.
        for area in changed.iter().filter(|area| area.kind == Kind::Git) {
            let _ = area
                .only(|change| !is_written_by_commits(&change.path))
                .undo(&self.contents)?;
        }
        let refs = match self.refs().await {
            Ok(refs) => refs,
            Err(StoriesError::Git { .. } | StoriesError::Io { .. }) => {
                violations.push(Violation::Switched(
                    "no repository is there any more".to_owned(),
                ));
                None
            }
            Err(error) => return Err(error),
        };
        if let (Some(repo), Some(old), Some(new)) = (&self.repo, &before.refs, &refs) {
            let plan = self.place.plan_in_tree();
            violations.extend(refs::violations(repo, old, new, allowed, plan.as_ref()).await?);
        }
        violations.dedup();
        Ok(Did {
            ran,
            after,
            changed,
            refs,
            violations,
        })
    }

    /// What of these changes may not be.
    fn violations(&self, changed: &[Changed], allowed: &Allowed) -> Vec<Violation> {
        let mut found = Vec::new();
        for area in changed {
            match area.kind {
                Kind::Tree => found.extend(allowed.violations(&area.changes)),
                Kind::Git => {
                    let others = area.changes.iter().filter(|change| !change.is_of_dirs());
                    let others = others.filter(|change| !is_written_by_commits(&change.path));
                    found.extend(others.map(|change| Violation::Git(change.path.clone())));
                }
                Kind::Own => found.extend(
                    area.changes
                        .iter()
                        .map(|change| Violation::Own(change.path.clone())),
                ),
            }
        }
        if std::fs::read(&self.place.plan).ok().as_deref() != Some(self.journal.bytes()) {
            found.push(Violation::Plan);
        }
        found
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "all that an attempt is judged by"
    )]
    async fn judged(
        &mut self,
        story: &Story,
        settings: &Settings,
        call: &Call<'_>,
        allowed: &Allowed,
        to_make: &ToMake,
        did: &Did,
        output: &mut Output,
    ) -> Result<(Outcome, Vec<String>), StoriesError> {
        if !did.violations.is_empty() {
            let why = did.violations.iter().map(ToString::to_string).collect();
            return Ok((Outcome::OutOfScope, why));
        }
        match did.ran.how {
            How::Exited(0) => {}
            How::Stopped => {
                return Ok((Outcome::Interrupted, vec!["the run was stopped".to_owned()]));
            }
            How::TimedOut => return Ok((Outcome::TimedOut, vec![did.ran.how.to_string()])),
            how if did.ran.unable().is_some() => {
                return Ok((Outcome::Unable, vec![how.to_string()]));
            }
            how => {
                return Ok((
                    Outcome::ToolFailed,
                    vec![format!("the executor ended with {how}")],
                ));
            }
        }
        let changes = did.changed.iter().filter(|area| area.kind == Kind::Tree);
        let changes: Vec<_> = changes
            .flat_map(|area| area.changes.iter().cloned())
            .collect();
        let missing = to_make.missing(&self.place.root, &changes, |path| did.after.has(path));
        if !missing.is_empty() {
            let why = missing
                .iter()
                .map(|path| format!("{} was not created", path.display()));
            return Ok((Outcome::Missing, why.collect()));
        }
        let Some(line) = &story.promise else {
            return Ok((Outcome::Passed, Vec::new()));
        };
        let promise = Promise {
            line,
            runs: settings.verify_runs,
            timeout: settings.verify_timeout,
        };
        let (answer, ran) = promise.ask(call, &self.given.cancel).await;
        if let Some(ran) = ran {
            output.push(b"\n--- the promise ---\n");
            output.push(&ran.output.bytes());
        }
        self.undo_promise(&did.after, allowed)?;
        Ok(match answer {
            Answer::Held => (Outcome::Passed, Vec::new()),
            Answer::Failed(why) => (Outcome::PromiseFailed, vec![why]),
            Answer::Stopped => (Outcome::Interrupted, vec!["the run was stopped".to_owned()]),
        })
    }

    /// A promise may run what the executor wrote: what it changed where the executor may not is undone.
    fn undo_promise(&mut self, after: &Seen, allowed: &Allowed) -> Result<(), StoriesError> {
        let now = self
            .areas
            .look(Some(after), &mut self.contents, &[], None)?;
        let mut undone = Vec::new();
        for area in self.areas.changes(after, &now) {
            let outside = match area.kind {
                Kind::Tree => {
                    area.only(|change| !allowed.violations(std::slice::from_ref(change)).is_empty())
                }
                Kind::Git | Kind::Own => area.only(|change| !change.is_of_dirs()),
            };
            let told = outside
                .changes
                .iter()
                .filter(|change| area.kind == Kind::Tree || !is_written_by_commits(&change.path));
            undone.extend(told.map(|change| change.path.to_string()));
            let _ = outside.undo(&self.contents)?;
        }
        self.journal.reopen()?;
        self.journal.restore()?;
        if !undone.is_empty() {
            let (count, first) = (undone.len(), &undone[0]);
            (self.told)(Told::Note(format!(
                "the promise changed {count} files out of scope, which were put back: {first}, …"
            )));
        }
        Ok(())
    }

    /// Writes down how it ended; what is not passed is undone.
    async fn end(
        &mut self,
        before: Before,
        did: Did,
        over: Over,
        output: &Output,
    ) -> Result<(), StoriesError> {
        let (story, attempt) = (over.story.clone(), over.attempt);
        let done = match over.outcome {
            Outcome::Passed => {
                let seen = self
                    .areas
                    .look(Some(&did.after), &mut self.contents, &[], None)?;
                let hash = seen.tree_hash();
                self.seen = Some(seen);
                self.write_down(over, None, Vec::new(), hash)
            }
            _ => self.undone(&before, did.refs.as_ref(), over).await,
        };
        Before::forget(&self.place.before());
        self.file(&story, attempt, "output", &output.bytes())?;
        done
    }
}

fn allowed(story: &Story) -> Result<Allowed, StoriesError> {
    // The plan was checked, so that every pattern can be read.
    Allowed::of(story).map_err(|bad| StoriesError::Unable {
        what: format!("the scope of {}", story.id),
        said: bad.to_string(),
    })
}

fn files(changed: &[Changed]) -> u64 {
    let trees = changed.iter().filter(|area| area.kind == Kind::Tree);
    trees
        .flat_map(|area| &area.changes)
        .filter(|change| !change.is_of_dirs())
        .count() as u64
}

/// How long an attempt took, for people.
#[must_use]
pub fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
