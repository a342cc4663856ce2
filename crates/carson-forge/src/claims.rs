//! Claims: the earliest living one wins.

use std::collections::BTreeSet;
use std::time::Duration;

use carson_core::effect::Release;
use carson_core::{FiringId, Page};
use tokio::time::sleep;
use tracing::warn;

use crate::error::ForgeError;
use crate::forge::{DO_NOT_PICKUP, FOR_PEOPLE, Forge, HELD, IN_FLIGHT, NEEDS_HUMAN, PLAN_APPROVED};
use crate::marks::{self, Claim, Mark, claim_text, release_text, unreleased};
use crate::people::Trust;
use crate::queue::is_ready;
use crate::words::is_same_label;
use crate::words::{Comment, Issue};

/// How often a claim of ours is looked for before it counts as lost.
const LOOKS: u32 = 5;
/// Time before the second look; it doubles.
const PAUSE: Duration = Duration::from_millis(200);

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The work is ours.
    Won,
    /// An earlier claim lives.
    Lost {
        /// Whose.
        by: FiringId,
    },
    /// The forge did not show our own claim when it was read back.
    Unseen,
    /// The issue is not ready any more.
    NotReady,
}

/// Why a claim was not confirmed.
#[derive(Debug)]
enum Unconfirmed {
    /// The issue is as it was.
    Plain(ForgeError),
    /// It may carry the label of claimed work.
    InFlight(ForgeError),
}

impl From<ForgeError> for Unconfirmed {
    fn from(error: ForgeError) -> Self {
        Self::Plain(error)
    }
}

/// What the claims of an issue tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Firings that took this issue and did not finish it.
    pub attempts: u32,
    /// Claims that nobody has released, stale ones too, earliest first.
    pub unreleased: Vec<Claim>,
    /// What anybody said, oldest first; nothing of our own marks.
    said: Vec<Comment>,
}

impl History {
    /// What people said whose word counts, oldest first.
    #[must_use]
    pub fn conversation(mut self, trust: &Trust) -> Vec<Comment> {
        let counts = |comment: &Comment| trust.has(&comment.author, comment.association);
        self.said.retain(counts);
        self.said
    }
}

