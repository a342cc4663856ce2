//! What firings did is taken back, as far as nobody has touched it since.
//!
//! The rows of a firing say what it did to the forge. From them, and from what stands there now, a list of ways back
//! is made ([`Compensation`]): each is to be done, or found done, or *left*, because a person has touched that since,
//! or *waits* for another firing that stands on it. The list is made anew whenever somebody asks, and each piece of it
//! again directly before it is done; it is written down first, so that all see what is still owed. Remembered is only
//! what was done, and that is never done again.
//!
//! Nothing is forced: a branch goes only with the commit that was pushed, a comment only as it was written, a pull
//! request or an issue only as it was filed. Nothing is lost either: the commits of a branch that goes stay under a ref
//! of this host. A merge is taken back by a pull request, which a person merges. What rests on a pull request, its
//! branch and the state of its issue, stays with it.
//!
//! Reading order: `course.rs` (the path), `looking.rs`, `plan.rs` (what there may be), `labels.rs`, `pulls.rs`,
//! `touched.rs`, `said.rs`, `issues.rs` (each looked at), `act.rs` (each done).

mod act;
mod course;
mod going;
mod issues;
mod labels;
mod looking;
mod plan;
mod pulls;
mod said;
mod touched;

use carson_core::{Compensation, FiringId, Outcome, RoleName};
use carson_firing::drop_owed;
use carson_home::Home;
use carson_store::{Filter, Firing, NewUndo, UndoState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::since::since;
use crate::told;
use crate::verb::{Ask, Who};
use course::{Course, said_of};
use going::Going;

/// Firings that one call takes back at most.
const MOST: u32 = 200;

/// Take back what firings did: show the list, and with `yes` do it.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// One firing: its id, or any part of it that no other has.
    #[serde(default)]
    pub firing: Option<String>,
    /// All that began since then, the newest first: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    #[serde(default)]
    pub since: Option<String>,
    /// Do it; otherwise it is only shown.
    #[serde(default)]
    pub yes: bool,
}

/// What was, or would be, taken back.
#[derive(Debug, Serialize)]
pub struct Undone {
    /// Whether it was done now; otherwise it was only looked at.
    pub yes: bool,
    /// Firing by firing, the newest first.
    pub firings: Vec<UndoneFiring>,
    /// Those that still run: nothing of them is taken back before they end.
    pub running: Vec<Running>,
}

/// A firing that still runs.
#[derive(Debug, Serialize)]
pub struct Running {
    /// Which.
    pub id: FiringId,
    /// Its role.
    pub role: RoleName,
    /// What ends it.
    pub command: String,
}

/// What takes one firing back.
#[derive(Debug, Serialize)]
pub struct UndoneFiring {
    /// Which.
    pub id: FiringId,
    /// Its role.
    pub role: RoleName,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// What it worked on.
    pub title: Option<String>,
    /// Whether it was taken back before, and nothing is to come of it any more: this call changes nothing.
    pub already: bool,
    /// The ways back, in their order.
    pub ways: Vec<Way>,
    /// Why nobody can say what there is to do.
    pub trouble: Option<String>,
}

/// One way back.
#[derive(Debug, Serialize)]
pub struct Way {
    /// What it is.
    #[serde(flatten)]
    pub what: Compensation,
    /// The same for people.
    pub text: String,
    /// Where it stands; what is only shown is owed.
    pub state: UndoState,
    /// Why it is left or waits, what was in the way, or what was found.
    pub said: Option<String>,
}

impl UndoneFiring {
    /// How many ways stand there.
    #[must_use]
    pub fn count(&self, state: UndoState) -> usize {
        self.ways.iter().filter(|way| way.state == state).count()
    }
}

impl Ask for Undo {
    const NAME: &'static str = "undo";
    const WHAT: &'static str = "Take back what a firing did, as far as nobody has touched it since";
    const WHO: Who = Who::Trusted;
    type Answer = Undone;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let rows = self.rows(home).await?;
        let (ended, running): (Vec<Firing>, Vec<Firing>) =
            rows.into_iter().partition(|row| row.outcome.is_some());
        if let (Some(row), true) = (running.first(), self.firing.is_some()) {
            return Err(Refusal::StillRuns { id: row.id });
        }
        let mut going = Going::new(home);
        let mut firings = Vec::new();
        for row in ended {
            firings.push(self.one(&mut going, row).await?);
        }
        let all = Undone {
            yes: self.yes,
            firings,
            running: running.into_iter().map(running_one).collect(),
        };
        if self.yes {
            all.tell(home).await;
        }
        Ok(all)
    }
}

