//! Work that is no issue of a role's queue: what a role could take of it, and what it does not take.

use carson_core::work::{Background, WorkKey};
use carson_core::{Effect, Work};
use carson_home::Home;
use carson_home::halt::describe_error;

use crate::forge_text::one_line;
use crate::plan_at::StoryWork;
use crate::review_queue::QueueError;

/// What a role could take in a repository.
#[derive(Debug, Default)]
pub struct Candidates {
    /// The first that it may take; others are not looked at then.
    pub ready: Option<Candidate>,
    /// What it does not take, in its order.
    pub held: Vec<HeldCandidate>,
    /// Why nothing of it can be known: whoever owns the source is to mend it.
    pub amiss: Option<String>,
}

/// Work that a role may take.
#[derive(Debug)]
pub struct Candidate {
    /// Which.
    pub key: WorkKey,
    /// Its title, as its author wrote it.
    pub title: String,
    /// What else is said of it.
    pub body: String,
    /// Where a person finds it.
    pub url: String,
    /// The commit of a pull request that is to be judged.
    pub shown: Option<ShownPull>,
    /// What is wrong with a pull request that is to be mended, and the threads that say so.
    pub findings: Option<(String, Vec<String>)>,
    /// What is to be done, where that needs no session.
    pub decided: Option<Vec<Effect>>,
    /// The story that it is.
    pub(crate) story: Option<Box<StoryWork>>,
}

/// A pull request as a session sees it.
#[derive(Clone, Debug)]
pub struct ShownPull {
    /// Its branch.
    pub branch: String,
    /// The branch that it is for.
    pub base: String,
    /// Its newest commit.
    pub head: String,
}

/// Work that is not taken.
#[derive(Clone, Debug)]
pub struct HeldCandidate {
    /// Which.
    pub key: WorkKey,
    /// Why.
    pub why: String,
}

impl Candidates {
    /// What is wrong with one alone holds up no other.
    pub(super) fn judged<T>(
        &mut self,
        key: WorkKey,
        judged: Result<Result<T, String>, QueueError>,
    ) -> Result<Option<T>, QueueError> {
        match judged {
            Ok(Ok(found)) => return Ok(Some(found)),
            Ok(Err(why)) => self.hold(key, why),
            Err(QueueError::Forge(error)) if error.is_of_one() => {
                self.hold(key, describe_error(&error));
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    pub(super) fn hold(&mut self, key: WorkKey, why: impl Into<String>) {
        let why = why.into();
        self.held.push(HeldCandidate { key, why });
    }
}

impl Candidate {
    /// The work as sessions have it.
    pub(crate) fn work(&self, home: &Home) -> Work {
        Work {
            key: self.key,
            title: one_line(&home.redactor.redact(&self.title)),
            body: self.body.clone(),
            url: self.url.clone(),
            attempts: 0,
            background: Background::default(),
        }
    }
}
