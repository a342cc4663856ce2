//! Issues that are made once.

use crate::error::ForgeError;
use crate::forge::Forge;
use crate::marks;
use crate::words::{Issue, Listed, NewIssue, State, Unread};

/// A key, and which issues with it count.
type Wanted<'a> = (&'a str, &'a (dyn Fn(&Issue) -> bool + Sync));

fn is_open(issue: &Issue) -> bool {
    issue.state == State::Open
}

impl Forge {
    /// Makes an issue of our own, once: a repetition with the same `key` finds it, open or closed,
    /// also when the forge's first answer was lost. It is found by the first line of its text, which
    /// people do not see, among what we made in the last days.
    ///
    /// # Errors
    /// When the forge refuses or does not answer, or when an issue cannot be read that may be the one.
    pub async fn create_issue_once(&self, key: &str, new: &NewIssue) -> Result<Issue, ForgeError> {
        self.create_with((key, &|_| true), new).await
    }

    /// Makes an issue of our own about this, unless one of the last days is open.
    ///
    /// # Errors
    /// When the forge refuses or does not answer, or when an issue cannot be read that may be the one.
    pub async fn create_issue_about(
        &self,
        topic: &str,
        new: &NewIssue,
    ) -> Result<Issue, ForgeError> {
        self.create_with((topic, &is_open), new).await
    }

    /// Our own open issue about this.
    ///
    /// # Errors
    /// When the forge does not answer, or when an issue cannot be read that may be the one.
    pub async fn open_issue_about(&self, topic: &str) -> Result<Option<Issue>, ForgeError> {
        self.made_with((topic, &is_open)).await
    }

    async fn create_with(&self, one: Wanted<'_>, new: &NewIssue) -> Result<Issue, ForgeError> {
        if let Some(known) = self.made_with(one).await? {
            return Ok(known);
        }
        let new = NewIssue {
            body: marks::note_text(one.0, &new.body),
            ..new.clone()
        };
        match self.0.create_own_issue(&new).await {
            Err(error @ ForgeError::Unavailable { .. }) => {
                let known = self.made_with(one).await.ok().flatten();
                known.ok_or(error)
            }
            done => done,
        }
    }

    /// Our own issue with this key. Anybody can write what looks like one.
    async fn made_with(&self, (key, counts): Wanted<'_>) -> Result<Option<Issue>, ForgeError> {
        let me = self.me().await?;
        let first = marks::note_line(key);
        let Listed { found, unread } = self.0.own_issues().await?;
        let is_it = |issue: &Issue| {
            counts(issue)
                && issue.author.eq_ignore_ascii_case(me)
                && issue.body.lines().next() == Some(first.as_str())
        };
        let known = found.into_iter().find(is_it);
        match (known, unread.into_iter().next()) {
            // It may be the one: better none than two.
            (None, Some(Unread { place, why })) => Err(ForgeError::Record { place, why }),
            (known, _) => Ok(known),
        }
    }
}
