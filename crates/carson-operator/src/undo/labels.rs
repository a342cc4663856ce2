//! Labels, as they were before the firing took its work.

use carson_core::Compensation;
use carson_core::effect::{Effect, LabelChange, Release};
use carson_core::work::WorkKey;
use carson_forge::{
    Forge, ForgeError, IN_FLIGHT, NEEDS_HUMAN, PLAN_APPROVED, PLAN_PENDING, PLANNED, State,
    is_reserved, is_same_label,
};
use carson_store::{EffectRow, EffectState, Firing, NewUndo, UndoState};

use super::looking::{Looking, done, found, left, nothing, stands, waits};
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

/// A label of the states that work goes through: they come and go together. Each other one stands on its own.
fn is_state(label: &str, ready: Option<&str>) -> bool {
    is_reserved(label) || ready.is_some_and(|ready| is_same_label(label, ready))
}

/// What of a change is still to be made: to add, and to remove.
pub(super) fn still(now: &[String], add: &[String], remove: &[String]) -> Net {
    let has = |label: &&String| position(now, label).is_some();
    Net {
        lost: add.iter().filter(|label| !has(label)).cloned().collect(),
        got: remove.iter().filter(has).cloned().collect(),
    }
}

impl Net {
    /// The label by which somebody else moved the work on. Labels are added before others are removed: so of a change
    /// that was interrupted, what it was to add is there.
    fn moved_on(&self, now: &[String]) -> Option<&String> {
        let is_back = self.lost.iter().all(|label| position(now, label).is_some());
        let mut gone = self
            .got
            .iter()
            .filter(|label| position(now, label).is_none());
        gone.next().filter(|_| !is_back)
    }

    /// Those that pass, and the others.
    fn split(self, is_first: impl Fn(&String) -> bool) -> (Self, Self) {
        let (got, other_got) = self.got.into_iter().partition(&is_first);
        let (lost, other_lost) = self.lost.into_iter().partition(&is_first);
        let others = Self {
            got: other_got,
            lost: other_lost,
        };
        (Self { got, lost }, others)
    }

    fn and(mut self, other: Self) -> Self {
        self.got.extend(other.got);
        self.lost.extend(other.lost);
        self
    }

    fn is_empty(&self) -> bool {
        self.got.is_empty() && self.lost.is_empty()
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

/// The issues and pull requests whose labels the firing may have changed.
pub(super) fn numbers(row: &Firing, effects: &[EffectRow]) -> Vec<u64> {
    let mut all: Vec<u64> = match row.work {
        Some(WorkKey::Issue(number)) => vec![number],
        _ => Vec::new(),
    };
    for one in done(effects) {
        let number = match &one.effect {
            Effect::Release { issue, .. }
            | Effect::TellFiled { issue, .. }
            | Effect::SetLabels { issue, .. } => *issue,
            Effect::HandOver { number, .. } => *number,
            _ => continue,
        };
        if !all.contains(&number) {
            all.push(number);
        }
    }
    all
}

/// The labels of one of them.
pub(super) async fn changed(
    looking: &Looking<'_, '_>,
    number: u64,
) -> Result<Vec<NewUndo>, Refusal> {
    let mut list: Vec<NewUndo> = unknown(looking, number).into_iter().collect();
    let ready = taken_label(looking);
    if let (Taken::Unknown, Some(WorkKey::Issue(own))) = (&ready, looking.row.work)
        && own == number
    {
        let role = &looking.row.role;
        list.push(nothing(
            format!("the label by which {role} took #{number}"),
            format!(
                "{role} is not in the settings any more: `carson issue label {number} --add LABEL` gives it one again"
            ),
        ));
    }
    let ready = match &ready {
        Taken::By(ready) => Some(ready.as_str()),
        Taken::Unknown | Taken::Without => None,
    };
    let net = net(looking, number, ready);
    if !net.is_empty() {
        list.extend(back(looking, number, net, ready).await?);
    }
    Ok(list)
}

/// How the firing took its issue.
enum Taken {
    By(String),
    Without,
    /// Its role is gone, and no row says it.
    Unknown,
}

fn taken_label(looking: &Looking<'_, '_>) -> Taken {
    let noted = looking.done().find_map(|one| match &one.effect {
        Effect::Release { .. } => one.applied.as_ref()?.remove.first(),
        _ => None,
    });
    let role = looking.going.home.fleet.roles.get(&looking.row.role);
    match (noted, role) {
        (Some(ready), _) => Taken::By(ready.clone()),
        (None, Some(role)) => match role.work.label() {
            Some(ready) => Taken::By(ready.to_owned()),
            None => Taken::Without,
        },
        (None, None) => Taken::Unknown,
    }
}

/// What the firing's effects came to there.
fn net(looking: &Looking<'_, '_>, number: u64, ready: Option<&str>) -> Net {
    let mut net = Net::default();
    if let (Some(WorkKey::Issue(own)), Some(ready)) = (looking.row.work, ready)
        && own == number
    {
        net.claimed(ready);
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
            } if *issue == number => {
                let other = without_pull.as_ref().filter(|_| pull_refused);
                net.released(other.unwrap_or(release));
            }
            Effect::TellFiled { issue, .. } if *issue == number => net.told_filed(any_filed),
            Effect::HandOver { number: on, .. } if *on == number => net.handed_over(),
            Effect::SetLabels { issue, .. } if *issue == number => {
                if let Some(applied) = &one.applied {
                    net.applied(applied);
                }
            }
            _ => {}
        }
    }
    net
}

