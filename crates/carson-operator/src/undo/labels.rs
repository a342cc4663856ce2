//! Labels, as they were before the firing took its work.

use carson_core::Compensation;
use carson_core::effect::{Effect, LabelChange, Release};
use carson_core::work::WorkKey;
use carson_forge::{
    Forge, ForgeError, IN_FLIGHT, NEEDS_HUMAN, PLAN_APPROVED, PLAN_PENDING, PLANNED, State,
    is_same_label,
};
use carson_store::{EffectState, NewUndo};

use super::looking::{Looking, found, left, nothing, owed};
use crate::refusal::Refusal;

/// What all effects of a firing came to: a label that came and went is neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Net {
    /// Labels that the issue has by them.
    pub got: Vec<String>,
    /// Labels that it had before them.
    pub lost: Vec<String>,
}

impl Net {
    /// It was ready, or it would not have been taken.
    pub fn claimed(&mut self, ready: &str) {
        self.takes(ready, true);
        self.gives(IN_FLIGHT);
    }

    pub fn released(&mut self, release: &Release) {
        release
            .remove
            .iter()
            .for_each(|label| self.takes(label, false));
        release.add.iter().for_each(|label| self.gives(label));
    }

    pub fn told_filed(&mut self, any: bool) {
        for label in [PLAN_PENDING, PLAN_APPROVED] {
            self.takes(label, false);
        }
        if any {
            self.gives(PLANNED);
        }
    }

    pub fn handed_over(&mut self) {
        self.gives(NEEDS_HUMAN);
    }

    pub fn applied(&mut self, change: &LabelChange) {
        change
            .remove
            .iter()
            .for_each(|label| self.takes(label, true));
        change.add.iter().for_each(|label| self.gives(label));
    }

    fn gives(&mut self, label: &str) {
        if let Some(at) = position(&self.lost, label) {
            self.lost.remove(at);
        } else if position(&self.got, label).is_none() {
            self.got.push(label.to_owned());
        }
    }

    /// `was_there`: before the firing, where it did not give it itself.
    fn takes(&mut self, label: &str, was_there: bool) {
        if let Some(at) = position(&self.got, label) {
            self.got.remove(at);
        } else if was_there && position(&self.lost, label).is_none() {
            self.lost.push(label.to_owned());
        }
    }
}

fn position(labels: &[String], label: &str) -> Option<usize> {
    labels.iter().position(|own| is_same_label(own, label))
}

/// What of a change is still to be made.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Now {
    /// All of these: to add, and to remove.
    Change(Vec<String>, Vec<String>),
    /// It is so already.
    So,
    /// Somebody changed them since: this one is gone.
    Touched(String),
}

/// Labels are added before others are removed. So of one that was interrupted, what it was to add is there; where
/// that is missing, and what the firing gave is gone, somebody else was there.
pub(super) fn compare(now: &[String], add: &[String], remove: &[String]) -> Now {
    let has = |label: &String| position(now, label).is_some();
    let missing: Vec<String> = add.iter().filter(|label| !has(label)).cloned().collect();
    let (still, gone): (Vec<String>, Vec<String>) = remove.iter().cloned().partition(has);
    match gone.into_iter().next() {
        _ if missing.is_empty() && still.is_empty() => Now::So,
        Some(gone) if !missing.is_empty() => Now::Touched(gone),
        _ => Now::Change(missing, still),
    }
}

