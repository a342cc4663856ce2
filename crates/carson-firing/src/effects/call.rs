//! What each effect asks of the forge. Repeating one changes nothing.

use carson_core::effect::{LabelChange, Release};
use carson_core::{Effect, Page};
use carson_forge::{
    Issue, Merge, MergeMethod, NEEDS_HUMAN, NewIssue, NewPull, NewReview, PLANNED, PRIORITIES,
    Pull, PullState, State, is_same_label,
};
use carson_store::EffectRow;
use tracing::warn;

use super::await_approval::{OF_PLANS, WaitingPlan};
use super::bearer::{Bearer, Carried, OpenedPull, Went};
use super::file_issue::Part;
use crate::described;
use crate::ended_pulls::{self, PullError};
use crate::older_drafts;
use crate::queue::approval_words;
use crate::review_queue::QueueError;
use crate::roles::kind::Looking;
use crate::roles::merge;

impl Bearer<'_> {
    /// Calls the forge for an effect of the firing.
    pub(super) async fn call(
        &self,
        row: &EffectRow,
        carried: &mut Carried,
    ) -> Result<Went, PullError> {
        // What a repetition finds it by.
        let key = format!("{}-{}", self.id(), row.n);
        let said = match &row.effect {
            Effect::OpenPull {
                head,
                base,
                title,
                body,
                draft,
                labels,
            } => {
                let pull = NewPull {
                    title: title.clone(),
                    body: body.clone(),
                    head: head.clone(),
                    base: base.clone(),
                    draft: *draft,
                    labels: labels.clone(),
                };
                self.open_pull(&pull, carried).await?
            }
            Effect::Release {
                issue,
                release,
                without_pull,
            } => {
                self.note_taken_label(row.n).await?;
                let release = ends(release, without_pull.as_ref(), carried);
                self.forge.release(*issue, &self.claim, &release).await?;
                format!("#{issue}")
            }
            Effect::CloseDrafts { drafts } => match &carried.pull {
                Some(pull) => {
                    let closing = older_drafts::Closing {
                        home: self.home,
                        repo: self.repo,
                        forge: self.forge,
                        number: pull.number,
                        url: &pull.url,
                    };
                    closing.close(drafts).await?
                }
                None => "there is no newer pull request".to_owned(),
            },
            Effect::CloseIssue { issue } => {
                self.forge.close_issue(*issue).await?;
                format!("#{issue}")
            }
            Effect::Comment { on, body } => {
                self.forge.comment_once(*on, &key, body.as_str()).await?;
                format!("#{on}")
            }
            Effect::SetLabels { issue, add, remove } => {
                self.set_labels(row.n, *issue, (add, remove)).await?
            }
            Effect::FileIssue {
                topic,
                repo,
                after,
                title,
                body,
                labels,
            } => {
                let part = Part {
                    topic: topic.as_deref(),
                    repo: repo.as_ref(),
                    after,
                    new: NewIssue {
                        title: title.to_string(),
                        body: body.to_string(),
                        labels: labels.clone(),
                    },
                };
                match self.file_issue(&key, part, &carried.filed).await? {
                    Ok(filed) => {
                        let said = filed.said(&self.repo.name);
                        carried.filed.push(Some(filed));
                        said
                    }
                    Err(why) => return Ok(Went::Never(why)),
                }
            }
            Effect::TellFiled { issue, refused } => {
                let told = self.filed_text(&carried.filed, *refused);
                self.forge.comment_once(*issue, &key, told.as_str()).await?;
                let any = carried.filed.iter().any(Option::is_some);
                let add: &[&str] = if any { &[PLANNED] } else { &[] };
                self.forge.set_labels(*issue, add, &OF_PLANS).await?;
                told.to_string()
            }
            Effect::Review {
                pull,
                head,
                ship,
                body,
            } => {
                let review = NewReview {
                    head: head.clone(),
                    ship: *ship,
                    body: body.to_string(),
                };
                self.forge.review_once(*pull, &key, &review).await?;
                format!("#{pull}")
            }
            Effect::AwaitApproval { issue, hash, until } => {
                let plan = WaitingPlan {
                    issue: *issue,
                    words: approval_words(hash),
                    until: *until,
                    is_new: row.tries == 0,
                };
                return self.await_approval(&plan, &key).await;
            }
            Effect::JoinPull { pull } => {
                let pull = self.forge.pull(*pull).await?;
                let joined = carried.pull.insert(OpenedPull {
                    number: pull.number,
                    url: pull.url,
                    draft: pull.draft,
                });
                joined.url.clone()
            }
            Effect::Reply { pull, thread, body } => {
                let forge = self.forge;
                forge.reply_once(*pull, thread, &key, body.as_str()).await?;
                format!("#{pull}")
            }
            Effect::DescribePull { pull, title, body } => {
                self.describe_pull(*pull, (title, body)).await?
            }
            Effect::HandOver { number, note } => {
                // Label first: without it the next slot would begin anew by itself.
                self.forge.set_labels(*number, &[NEEDS_HUMAN], &[]).await?;
                self.forge
                    .comment_once(*number, &key, note.as_str())
                    .await?;
                format!("#{number}")
            }
            Effect::MergePull { pull, head } => return self.merge(*pull, head).await,
        };
        Ok(Went::Done(said))
    }

    async fn open_pull(&self, new: &NewPull, carried: &mut Carried) -> Result<String, PullError> {
        // The branch is this firing's alone, so a pull request of it that people closed or merged
        // since is the one: they are not asked twice.
        let ended = self.forge.pull_by_head(&new.head).await?;
        let pull = match ended.filter(|known| known.state != PullState::Open) {
            Some(ended) => ended,
            None => self.forge.create_pull(new).await?,
        };
        let opened = carried.pull.insert(OpenedPull {
            number: pull.number,
            url: pull.url,
            draft: pull.draft,
        });
        Ok(opened.url.clone())
    }

    /// What people wrote, closed or took back meanwhile stands, and so do Carson's own lines.
    async fn describe_pull(
        &self,
        number: u64,
        (title, words): (&Page, &Page),
    ) -> Result<String, PullError> {
        let pull = self.forge.pull(number).await?;
        let body = described::with_other_words(&pull.body, words);
        let Some(body) = body.filter(|_| pull.state == PullState::Open && !pull.draft) else {
            return Ok(format!("#{number} keeps its text"));
        };
        let new = NewPull {
            title: described::titled(title, &pull.title),
            body,
            head: pull.head,
            base: pull.base,
            draft: pull.draft,
            labels: pull.labels,
        };
        Ok(self.forge.create_pull(&new).await?.url)
    }

    /// The issue is read again: what people did to it meanwhile stands. What really changes is written down
    /// first, so that it can be taken back.
    async fn set_labels(
        &self,
        n: u32,
        number: u64,
        (add, remove): (&[String], &[String]),
    ) -> Result<String, PullError> {
        let issue = self.forge.issue(number).await?;
        if issue.state != State::Open {
            return Ok(format!("#{number} was closed, and is left as it is"));
        }
        let is_priority = |label: &str| PRIORITIES.iter().any(|own| is_same_label(own, label));
        let mut add: Vec<&str> = add.iter().map(String::as_str).collect();
        let mut remove: Vec<&str> = remove.iter().map(String::as_str).collect();
        let mut said = format!("#{number}");
        // It had none when it was taken: somebody gave it this meanwhile.
        if let Some(own) = issue.labels.iter().find(|label| is_priority(label)) {
            add.retain(|label| !is_priority(label));
            remove.retain(|label| !is_priority(label));
            said.push_str(&format!(": it carries {own} by now, which stays"));
        }
        let change = really_changed(&issue, &add, &remove);
        self.as_firing().note_labels(n, &change).await?;
        self.forge.set_labels(number, &add, &remove).await?;
        Ok(said)
    }

    /// The label that the claim took. Whoever takes the firing back may find its role in the settings no more.
    async fn note_taken_label(&self, n: u32) -> Result<(), PullError> {
        let role = self.home.fleet.roles.get(&self.claim.role);
        let Some(ready) = role.and_then(|role| role.work.label()) else {
            return Ok(());
        };
        let change = LabelChange {
            add: Vec::new(),
            remove: vec![ready.to_owned()],
        };
        Ok(self.as_firing().note_labels(n, &change).await?)
    }

    /// Exactly the commit that was looked at; its issue follows.
    async fn merge(&self, number: u64, head: &str) -> Result<Went, PullError> {
        let mut pull = self.forge.pull(number).await?;
        match pull.state {
            PullState::Open => {}
            PullState::Closed => return Ok(Went::Never(format!("#{number} was closed"))),
            PullState::Merged => return Ok(self.merged(pull).await),
        }
        if let Some(why) = self.stands_against(&pull, head).await? {
            return Ok(Went::Never(why));
        }
        let mut merge = Merge {
            expected: Some(head.to_owned()),
            method: MergeMethod::Squash,
        };
        if !self.forge.holds_branches() {
            ended_pulls::merge_branch(self.home, self.repo, &pull, Some(head)).await?;
            // It offers nothing any more.
            merge.expected = None;
        }
        if let Err(error) = self.forge.merge_pull(number, &merge).await {
            // Its answer may have been lost, and only that.
            let now = self.forge.pull(number).await.ok();
            now.filter(|now| now.state == PullState::Merged)
                .ok_or(error)?;
        }
        pull.state = PullState::Merged;
        Ok(self.merged(pull).await)
    }

    /// What was so when the merger looked may be so no more: a firing may have died in between.
    async fn stands_against(&self, pull: &Pull, head: &str) -> Result<Option<String>, PullError> {
        let Some(role) = self.home.fleet.roles.get(&self.claim.role) else {
            return Ok(Some(format!("the role {} is gone", self.claim.role)));
        };
        let looking = Looking {
            home: self.home,
            role,
            repo: self.repo,
            forge: self.forge,
            wanted: Some(pull.number),
            story: None,
            me: None,
            by_hand: false,
        };
        let judged = merge::may_be_merged(&looking, pull).await;
        let judged = judged.map_err(|error| match error {
            QueueError::Forge(error) => PullError::Forge(error),
            QueueError::Store(error) => PullError::Store(error),
        })?;
        Ok(match judged {
            Err(why) => Some(why),
            Ok(now) if now != head => Some("it offers another commit by now".to_owned()),
            Ok(_) => None,
        })
    }

    /// Its issue follows now, or with the next sweep.
    async fn merged(&self, pull: Pull) -> Went {
        let followed = ended_pulls::follow(self.home, self.repo, self.forge, &pull).await;
        if let Err(error) = followed {
            warn!(pull.number = pull.number, %error, "an issue does not follow its pull request yet");
        }
        Went::Done(pull.url)
    }
}

/// The labels that it has not yet, and those that it has.
fn really_changed(issue: &Issue, add: &[&str], remove: &[&str]) -> LabelChange {
    let those = |all: &[&str], has: bool| {
        let all = all.iter().filter(|label| issue.has(label) == has);
        all.map(|label| (*label).to_owned()).collect()
    };
    LabelChange {
        add: those(add, false),
        remove: those(remove, true),
    }
}

/// How the claim ends, now that it is known what became of the pull request.
fn ends(usual: &Release, without_pull: Option<&Release>, carried: &Carried) -> Release {
    let refused = carried.pull_refused.as_ref();
    let mut release = without_pull
        .filter(|_| refused.is_some())
        .unwrap_or(usual)
        .clone();
    if let Some(pull) = &carried.pull {
        release.note = release.note.says("\n\nPull request: ").names(&pull.url);
    }
    if let Some(why) = refused {
        let note = release.note.says("\n\nTrouble: ");
        release.note = note.quotes(&format!("no pull request could be opened: {why}"));
    }
    release
}
