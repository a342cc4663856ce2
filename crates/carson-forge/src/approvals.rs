//! Approvals of what is ours, by people who write agreed words.

use std::ops::Range;

use chrono::{DateTime, Utc};

use crate::error::ForgeError;
use crate::forge::Forge;
use crate::people::Trust;
use crate::words::Comment;

impl Forge {
    /// Who approves an issue or a pull request of ours: the author of the first comment that was
    /// written in this time, by somebody whom `trust` has, and whose first line is these words and
    /// nothing else. A comment counts as it stands now. Blank words approve nothing.
    ///
    /// The fleet may write in the name of a person: what it writes itself begins with a mark, so that
    /// their own comments count.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn approval(
        &self,
        number: u64,
        words: &str,
        trust: &Trust,
        within: &Range<DateTime<Utc>>,
    ) -> Result<Option<String>, ForgeError> {
        let approves =
            |comment: &Comment| within.contains(&comment.created_at) && comment.says(words, trust);
        let mut comments = self.comments(number).await?.into_iter();
        Ok(comments.find(approves).map(|comment| comment.author))
    }
}
