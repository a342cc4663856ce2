//! One attempt at a story: one call of the executor, what it did held against what it may, the promise, and the way back.

use std::ffi::OsString;
use std::fs::File;
use std::time::Duration;

use super::areas::{Kind, Seen, Unseen};
use super::before::Before;
use super::did::Did;
use super::error::StoriesError;
use super::event::{Outcome, What};
use super::judge::Allowed;
use super::made::ToMake;
use super::promise::{Answer, Promise};
use super::prompt::prompt;
use super::runner::{Over, Runner};
use super::settings::Settings;
use super::told::Told;
use super::written::Story;
use crate::executor::{Call, How};
use crate::output::Output;
use crate::stories::fill_in::fill_in;
use crate::tree::TreeError;
use crate::words::Words;

/// The variable by which what a run started is found.
pub(super) const RUN: &str = "CARSON_STORIES_RUN";

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
        let Some(mut before) = self.look_before().await? else {
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
        self.write_before(&mut before, &story.id, number)?;
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
                number,
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
            changed: did.files(),
        };
        self.end(before, did, over, &output).await?;
        Ok(outcome)
    }

    /// How everything is; `None` when somebody asked to stop meanwhile.
    async fn look_before(&mut self) -> Result<Option<Before>, StoriesError> {
        const ALL: [Kind; 3] = [Kind::Tree, Kind::Git, Kind::Own];
        let cancel = Some(&self.given.cancel);
        let seen = match self
            .areas
            .look(self.seen.as_ref(), &mut self.contents, &ALL, cancel)
        {
            Err(TreeError::Cancelled) => return Ok(None),
            seen => seen?,
        };
        self.tell_unseen(&seen);
        let refs = self.refs().await?;
        Ok(Some(Before { seen, refs }))
    }

    /// Says once what cannot be looked at.
    fn tell_unseen(&mut self, seen: &Seen) {
        for one in self.areas.unseen(seen) {
            let Unseen {
                shown,
                why,
                is_file,
            } = &one;
            let what = match is_file {
                true => "a change of it is seen by its times alone, and is not put back",
                false => "a change of what is in it is not seen",
            };
            if self.unseen.insert(one.clone()) {
                (self.told)(Told::Note(format!("{shown}: {why}: {what}")));
            }
        }
    }

    /// Writes down, on the disk, all that the next run needs to undo this attempt, before anything can change it.
    fn write_before(
        &mut self,
        before: &mut Before,
        story: &str,
        attempt: u32,
    ) -> Result<(), StoriesError> {
        self.areas
            .look_at_own_again(&mut before.seen, &mut self.contents)?;
        let files = self.contents.files();
        let synced = files.and_then(|files| files.iter().try_for_each(File::sync_data));
        synced.map_err(StoriesError::io(&self.place.contents()))?;
        before.write(&self.place.before(), story, attempt)
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

    #[expect(
        clippy::too_many_arguments,
        reason = "all that an attempt is judged by"
    )]
    async fn judged(
        &mut self,
        story: &Story,
        number: u32,
        settings: &Settings,
        call: &Call<'_>,
        allowed: &Allowed,
        to_make: &ToMake,
        did: &Did,
        output: &mut Output,
    ) -> Result<(Outcome, Vec<String>), StoriesError> {
        // What was half done when it was stopped is nobody's fault.
        if did.ran.how == How::Stopped {
            return Ok((Outcome::Interrupted, vec!["the run was stopped".to_owned()]));
        }
        if !did.violations.is_empty() {
            let why = did.violations.iter().map(ToString::to_string).collect();
            return Ok((Outcome::OutOfScope, why));
        }
        match did.ran.how {
            How::Exited(0) => {}
            How::TimedOut => return Ok((Outcome::TimedOut, vec![did.ran.how.to_string()])),
            how if did.ran.unable().is_some() => {
                let said = did.ran.output.text();
                let said = said.trim_end().lines().next_back().unwrap_or_default();
                return Ok((Outcome::Unable, vec![format!("{how}: {said}")]));
            }
            how => {
                return Ok((
                    Outcome::ToolFailed,
                    vec![format!("the executor ended with {how}")],
                ));
            }
        }
        let changes: Vec<_> = did.tree().cloned().collect();
        let missing = to_make.missing(&self.place.root, &changes, |path| did.after.has(path));
        if !missing.is_empty() {
            let why = missing
                .iter()
                .map(|path| format!("{} was not created", path.display()));
            return Ok((Outcome::Missing, why.collect()));
        }
        let Some(line) = &story.promise else {
            return Ok((Outcome::Passed, self.not_seen(&did.after)));
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
        self.undo_promise((&story.id, number), did, allowed).await?;
        Ok(match answer {
            Answer::Held => (Outcome::Passed, self.not_seen(&did.after)),
            Answer::Failed(why) => (Outcome::PromiseFailed, vec![why]),
            Answer::Stopped => (Outcome::Interrupted, vec!["the run was stopped".to_owned()]),
        })
    }

    /// What of an attempt that passed nobody has seen.
    fn not_seen(&self, after: &Seen) -> Vec<String> {
        let unseen = self.areas.unseen(after).into_iter();
        unseen
            .map(|one| format!("{} was not looked at: {}", one.shown, one.why))
            .collect()
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
            _ => {
                self.undone(&before, did.refs.as_ref(), over, Vec::new())
                    .await
            }
        };
        if done.is_ok() {
            Before::forget(&self.place.before());
        }
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

/// How long an attempt took, for people.
#[must_use]
pub fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
