//! The queue of a role: which open issues it may take up, and in which order.

use crate::error::ForgeError;
use crate::forge::{
    DO_NOT_REVIEW, DONE, FOR_PEOPLE, Forge, HELD, IN_FLIGHT, PLAN_APPROVED, PLANNED, PR_OPEN,
};
use crate::words::{Issue, Listed, State, Unread, is_same_label};

/// Labels that say how urgent an issue is, the most urgent first.
pub const PRIORITIES: [&str; 4] = ["p0", "p1", "p2", "p3"];

/// The labels that the fleet reads and writes beside those of its roles, with what each says.
pub const OWN_LABELS: [(&str, &str); 13] = [
    (IN_FLIGHT, "A firing works on it"),
    (PR_OPEN, "Its pull request waits for review"),
    (PLANNED, "It was divided into issues that are not all done"),
    (DONE, "It was done"),
    (FOR_PEOPLE[0], "No agent takes it"),
    (
        FOR_PEOPLE[1],
        "Only a person can go on; take this away to have it tried again",
    ),
    (FOR_PEOPLE[2], "Its plan waits for a person"),
    (PLAN_APPROVED, "A person approves the plan that waits on it"),
    (DO_NOT_REVIEW, "Unfinished work that was saved"),
    (PRIORITIES[0], "Taken before p1"),
    (PRIORITIES[1], "Taken before p2"),
    (PRIORITIES[2], "Taken before p3"),
    (PRIORITIES[3], "Taken before what has no such label"),
];

/// An issue that waits for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForPeople {
    /// Its number.
    pub number: u64,
    /// The label that says so.
    pub label: &'static str,
}

/// The open issues that carry a role's label, the most urgent first, then the oldest.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Those that may be taken up.
    pub ready: Vec<Issue>,
    /// Those that wait for a person.
    pub for_people: Vec<ForPeople>,
    /// What could not be read, and may be one of them.
    pub unread: Vec<Unread>,
}

impl Forge {
    /// Open issues that carry `label` and nothing that keeps a fleet away, in their order.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn ready_issues(&self, label: &str) -> Result<Vec<Issue>, ForgeError> {
        Ok(self.queue(label).await?.ready)
    }

    /// The same, and beside them the issues that wait for a person.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn queue(&self, label: &str) -> Result<Queue, ForgeError> {
        // What is nothing but space, no issue can carry.
        if label.trim().is_empty() {
            return Ok(Queue::default());
        }
        let Listed {
            found: mut ready,
            unread,
        } = self.issues(Some(label)).await?;
        ready.sort_by_key(|issue| (priority(issue), issue.number));
        let waits = |issue: &Issue| {
            Some(ForPeople {
                number: issue.number,
                label: kept_for_people(issue, label).filter(|_| is_open_for(issue, label))?,
            })
        };
        let for_people = ready.iter().filter_map(waits).collect();
        ready.retain(|issue| is_ready(issue, label));
        Ok(Queue {
            ready,
            for_people,
            unread,
        })
    }
}

/// The place of an issue's most urgent label among [`PRIORITIES`]; behind all of them without one.
#[must_use]
pub fn priority(issue: &Issue) -> usize {
    let mut urgent = PRIORITIES.iter();
    let place = urgent.position(|label| issue.has(label));
    place.unwrap_or(PRIORITIES.len())
}

/// Why the fleet would not take an issue up for a role with this label; what waits for people is
/// theirs to give back. `None` when nothing is in the way.
#[must_use]
pub fn why_not_taken(issue: &Issue, label: &str) -> Option<String> {
    let held = HELD
        .iter()
        .find(|held| !is_same_label(held, label) && issue.has(held));
    if issue.state != State::Open {
        Some("it is closed".to_owned())
    } else if let Some(held) = held {
        Some(format!("it carries {held}: it is worked on, or done"))
    } else {
        (!issue.has(label)).then(|| format!("it does not carry the label {label}"))
    }
}

/// Why people do not want an issue worked on any more that a firing holds for a role with this label.
/// `None` while nobody said so.
#[must_use]
pub fn why_withdrawn(issue: &Issue, label: &str, me: &str) -> Option<String> {
    if issue.state != State::Open {
        return Some("it was closed".to_owned());
    }
    if let Some(away) = kept_for_people(issue, label) {
        return Some(format!("it was given the label {away}"));
    }
    assigned_to_a_person(issue, me).map(|name| format!("it was assigned to {name}"))
}

/// The person who does an issue themselves: one that it is assigned to and who is neither the fleet nor
/// another program.
#[must_use]
pub fn assigned_to_a_person<'a>(issue: &'a Issue, me: &str) -> Option<&'a str> {
    let is_person = |name: &&String| !name.eq_ignore_ascii_case(me) && !name.ends_with("[bot]");
    issue.assignees.iter().find(is_person).map(String::as_str)
}

/// Open, labelled, and not kept away from.
pub(crate) fn is_ready(issue: &Issue, label: &str) -> bool {
    is_open_for(issue, label) && kept_for_people(issue, label).is_none()
}

/// Open, labelled, and not held by the fleet.
fn is_open_for(issue: &Issue, label: &str) -> bool {
    why_not_taken(issue, label).is_none()
}

/// The label that keeps an issue for people, beside the role's own.
fn kept_for_people(issue: &Issue, own: &str) -> Option<&'static str> {
    let mut labels = FOR_PEOPLE.into_iter();
    labels.find(|label| !is_same_label(label, own) && issue.has(label))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::people::Association;

    fn issue(labels: &[&str], assignees: &[&str]) -> Issue {
        let owned = |all: &[&str]| all.iter().map(ToString::to_string).collect();
        Issue {
            number: 7,
            title: String::new(),
            body: String::new(),
            author: "ann".into(),
            association: Association::Owner,
            assignees: owned(assignees),
            state: State::Open,
            labels: owned(labels),
            created_at: DateTime::UNIX_EPOCH,
            blocked_by: 0,
            dropped: false,
            url: String::new(),
        }
    }

    #[test]
    fn labels_are_compared_without_case_and_space_and_a_blank_one_is_like_none() {
        let issue = issue(&[" Carson:Ready", "", "Ä"], &[]);
        assert!(issue.has("carson:ready ") && issue.has("ä"));
        assert!(!issue.has("") && !issue.has("  ") && !issue.has("ready"));
        assert!(is_ready(&issue, "CARSON:READY"));
    }

    #[test]
    fn the_most_urgent_label_counts_and_no_label_comes_last() {
        let place = |labels: &[&str]| priority(&issue(labels, &[]));
        assert_eq!(
            [place(&["P1", "p3"]), place(&["p0"]), place(&[])],
            [1, 0, 4]
        );
        assert_eq!(place(&["p4", "priority"]), 4);
    }

    #[test]
    fn what_people_take_back_is_withdrawn_and_what_the_fleet_does_is_not() {
        let why = |labels: &[&str], people: &[&str]| {
            why_withdrawn(&issue(labels, people), "needs:human", "me")
        };
        assert_eq!(why(&["carson:in-flight"], &[]), None);
        assert_eq!(why(&["needs:human"], &["Me", "helper[bot]"]), None);
        assert!(
            why(&["Do-Not-Pickup"], &[])
                .unwrap()
                .contains("do-not-pickup")
        );
        assert!(why(&[], &["me", "ann"]).unwrap().contains("ann"));
        let closed = Issue {
            state: State::Closed,
            ..issue(&[], &[])
        };
        assert!(why_withdrawn(&closed, "ready", "me").is_some());
    }
}
