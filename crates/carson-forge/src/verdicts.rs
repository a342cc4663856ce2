//! Verdicts: what our own reviews say of a commit, in a first line that Carson itself writes and reads.
//! What stands below it a model wrote, for people; nothing else reads it.

use crate::error::ForgeError;
use crate::forge::Forge;
use crate::marks::{self, ReviewMark};
use crate::pull_words::{NewReview, Review, ReviewState, ShipVerdict};

impl Forge {
    /// Says what we think of a commit of a pull request, once: a repetition with the same `key` finds
    /// the review, whatever it says, also when the forge's first answer was lost. It is a comment:
    /// approvals in the forge's sense are people's.
    ///
    /// # Errors
    /// [`ForgeError::HeadMoved`] when the forge does not take that commit any more;
    /// [`ForgeError::Invalid`] when it is no whole name of one; when the pull request does not exist
    /// or the forge does not answer.
    pub async fn review_once(
        &self,
        number: u64,
        key: &str,
        review: &NewReview,
    ) -> Result<Review, ForgeError> {
        if !marks::is_commit(&review.head) {
            let message = format!("{:?} is no whole name of a commit", review.head);
            return Err(ForgeError::Invalid { message });
        }
        if let Some(known) = self.reviewed_with(number, key).await? {
            return Ok(known);
        }
        let text = marks::review_text(key, review);
        match self.0.review(number, &review.head, &text).await {
            Err(error @ ForgeError::Unavailable { .. }) => {
                let known = self.reviewed_with(number, key).await.ok().flatten();
                known.ok_or(error)
            }
            done => done,
        }
    }

    async fn reviewed_with(&self, number: u64, key: &str) -> Result<Option<Review>, ForgeError> {
        let is_it =
            |review: &Review| ReviewMark::read(&review.body).is_some_and(|mark| mark.is_of(key));
        Ok(self.own_reviews(number).await?.into_iter().find(is_it))
    }

    /// What our own reviews say of the commits of a pull request, oldest first. A mark of anybody else
    /// does not count.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn verdicts(&self, number: u64) -> Result<Vec<ShipVerdict>, ForgeError> {
        let ours = self.own_reviews(number).await?;
        Ok(ours.iter().filter_map(verdict).collect())
    }

    async fn own_reviews(&self, number: u64) -> Result<Vec<Review>, ForgeError> {
        let me = self.me().await?;
        let mut reviews = self.reviews(number).await?;
        reviews.retain(|review| review.author.eq_ignore_ascii_case(me));
        Ok(reviews)
    }
}

/// `None` for a review that is no verdict, or was taken back.
fn verdict(review: &Review) -> Option<ShipVerdict> {
    let mark = ReviewMark::read(&review.body)?;
    // Whoever may write in a repository may edit our text, but not what the forge knows of it.
    let bound = review.commit.as_deref();
    let is_bound = bound.is_none_or(|commit| commit.eq_ignore_ascii_case(mark.head));
    (is_bound && review.state == ReviewState::Commented).then(|| ShipVerdict {
        head: mark.head.to_owned(),
        ship: mark.ship,
        at: review.submitted_at,
    })
}
