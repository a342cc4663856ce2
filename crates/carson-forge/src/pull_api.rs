//! What a forge can do with a pull request beyond opening and closing it, and what takes that back.
//!
//! A forge that lacks a verb leaves it out: whoever asks is told so, and can do without it.

use crate::answer::Answer;
use crate::error::ForgeError;
use crate::pull_words::{
    ChangedFile, CheckRun, Committed, Fate, Head, Linked, Links, Merge, Merged, Review, Thread,
};

fn lacks<'a, T: Send + 'a>(verb: &'static str) -> Answer<'a, T> {
    Box::pin(std::future::ready(Err(ForgeError::Lacks { verb })))
}

/// Verbs of pull requests, reviews and checks. Lists are whole or an error: what is left out may be
/// the objection that counts.
pub trait PullApi {
    /// Makes a draft ready for review; what is so already is no error.
    fn ready_pull(&self, number: u64) -> Answer<'_, ()> {
        let _ = number;
        lacks("drafts")
    }

    /// What a pull request offers now.
    fn pull_head(&self, number: u64) -> Answer<'_, Head> {
        let _ = number;
        lacks("the head of a pull request")
    }

    /// Merges a pull request; where the forge holds no branches, notes that somebody did. What is so
    /// already is no error, and another commit than the expected one is [`ForgeError::HeadMoved`].
    fn merge_pull<'a>(&'a self, number: u64, merge: &'a Merge) -> Answer<'a, ()>;

    /// The reviews of a pull request, oldest first.
    fn reviews(&self, number: u64) -> Answer<'_, Vec<Review>> {
        let _ = number;
        lacks("reviews")
    }

    /// Says what we think of a commit of a pull request, to the letter, and neither approves nor
    /// objects: that is people's.
    fn review<'a>(&'a self, number: u64, commit: &'a str, body: &'a str) -> Answer<'a, Review> {
        let _ = (number, commit, body);
        lacks("reviews")
    }

    /// Gives a review of ours other words, to the letter: no forge takes one away.
    fn edit_review<'a>(&'a self, number: u64, review: u64, body: &'a str) -> Answer<'a, ()> {
        let _ = (number, review, body);
        lacks("other words for a review")
    }

    /// Removes a comment of an issue or a pull request; one that is gone is no error.
    fn remove_comment(&self, number: u64, comment: u64) -> Answer<'_, ()> {
        let _ = (number, comment);
        lacks("a way to remove a comment")
    }

    /// Removes an answer in a thread; one that is gone is no error.
    fn remove_reply<'a>(&'a self, number: u64, thread: &'a str, reply: u64) -> Answer<'a, ()> {
        let _ = (number, thread, reply);
        lacks("a way to remove an answer")
    }

    /// Opens a closed pull request again; what is so already is no error, and what was merged stays so.
    fn reopen_pull(&self, number: u64) -> Answer<'_, ()> {
        let _ = number;
        lacks("a way to open a pull request again")
    }

    /// What is said about places of a pull request, resolved or not.
    fn review_threads(&self, number: u64) -> Answer<'_, Vec<Thread>> {
        let _ = number;
        lacks("review threads")
    }

    /// Adds to a thread, to the letter.
    fn reply<'a>(&'a self, number: u64, thread: &'a str, body: &'a str) -> Answer<'a, ()> {
        let _ = (number, thread, body);
        lacks("review threads")
    }

    /// Settles a thread; what is so already is no error.
    fn resolve<'a>(&'a self, number: u64, thread: &'a str) -> Answer<'a, ()> {
        let _ = (number, thread);
        lacks("review threads")
    }

    /// What checks say of a commit: the newest run of each, in the order of their names.
    fn checks<'a>(&'a self, sha: &'a str) -> Answer<'a, Vec<CheckRun>> {
        let _ = sha;
        lacks("checks")
    }

    /// The end of a check's log, at most [`LOG_TAIL`] bytes; `None` when the forge keeps none of it.
    /// Programs of the repository wrote it.
    fn log_tail<'a>(&'a self, check: &'a CheckRun) -> Answer<'a, Option<String>> {
        let _ = check;
        lacks("logs of checks")
    }

    /// The commits of a pull request, the oldest first.
    fn commits(&self, number: u64) -> Answer<'_, Vec<Committed>> {
        let _ = number;
        lacks("the commits of a pull request")
    }

    /// The files that a pull request changes.
    fn changed_files(&self, number: u64) -> Answer<'_, Vec<ChangedFile>> {
        let _ = number;
        lacks("the files of a pull request")
    }

    /// What became of a pull request, by one question.
    fn fate(&self, number: u64) -> Answer<'_, Fate> {
        let _ = number;
        lacks("what became of a pull request")
    }

    /// The pull requests that were merged lately, as far as the forge tells when: what it knows without
    /// being asked for page after page.
    fn merged_lately(&self) -> Answer<'_, Vec<Merged>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// What has to be done before an issue, as the forge itself links them.
    fn blocked_by(&self, number: u64) -> Answer<'_, Vec<Linked>> {
        let _ = number;
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// What an issue is linked with; `None` when the forge knows of no links.
    fn links(&self, number: u64) -> Answer<'_, Option<Links>> {
        let _ = number;
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// Bytes of the end of a log.
pub const LOG_TAIL: usize = 64 * 1024;

/// The end of a text, at most [`LOG_TAIL`] bytes, from the beginning of a line where there is one.
pub(crate) fn tail(bytes: &[u8]) -> String {
    let Some(cut) = bytes.len().checked_sub(LOG_TAIL).filter(|cut| *cut > 0) else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    let end = &bytes[cut..];
    let line = end.iter().position(|byte| *byte == b'\n');
    let end = line.map_or(end, |at| &end[at + 1..]);
    String::from_utf8_lossy(end).into_owned()
}
