//! A plan waits for a person, who approves it by a comment that names it, or by a label.
//!
//! A comment names the plan by its hash. A label names nothing, so it counts only where it was set after
//! the plan stood there, by somebody who may write in the repository. One that does not count is taken
//! off, so that somebody else can set it, and that is said once of each plan.

use std::ops::Range;

use carson_core::Page;
use carson_forge::{Issue, Labelled, NEEDS_HUMAN, PLAN_APPROVED, PLAN_PENDING, State};
use chrono::{DateTime, TimeDelta, Utc};

use super::bearer::{Bearer, Went};
use super::waiting::waiting_plan;
use crate::ended_pulls::PullError;

/// How long people have to approve a plan.
pub(crate) const TO_APPROVE: TimeDelta = TimeDelta::hours(24);
/// What an issue carries while its plan waits, and when it was approved.
pub(super) const OF_PLANS: [&str; 2] = [PLAN_PENDING, PLAN_APPROVED];

/// A plan that is to be approved.
pub(super) struct WaitingPlan {
    /// The issue that it is for.
    pub issue: u64,
    /// What approves exactly it.
    pub words: String,
    /// Until when.
    pub until: DateTime<Utc>,
    /// Whether nobody has looked yet: what is there already was there before it.
    pub is_new: bool,
}

impl WaitingPlan {
    fn within(&self) -> Range<DateTime<Utc>> {
        self.until - TO_APPROVE..self.until
    }
}

impl Bearer<'_> {
    /// Looks whether a person approved it.
    pub(super) async fn await_approval(
        &self,
        plan: &WaitingPlan,
        key: &str,
    ) -> Result<Went, PullError> {
        let number = plan.issue;
        let newest = waiting_plan(self.home, self.repo, number).await?;
        if newest.is_some_and(|(row, _)| row.id != self.id()) {
            return Ok(Went::Never("a newer plan waits in its place".to_owned()));
        }
        let issue = self.forge.issue(number).await?;
        if issue.state != State::Open {
            self.forge.set_labels(number, &[], &OF_PLANS).await?;
            return Ok(Went::Never(format!("#{number} was closed")));
        }
        // Whoever approves by the label may take the other one away.
        if let Some(by) = self.approved_by(plan, &issue, key).await? {
            return Ok(Went::Done(format!("approved by {by}")));
        }
        if !issue.has(PLAN_PENDING) {
            let why = format!("somebody took {PLAN_PENDING} away from #{number}");
            return Ok(Went::Never(why));
        }
        if self.home.clock.now() < plan.until {
            let why = format!(
                "a person approves the plan on #{number}: `carson approve {number}`, the label {PLAN_APPROVED}, \
                 or a comment there: {}",
                plan.words
            );
            return Ok(Went::Waits(why));
        }
        // Only a person gives it back.
        let forge = self.forge;
        forge.set_labels(number, &[NEEDS_HUMAN], &OF_PLANS).await?;
        let note = Page::from(
            "Nobody approved this plan within a day, so nothing of it is filed. Remove the label \
             `needs:human` to have it planned anew.",
        );
        forge.comment_once(number, key, note.as_str()).await?;
        Ok(Went::Never(
            "nobody approved the plan within a day".to_owned(),
        ))
    }

    async fn approved_by(
        &self,
        plan: &WaitingPlan,
        issue: &Issue,
        key: &str,
    ) -> Result<Option<String>, PullError> {
        let (forge, trust) = (self.forge, &self.repo.trust);
        if issue.has(PLAN_PENDING) {
            let words = &plan.words;
            let within = plan.within();
            let by = forge.approval(plan.issue, words, trust, &within).await?;
            if by.is_some() {
                return Ok(by);
            }
        }
        if !issue.has(PLAN_APPROVED) {
            return Ok(None);
        }
        let Some(label) = forge.labelled(plan.issue, PLAN_APPROVED).await? else {
            return Ok(None);
        };
        if !trust.has(&label.by, label.association) {
            self.take_off(plan, &format!("{key}-stranger"), &stranger(&label))
                .await?;
            return Ok(None);
        }
        if self.was_there_before(plan, &label).await? {
            self.take_off(plan, &format!("{key}-before"), &before())
                .await?;
            return Ok(None);
        }
        let now = self.home.clock.now();
        let in_time = plan.within().contains(&label.at.unwrap_or(now));
        Ok(Some(label.by).filter(|_| in_time))
    }

    /// Whether nobody could have read the plan who set it. Where the forge does not tell when that was, what
    /// the first look finds was there before.
    async fn was_there_before(
        &self,
        plan: &WaitingPlan,
        label: &Labelled,
    ) -> Result<bool, PullError> {
        let Some(at) = label.at else {
            return Ok(plan.is_new);
        };
        let me = self.forge.me().await?;
        let mut comments = self.forge.comments(plan.issue).await?.into_iter();
        let posted = comments.find(|one| {
            let ours = one.author.eq_ignore_ascii_case(me);
            ours && one.body.contains(&plan.words)
        });
        Ok(posted.is_none_or(|posted| at <= posted.created_at))
    }

    /// Says why before it goes: who dies in between says it once, too.
    async fn take_off(&self, plan: &WaitingPlan, key: &str, why: &Page) -> Result<(), PullError> {
        let forge = self.forge;
        forge.comment_once(plan.issue, key, why.as_str()).await?;
        forge.set_labels(plan.issue, &[], &[PLAN_APPROVED]).await?;
        Ok(())
    }
}

fn stranger(label: &Labelled) -> Page {
    Page::default()
        .quotes(&label.by)
        .says(
            ", who set the label `plan-approved`, is not one of the people whose approval counts here, or \
             the forge does not tell whether they are. It approves nothing, and is taken off.",
        )
}

fn before() -> Page {
    Page::from(
        "The label `plan-approved` was set before this plan stood here, so it approves nothing, and is taken \
         off. Whoever has read the plan sets it again.",
    )
}
