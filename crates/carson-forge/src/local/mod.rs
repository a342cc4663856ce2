//! The local forge: files that people can read and edit.
//!
//! ```text
//! forge/<repo>/issues/0007.md              an issue
//! forge/<repo>/issues/0007.comments/0001.md   its comments
//! forge/<repo>/pulls/0008.md               a pull request
//! forge/<repo>/pulls/0008.reviews/0001.md  a review of it: state = "approved", commit, submitted_at
//! forge/<repo>/pulls/0008.threads/0001.md  a place of it (path, line), beside it 0001.comments/
//! forge/<repo>/checks/<commit>/build.md    what a program says of a commit; its log is the text
//! ```
//! Each file is TOML between two `+++` lines, then the text, to the letter. A Markdown file that
//! somebody drops into `issues/` without front matter becomes an issue: its first line is the
//! title. A comment without front matter is the operator's, whatever its file is called. What has
//! front matter that cannot be read is left out of lists and named beside them. Every write is atomic (a new file, synced, renamed) under one lock.
//!
//! All of this is the operator's own disk: whoever can write here can write anything, claims by
//! the author `carson` included, and a label is the operator's; nobody notes when it came. What comes from outside is only ever text behind the second `+++`
//! or a quoted value before it.
//!
//! That disk may be a network's and stop answering. No file is waited for longer than
//! [`PATIENCE`]: a verb runs on a thread of its own, which may hang for as long as the disk does.

mod file;
mod folder;
mod head;
mod pulls;
mod reviews;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use secrecy::SecretString;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

use crate::answer::Answer;
use crate::api::Api;
use crate::branches::Branches;
use crate::error::ForgeError;
use crate::forge::Forge;
use crate::opener::{Place, Spec};
use crate::standing::Standing;
use crate::words::{
    Comment, Issue, IssueEdit, Labelled, Listed, NewIssue, NewPull, Pull, PullState, State,
};
use folder::Folder;

/// How long one verb may take. Longer than a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(20);

/// Verbs that run at a time in this process. As many threads hang on a dead disk, and no more:
/// whoever comes after them is told after his own patience.
static CALLS: Semaphore = Semaphore::const_new(16);

/// The forge of one repository.
#[derive(Clone, Debug)]
pub struct LocalForge {
    folder: Folder,
    patience: Duration,
    /// Who knows the branches.
    branches: Option<Arc<dyn Branches>>,
}

/// The files in the home: nothing to set.
#[derive(Debug)]
pub(crate) struct LocalFiles;

impl Spec for LocalFiles {
    fn name(&self) -> &'static str {
        "local"
    }

    fn is_here(&self) -> bool {
        true
    }

    fn open(&self, place: &Place<'_>, _: Option<SecretString>) -> Result<Forge, ForgeError> {
        let branches = Some(place.branches.clone());
        Ok(Forge::of(LocalForge {
            branches,
            ..LocalForge::at(place.files.to_owned())
        }))
    }
}

/// The author of what Carson writes.
const ME: &str = "carson";

impl LocalForge {
    /// The forge in a directory; made at the first write.
    #[must_use]
    pub fn at(dir: PathBuf) -> Self {
        Self {
            folder: Folder::at(dir),
            patience: PATIENCE,
            branches: None,
        }
    }

    /// One verb, on a thread of its own and in time. The thread is nobody's to wait for: a runtime
    /// that ends does not hang with it.
    fn verb<'a, T, F>(&'a self, verb: F) -> Answer<'a, T>
    where
        T: Send + 'static,
        F: FnOnce(&Folder) -> Result<T, ForgeError> + Send + 'static,
    {
        let folder = self.folder.clone();
        let unavailable = move |detail: &str| ForgeError::Unavailable {
            detail: format!("{}: {detail}", self.folder.path().display()),
        };
        let answer = async move {
            let permit = CALLS.acquire().await;
            let (tell, told) = oneshot::channel();
            let ask = move || {
                let _permit = permit;
                // Nobody may be there any more to hear it.
                tell.send(verb(&folder)).ok();
            };
            let thread = thread::Builder::new().name("local-forge".into());
            let started = thread.spawn(ask);
            started.map_err(|error| unavailable(&error.to_string()))?;
            told.await
                .unwrap_or_else(|_| Err(unavailable("the thread that asked it ended")))
        };
        Box::pin(async move {
            let late = || format!("no answer from the disk within {:?}", self.patience);
            timeout(self.patience, answer)
                .await
                .unwrap_or_else(|_| Err(unavailable(&late())))
        })
    }
}

