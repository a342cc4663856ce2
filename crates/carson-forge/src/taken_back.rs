//! What takes back what a firing said, and what people said beside it. Only our own words are taken back: they are
//! found by the first line that people do not see.

use carson_core::FiringId;

use crate::error::ForgeError;
use crate::forge::Forge;
use crate::marks;
use crate::pull_words::Review;
use crate::words::Comment;

/// What stands in a review that was taken back.
const WITHDRAWN: &str = "Taken back by the operator.";

impl Forge {
    /// The comments of a firing on an issue or a pull request, oldest first.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn comments_of(
        &self,
        number: u64,
        firing: FiringId,
    ) -> Result<Vec<Comment>, ForgeError> {
        let me = self.me().await?;
        let mut comments = self.comments(number).await?;
        comments.retain(|comment| is_ours(me, &comment.author, &comment.body, firing));
        Ok(comments)
    }

    /// The answers of a firing in the threads of a pull request, each with its thread.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn replies_of(
        &self,
        number: u64,
        firing: FiringId,
    ) -> Result<Vec<(String, Comment)>, ForgeError> {
        let me = self.me().await?;
        let threads = self.review_threads(number).await?.into_iter();
        let replies = threads.flat_map(|thread| {
            let id = thread.id;
            let comments = thread.comments.into_iter();
            comments.map(move |comment| (id.clone(), comment))
        });
        let ours = replies.filter(|(_, one)| is_ours(me, &one.author, &one.body, firing));
        Ok(ours.collect())
    }

    /// The reviews of a firing, oldest first.
    ///
    /// # Errors
    /// When the pull request does not exist or the forge does not answer.
    pub async fn reviews_of(
        &self,
        number: u64,
        firing: FiringId,
    ) -> Result<Vec<Review>, ForgeError> {
        let me = self.me().await?;
        let mut reviews = self.reviews(number).await?;
        reviews.retain(|review| is_ours(me, &review.author, &review.body, firing));
        Ok(reviews)
    }

    /// What people said on an issue or a pull request, oldest first. What our own account said without our first
    /// line a person said who has the same one; bots are none.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn comments_of_people(&self, number: u64) -> Result<Vec<Comment>, ForgeError> {
        let me = self.me().await?;
        let mut comments = self.comments(number).await?;
        comments.retain(|one| is_a_person_s(me, &one.author, &one.body));
        Ok(comments)
    }

    /// Whether people reviewed a pull request, or said something about a place of it.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn has_reviews_of_people(&self, number: u64) -> Result<bool, ForgeError> {
        let me = self.me().await?;
        let is_theirs = |one: &Review| {
            one.body.trim() != WITHDRAWN && is_a_person_s(me, &one.author, &one.body)
        };
        if or_none(self.reviews(number).await)?.iter().any(is_theirs) {
            return Ok(true);
        }
        let threads = or_none(self.review_threads(number).await)?;
        let mut said = threads.iter().flat_map(|thread| &thread.comments);
        Ok(said.any(|one| is_a_person_s(me, &one.author, &one.body)))
    }

    /// Removes a comment. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the forge refuses or does not answer.
    pub async fn remove_comment(&self, number: u64, comment: u64) -> Result<(), ForgeError> {
        self.0.remove_comment(number, comment).await
    }

    /// Removes an answer in a thread. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the forge refuses or does not answer.
    pub async fn remove_reply(
        &self,
        number: u64,
        thread: &str,
        reply: u64,
    ) -> Result<(), ForgeError> {
        self.0.remove_reply(number, thread, reply).await
    }

    /// Takes a review of ours back: it stays, and says nothing of any commit any more.
    ///
    /// # Errors
    /// When the forge refuses or does not answer.
    pub async fn withdraw_review(&self, number: u64, review: u64) -> Result<(), ForgeError> {
        self.0.edit_review(number, review, WITHDRAWN).await
    }

    /// Opens a closed pull request again. Repeating it changes nothing.
    ///
    /// # Errors
    /// When its branch is gone, or the forge refuses or does not answer.
    pub async fn reopen_pull(&self, number: u64) -> Result<(), ForgeError> {
        self.0.reopen_pull(number).await
    }
}

/// Anybody can write what looks like a line of ours.
fn is_ours(me: &str, author: &str, body: &str, firing: FiringId) -> bool {
    author.eq_ignore_ascii_case(me) && marks::is_of_firing(body, firing)
}

fn is_a_person_s(me: &str, author: &str, body: &str) -> bool {
    let is_ours = author.eq_ignore_ascii_case(me);
    !(is_ours && marks::is_marked(body)) && (is_ours || !author.ends_with("[bot]"))
}

/// Where a forge has none of that, nobody wrote any.
fn or_none<T>(found: Result<Vec<T>, ForgeError>) -> Result<Vec<T>, ForgeError> {
    match found {
        Err(ForgeError::Lacks { .. }) => Ok(Vec::new()),
        found => found,
    }
}