fn running_one(row: Firing) -> Running {
    Running {
        command: format!("stop {}", row.id.short()),
        id: row.id,
        role: row.role,
    }
}

impl Undo {
    async fn rows(&self, home: &Home) -> Result<Vec<Firing>, Refusal> {
        match (&self.firing, &self.since) {
            (Some(text), None) => Ok(vec![names::firing(&home.store, text).await?]),
            (None, Some(text)) => {
                let filter = Filter {
                    role: None,
                    since: since(home, Some(text))?,
                    skipped: false,
                    outcome: None,
                    limit: MOST + 1,
                };
                let rows = home.store.firings(&filter).await?;
                if rows.len() > MOST as usize {
                    return Err(Refusal::Field {
                        field: "since",
                        problem: format!(
                            "more than {MOST} firings began since then: say a later time, and go back \
                             step by step"
                        ),
                    });
                }
                Ok(rows)
            }
            _ => Err(Refusal::Field {
                field: "firing",
                problem: "name a firing, or say since when".to_owned(),
            }),
        }
    }

    /// What is wrong with one firing keeps nobody from the others.
    async fn one(&self, going: &mut Going<'_>, row: Firing) -> Result<UndoneFiring, Refusal> {
        let (ways, already, trouble) = match self.ways(going, &row).await {
            Ok((ways, already)) => (ways, already, None),
            Err(Refusal::Store(error)) => return Err(error.into()),
            Err(error) => (Vec::new(), false, Some(said_of(going.home, &error))),
        };
        let stands = |way: &Way| match self.yes {
            true => !way.state.is_over(),
            false => way.state == UndoState::Waits,
        };
        if trouble.is_none() && !ways.iter().any(stands) {
            going.taken_back.insert(row.id);
        }
        Ok(UndoneFiring {
            id: row.id,
            role: row.role,
            outcome: row.outcome,
            title: row.title,
            already,
            ways,
            trouble,
        })
    }

    /// The ways back of a firing, and whether it was taken back before.
    async fn ways(&self, going: &mut Going<'_>, row: &Firing) -> Result<(Vec<Way>, bool), Refusal> {
        let home = going.home;
        let was_taken_back = going.was_taken_back(row.id).await?;
        if self.yes && !drop_owed(home, row).await? {
            return Err(Refusal::Busy(
                "another process carries effects out at this moment",
            ));
        }
        // Another process may have carried effects of it out until now.
        let now = home.store.firing(row.id).await?;
        let row = now.as_ref().unwrap_or(row);
        let mut course = Course::look(going, row).await?;
        let already = was_taken_back && course.is_over();
        if self.yes && !already {
            course.go().await?;
        }
        Ok((course.ways().into_iter().map(way).collect(), already))
    }
}

fn way(new: NewUndo) -> Way {
    Way {
        text: new.what.text(),
        what: new.what,
        state: new.state,
        said: new.said,
    }
}

impl Undone {
    async fn tell(&self, home: &Home) {
        let now = self.firings.iter().filter(|one| !one.already);
        let now: Vec<&UndoneFiring> = now.filter(|one| !one.ways.is_empty()).collect();
        if now.is_empty() {
            return;
        }
        let count = |state| now.iter().map(|one| one.count(state)).sum::<usize>();
        let ids: Vec<String> = now.iter().map(|one| one.id.short()).collect();
        let text = format!(
            "{}: {} done, {} left as people or later firings have it, {} still owed.",
            ids.join(", "),
            count(UndoState::Done),
            count(UndoState::Left),
            count(UndoState::Owed) + count(UndoState::Waits)
        );
        told::tell(home, None, "an operator took firings back", &text).await;
    }
}

#[cfg(test)]
mod tests;