impl Api for LocalForge {
    fn me(&self) -> Answer<'_, &str> {
        Box::pin(async move { Ok(ME) })
    }

    fn examine(&self) -> Answer<'_, Standing> {
        self.verb(Folder::examine)
    }

    fn issues<'a>(&'a self, label: Option<&'a str>) -> Answer<'a, Listed<Issue>> {
        let label = label.map(str::to_owned);
        self.verb(move |folder| folder.issues(label.as_deref()))
    }

    fn issue(&self, number: u64) -> Answer<'_, Issue> {
        self.verb(move |folder| folder.issue(number))
    }

    fn create_issue<'a>(&'a self, new: &'a NewIssue) -> Answer<'a, Issue> {
        let new = new.clone();
        self.verb(move |folder| folder.create_issue(&new, head::operator()))
    }

    fn own_issues(&self) -> Answer<'_, Listed<Issue>> {
        self.verb(Folder::own_issues)
    }

    fn create_own_issue<'a>(&'a self, new: &'a NewIssue) -> Answer<'a, Issue> {
        let new = new.clone();
        self.verb(move |folder| folder.create_issue(&new, head::us()))
    }

    fn close_issue(&self, number: u64) -> Answer<'_, ()> {
        self.verb(move |folder| folder.set_state(number, State::Closed))
    }

    fn reopen_issue(&self, number: u64) -> Answer<'_, ()> {
        self.verb(move |folder| folder.set_state(number, State::Open))
    }

    fn edit_issue<'a>(&'a self, number: u64, edit: &'a IssueEdit) -> Answer<'a, ()> {
        let edit = edit.clone();
        self.verb(move |folder| folder.edit_issue(number, edit))
    }

    fn comments(&self, number: u64) -> Answer<'_, Vec<Comment>> {
        self.verb(move |folder| folder.comments(number))
    }

    fn comment<'a>(&'a self, number: u64, body: &'a str) -> Answer<'a, Comment> {
        let body = body.to_owned();
        self.verb(move |folder| folder.comment(number, &body))
    }

    fn set_labels<'a>(
        &'a self,
        number: u64,
        add: &'a [&'a str],
        remove: &'a [&'a str],
    ) -> Answer<'a, ()> {
        let owned = |labels: &[&str]| labels.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (add, remove) = (owned(add), owned(remove));
        self.verb(move |folder| folder.set_labels(number, &add, &remove))
    }

    fn labelled<'a>(&'a self, number: u64, label: &'a str) -> Answer<'a, Option<Labelled>> {
        let label = label.to_owned();
        self.verb(move |folder| folder.labelled(number, &label))
    }

    fn pulls(&self, open_only: bool) -> Answer<'_, Listed<Pull>> {
        self.verb(move |folder| folder.pulls(open_only))
    }

    fn pull(&self, number: u64) -> Answer<'_, Pull> {
        self.verb(move |folder| folder.pull(number))
    }

    fn pull_by_head<'a>(&'a self, branch: &'a str) -> Answer<'a, Option<Pull>> {
        let branch = branch.to_owned();
        self.verb(move |folder| folder.pull_by_head(&branch))
    }

    fn create_pull<'a>(&'a self, new: &'a NewPull) -> Answer<'a, Pull> {
        let new = new.clone();
        self.verb(move |folder| folder.create_pull(&new))
    }

    fn close_pull(&self, number: u64) -> Answer<'_, ()> {
        self.verb(move |folder| folder.end_pull(number, PullState::Closed))
    }

    /// It is files; the branches are git's.
    fn holds_branches(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod crew_tests;
#[cfg(test)]
mod hanging_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