impl Forge {
    /// Takes an issue: writes a claim, reads back, and the earliest living claim wins. The winner
    /// looks whether the issue is still ready, and swaps `ready` for `carson:in-flight`. A claim
    /// that did not win is withdrawn, also when a later step failed.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn claim(
        &self,
        number: u64,
        ready: &str,
        claim: &Claim,
    ) -> Result<Claimed, ForgeError> {
        // Nothing is written before we know whose comments count.
        self.me().await?;
        if !is_ready(&self.issue(number).await?, ready) {
            return Ok(Claimed::NotReady);
        }
        let result = match self.comment_as_is(number, &claim_text(claim)).await {
            Ok(_) => self.confirm(number, ready, claim).await,
            // It may have been written all the same.
            Err(error @ (ForgeError::Unavailable { .. } | ForgeError::Io { .. })) => {
                Err(Unconfirmed::Plain(error))
            }
            Err(error) => return Err(error),
        };
        match result {
            Ok(Claimed::Won) => Ok(Claimed::Won),
            // The claim is what the sweep finds it by, once the firing has ended.
            Err(Unconfirmed::InFlight(error)) => Err(error),
            Ok(other) => {
                self.withdraw(number, claim).await;
                Ok(other)
            }
            Err(Unconfirmed::Plain(error)) => {
                self.withdraw(number, claim).await;
                Err(error)
            }
        }
    }

    async fn confirm(
        &self,
        number: u64,
        ready: &str,
        claim: &Claim,
    ) -> Result<Claimed, Unconfirmed> {
        match self.winner(number, claim).await? {
            None => return Ok(Claimed::Unseen),
            Some(by) if by != claim.firing => return Ok(Claimed::Lost { by }),
            Some(_) => {}
        }
        // Somebody may have won, worked and released between the first look and our claim.
        if !is_ready(&self.issue(number).await?, ready) {
            return Ok(Claimed::NotReady);
        }
        if let Err(error) = self.set_labels(number, &[IN_FLIGHT], &[ready]).await {
            if let Err(error) = self.set_labels(number, &[ready], &[IN_FLIGHT]).await {
                warn!(work.issue = number, %error, "the labels could not be put back");
                return Err(Unconfirmed::InFlight(error));
            }
            return Err(error.into());
        }
        Ok(Claimed::Won)
    }

    /// The earliest living claim, once ours is to be seen; `None` if it never is. A list that lacks
    /// ours may lack earlier ones too.
    async fn winner(&self, number: u64, claim: &Claim) -> Result<Option<FiringId>, ForgeError> {
        let mut pause = PAUSE;
        for look in 1..=LOOKS {
            let marks = self.marks(number).await?;
            let living = unreleased(&marks);
            if living.iter().any(|other| other.firing == claim.firing) {
                let first = living.iter().find(|other| !other.is_stale(claim.at));
                return Ok(first.map(|first| first.firing));
            }
            if look < LOOKS {
                sleep(pause).await;
                pause *= 2;
            }
        }
        Ok(None)
    }

    /// Without reading first: that ours cannot be seen does not mean that nobody sees it.
    async fn withdraw(&self, number: u64, claim: &Claim) {
        let text = release_text(claim, "WITHDRAWN", false, "Not taken after all.");
        if let Err(error) = self.comment_as_is(number, &text).await {
            warn!(firing.id = %claim.firing, work.issue = number, %error, "a claim could not be withdrawn");
        }
    }

    /// Ends a claim. Repeating it changes nothing; without a claim there is nothing to release.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn release(
        &self,
        number: u64,
        claim: &Claim,
        release: &Release,
    ) -> Result<(), ForgeError> {
        let marks = self.marks(number).await?;
        let living = unreleased(&marks);
        let ours = living.iter().any(|one| one.firing == claim.firing);
        if !ours && !self.is_stranded(number, claim, &marks).await? {
            return Ok(());
        }
        // Labels first: a claim that is released in words but still labelled would hide the issue.
        let add: Vec<&str> = release.add.iter().map(String::as_str).collect();
        let remove: Vec<&str> = release.remove.iter().map(String::as_str).collect();
        self.set_labels(number, &add, &remove).await?;
        let text = release_text(
            claim,
            &release.outcome,
            release.attempt_counts,
            release.note.as_str(),
        );
        self.comment_as_is(number, &text).await.map(|_| ())
    }

    /// Whether the issue is held by nobody and still labelled as if it was: somebody removed the
    /// claim's comment, and only who made it can end that.
    async fn is_stranded(
        &self,
        number: u64,
        claim: &Claim,
        marks: &[Mark],
    ) -> Result<bool, ForgeError> {
        let ended = marks
            .iter()
            .any(|mark| matches!(mark, Mark::Release { firing, .. } if *firing == claim.firing));
        Ok(!ended && unreleased(marks).is_empty() && self.issue(number).await?.has(IN_FLIGHT))
    }

    /// Gives an issue to people: the label keeps the fleet away until somebody removes it, and the
    /// attempts are counted anew then.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn hand_over(
        &self,
        number: u64,
        firing: FiringId,
        note: &Page,
    ) -> Result<(), ForgeError> {
        // Label first: without it the next slot would begin anew by itself.
        self.set_labels(number, &[NEEDS_HUMAN], &[]).await?;
        let text = marks::hand_over_text(firing, note.as_str());
        self.comment_as_is(number, &text).await.map(|_| ())
    }

    /// Gives an issue back to the fleet at a person's word: its attempts are counted anew, and what
    /// keeps the fleet away goes, but for the labels that are to stay and for [`DO_NOT_PICKUP`]. Says what
    /// went.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn begin_anew(
        &self,
        issue: &Issue,
        by: FiringId,
        stays: &[&str],
    ) -> Result<Vec<String>, ForgeError> {
        // The count first: without its label the next slot may take it at once.
        let text = marks::hand_over_text(by, "To be tried again: attempts are counted anew.");
        self.comment_as_is(issue.number, &text).await?;
        let away = HELD.iter().chain(&FOR_PEOPLE).chain(&[PLAN_APPROVED]);
        let mut kept = stays.to_vec();
        kept.push(DO_NOT_PICKUP);
        let is_kept = |label: &str| kept.iter().any(|kept| is_same_label(kept, label));
        let away = away.filter(|label| issue.has(label) && !is_kept(label));
        let away: Vec<&str> = away.copied().collect();
        let missing = stays.iter().filter(|label| !issue.has(label));
        let missing: Vec<&str> = missing.copied().collect();
        self.set_labels(issue.number, &missing, &away).await?;
        Ok(away.into_iter().map(str::to_owned).collect())
    }

    /// What the claims of an issue tell.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn history(&self, number: u64) -> Result<History, ForgeError> {
        let comments = self.comments(number).await?;
        let marks = marks_of(self.me().await?, &comments);
        let mut counted = BTreeSet::new();
        for mark in &marks {
            match mark {
                Mark::Release {
                    firing,
                    counts: true,
                } => {
                    counted.insert(*firing);
                }
                // Whoever gives it back lets the fleet begin anew.
                Mark::HandOver => counted.clear(),
                Mark::Release { .. } | Mark::Claim(_) => {}
            }
        }
        Ok(History {
            attempts: u32::try_from(counted.len()).unwrap_or(u32::MAX),
            unreleased: unreleased(&marks).into_iter().cloned().collect(),
            said: comments
                .into_iter()
                .filter(|comment| !marks::is_mark(comment))
                .collect(),
        })
    }

    async fn marks(&self, number: u64) -> Result<Vec<Mark>, ForgeError> {
        let me = self.me().await?;
        Ok(marks_of(me, &self.comments(number).await?))
    }
}

/// Our own structured comments, oldest first. Anybody can write what looks like one.
fn marks_of(me: &str, comments: &[Comment]) -> Vec<Mark> {
    let ours = comments
        .iter()
        .filter(|comment| comment.author.eq_ignore_ascii_case(me));
    ours.filter_map(marks::read).collect()
}