/// Labels of which no row says how it was before: an older Carson gave them.
fn unknown(looking: &Looking<'_, '_>, number: u64) -> Option<NewUndo> {
    // One that was closed by then was left as it was.
    let mut unknown = looking.done().filter(|one| {
        one.applied.is_none()
            && matches!(one.effect, Effect::SetLabels { issue, .. } if issue == number)
    });
    unknown.next().map(|_| {
        nothing(
            format!("labels of #{number}"),
            "nobody wrote down which of them were really changed",
        )
    })
}

/// The state goes back as one, and only where nobody moved the work on; what else the firing changed goes back by
/// itself.
async fn back(
    looking: &Looking<'_, '_>,
    number: u64,
    net: Net,
    ready: Option<&str>,
) -> Result<Vec<NewUndo>, Refusal> {
    let Some((now, is_closed)) = labels_of(&looking.place.forge, number).await? else {
        return Ok(vec![found(restore(number, net), "it is gone")]);
    };
    let repo = &looking.place.repo.name;
    let work = WorkKey::Issue(number);
    if let Some(why) = looking.going.taken_since(looking.row, repo, work).await? {
        return Ok(vec![waits(restore(number, net), why)]);
    }
    let closes =
        |effect: &Effect| matches!(effect, Effect::CloseIssue { issue } if *issue == number);
    let closed_it = looking.done().any(|one| closes(&one.effect));
    if is_closed && !closed_it && !still(&now, &net.lost, &net.got).is_empty() {
        return Ok(vec![left(restore(number, net), "it was closed since")]);
    }
    let (state, rest) = net.split(|label| is_state(label, ready));
    let moved_on = state.moved_on(&now).map(|label| {
        let why = format!("somebody took {label} away since");
        (UndoState::Left, why)
    });
    let keeps = moved_on.or_else(|| looking.stays_with_its_work(number));
    let Some((stands_so, why)) = keeps.filter(|_| !state.is_empty()) else {
        return Ok(vec![as_it_was(number, state.and(rest), &now)]);
    };
    let mut list = vec![stands(restore(number, state), stands_so, Some(why))];
    if !rest.is_empty() {
        list.push(as_it_was(number, rest, &now));
    }
    Ok(list)
}

fn restore(on: u64, net: Net) -> Compensation {
    Compensation::RestoreLabels {
        on,
        add: net.lost,
        remove: net.got,
    }
}

/// What of it is so already stays in it: once it is done, all of it was, and whoever changes one later keeps that.
fn as_it_was(on: u64, net: Net, now: &[String]) -> NewUndo {
    let left = still(now, &net.lost, &net.got);
    if left.is_empty() {
        return found(restore(on, net), "they are so already");
    }
    let back = net.lost.iter().filter(|label| !left.lost.contains(label));
    let gone = net.got.iter().filter(|label| !left.got.contains(label));
    let said: Vec<String> = back
        .map(|label| format!("{label} is there already"))
        .chain(gone.map(|label| format!("{label} is gone already")))
        .collect();
    let said = (!said.is_empty()).then(|| said.join(", "));
    stands(restore(on, net), UndoState::Owed, said)
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
        let net = Net {
            lost: labels(&["ready"]),
            got: labels(&["carson:pr-open", "p1"]),
        };
        let still = |now: &[&str]| still(&labels(now), &net.lost, &net.got);
        let change = |add: &[&str], remove: &[&str]| Net {
            lost: labels(add),
            got: labels(remove),
        };
        assert_eq!(still(&["bug", "Carson:PR-open", "p1"]), net);
        let rest = change(&[], &["carson:pr-open", "p1"]);
        assert_eq!(still(&["ready", "p1", "carson:pr-open"]), rest);
        assert_eq!(still(&["ready", "p1"]), change(&[], &["p1"]));
        assert!(still(&["ready", "bug"]).is_empty());

        let (state, rest) = net.split(|label| is_state(label, Some("Ready")));
        assert_eq!((rest.got, rest.lost.len()), (labels(&["p1"]), 0));
        let moved = |now: &[&str]| state.moved_on(&labels(now)).is_some();
        assert!(moved(&["p1"]) && moved(&["bug"]));
        // Ours: what was to be added is there.
        assert!(!moved(&["ready"]) && !moved(&["carson:pr-open", "p2"]));
    }

    #[test]
    fn a_swapped_label_keeps_no_other() {
        let net = Net {
            lost: labels(&["ready"]),
            got: labels(&["carson:pr-open", "p1"]),
        };
        let way = as_it_was(7, net, &labels(&["carson:pr-open", "p2"]));
        assert_eq!(way.state, UndoState::Owed);
        assert_eq!(way.said.as_deref(), Some("p1 is gone already"));
    }
}