/// The labels of an issue or a pull request, and whether it is an issue that is closed.
pub(super) async fn labels_of(
    forge: &Forge,
    number: u64,
) -> Result<Option<(Vec<String>, bool)>, Refusal> {
    match forge.issue(number).await {
        Ok(issue) => return Ok(Some((issue.labels, issue.state == State::Closed))),
        Err(ForgeError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    match forge.pull(number).await {
        Ok(pull) => Ok(Some((pull.labels, false))),
        Err(ForgeError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The labels of every issue that the firing changed.
pub(super) async fn changed(looking: &mut Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
    let role = looking.going.home.fleet.roles.get(&looking.row.role);
    let ready = role.and_then(|role| role.work.label());
    let mut list = unknown(looking);
    for (number, net) in net(looking, ready) {
        if !net.got.is_empty() || !net.lost.is_empty() {
            list.push(one(looking, number, net).await?);
        }
    }
    Ok(list)
}

/// The labels that the firing's effects came to, by issue.
fn net(looking: &Looking<'_, '_>, ready: Option<&str>) -> Vec<(u64, Net)> {
    let mut all: Vec<(u64, Net)> = Vec::new();
    fn of(all: &mut Vec<(u64, Net)>, number: u64) -> &mut Net {
        let at = all.iter().position(|(one, _)| *one == number);
        let at = at.unwrap_or_else(|| {
            all.push((number, Net::default()));
            all.len() - 1
        });
        &mut all[at].1
    }
    if let (Some(WorkKey::Issue(number)), Some(ready)) = (looking.row.work, ready) {
        of(&mut all, number).claimed(ready);
    }
    let any_filed = looking
        .done()
        .any(|one| matches!(one.effect, Effect::FileIssue { .. }));
    let pull_refused = looking.effects.iter().any(|one| {
        matches!(one.effect, Effect::OpenPull { .. }) && one.state == EffectState::Refused
    });
    for one in looking.done() {
        match &one.effect {
            Effect::Release {
                issue,
                release,
                without_pull,
            } => {
                let other = without_pull.as_ref().filter(|_| pull_refused);
                of(&mut all, *issue).released(other.unwrap_or(release));
            }
            Effect::TellFiled { issue, .. } => of(&mut all, *issue).told_filed(any_filed),
            Effect::HandOver { number, .. } => of(&mut all, *number).handed_over(),
            Effect::SetLabels { issue, .. } => {
                if let Some(applied) = &one.applied {
                    of(&mut all, *issue).applied(applied);
                }
            }
            _ => {}
        }
    }
    all
}

/// Labels of which no row says how it was before: an older Carson gave them.
fn unknown(looking: &Looking<'_, '_>) -> Vec<NewUndo> {
    let unknown = looking.done().filter_map(|one| match &one.effect {
        Effect::SetLabels { issue, .. } if one.applied.is_none() => Some(*issue),
        _ => None,
    });
    // One that was closed by then was left as it was.
    unknown
        .map(|issue| {
            nothing(
                format!("labels of #{issue}"),
                "nobody wrote down which of them were really changed",
            )
        })
        .collect()
}

async fn one(looking: &Looking<'_, '_>, number: u64, net: Net) -> Result<NewUndo, Refusal> {
    let what = |add: Vec<String>, remove: Vec<String>| Compensation::RestoreLabels {
        on: number,
        add,
        remove,
    };
    let all = what(net.lost.clone(), net.got.clone());
    let Some((now, is_closed)) = labels_of(&looking.place.forge, number).await? else {
        return Ok(found(all, "it is gone"));
    };
    let repo = &looking.place.repo.name;
    let work = WorkKey::Issue(number);
    let since = looking.going.taken_since(looking.row, repo, work).await?;
    if let Some(why) = since {
        return Ok(left(all, why));
    }
    let closes =
        |effect: &Effect| matches!(effect, Effect::CloseIssue { issue } if *issue == number);
    let closed_it = looking.done().any(|one| closes(&one.effect));
    Ok(match compare(&now, &net.lost, &net.got) {
        Now::So => found(all, "they are so already"),
        Now::Touched(label) => left(all, format!("somebody took {label} away since")),
        Now::Change(..) if is_closed && !closed_it => left(all, "it was closed since"),
        Now::Change(add, remove) => owed(what(add, remove)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(all: &[&str]) -> Vec<String> {
        all.iter().map(|label| (*label).to_owned()).collect()
    }

    #[test]
    fn what_came_and_went_is_neither() {
        let release = |add: &[&str]| Release {
            outcome: "OK".into(),
            note: carson_core::Page::default(),
            attempt_counts: false,
            add: labels(add),
            remove: labels(&[IN_FLIGHT]),
        };
        let mut net = Net::default();
        net.claimed("ready");
        assert_eq!((net.got.len(), net.lost.len()), (1, 1));
        net.released(&release(&["Ready"]));
        assert_eq!(net, Net::default());

        let mut net = Net::default();
        net.claimed("ready");
        net.released(&release(&[PLAN_PENDING]));
        net.told_filed(true);
        let all = (labels(&[PLANNED]), labels(&["ready"]));
        assert_eq!((net.got, net.lost), all);

        let mut net = Net::default();
        net.applied(&LabelChange {
            add: labels(&["p1"]),
            remove: labels(&["triage"]),
        });
        net.handed_over();
        let all = (labels(&["p1", NEEDS_HUMAN]), labels(&["triage"]));
        assert_eq!((net.got, net.lost), all);
    }

    #[test]
    fn an_interrupted_change_goes_on_and_a_person_s_stands() {
        let (add, remove) = (labels(&["ready"]), labels(&["pr-open", "p1"]));
        let now = |now: &[&str]| compare(&labels(now), &add, &remove);
        let change = |add: &[&str], remove: &[&str]| Now::Change(labels(add), labels(remove));
        let both = change(&["ready"], &["pr-open", "p1"]);
        assert_eq!(now(&["bug", "PR-open", "p1"]), both);
        assert_eq!(
            now(&["ready", "p1", "pr-open"]),
            change(&[], &["pr-open", "p1"])
        );
        assert_eq!(now(&["ready", "p1"]), change(&[], &["p1"]));
        assert_eq!(now(&["ready", "bug"]), Now::So);
        assert_eq!(now(&["p1"]), Now::Touched("pr-open".into()));
        assert_eq!(now(&["bug"]), Now::Touched("pr-open".into()));
    }
}
