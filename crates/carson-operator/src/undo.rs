//! What firings did is taken back, as far as nobody has touched it since.
//!
//! The rows of a firing say what it did to the forge. From them a list of ways back is made once
//! ([`Compensation`]): each was looked at, and is either to be done, found done, or *left*, because a person,
//! or a later firing, has touched that since. The list is written down before any of it is done, and each way is
//! idempotent: whoever asks again goes on with what is still owed, and a firing of which nothing is owed any
//! more says so.
//!
//! Nothing is forced: a branch goes only with the commit that was pushed, a comment only as it was written,
//! labels only where they stand as the firing left them. Nothing is lost either: the commits of a branch that
//! goes stay under a ref of this host. A merge is taken back by a pull request, which a person merges.
//!
//! Reading order: `looking.rs`, `plan.rs` (which ways there are), `labels.rs`, `pulls.rs`, `said.rs`, `issues.rs` (each
//! looked at), `act.rs` (each done).

mod act;
mod going;
mod issues;
mod labels;
mod looking;
mod plan;
mod pulls;
mod said;

use carson_core::{Compensation, Event, FiringId, Outcome, RoleName};
use carson_firing::drop_owed;
use carson_home::Home;
use carson_home::halt::with_causes;
use carson_store::{Filter, Firing, NewUndo, UndoRow, UndoState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::since::since;
use crate::told;
use crate::verb::{Ask, Who};
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
    /// Whether all of it was decided before: this call changes nothing.
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
    /// Why it is left, what was in the way, or what was found.
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
        let mut going = Going::new(home).await?;
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
        if trouble.is_none() {
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

    /// The ways back of a firing, and whether all of them were decided before.
    async fn ways(&self, going: &mut Going<'_>, row: &Firing) -> Result<(Vec<Way>, bool), Refusal> {
        let home = going.home;
        let mut rows = home.store.undo(row.id).await?;
        let is_over = |rows: &[UndoRow]| rows.iter().all(|one| one.state != UndoState::Owed);
        if !rows.is_empty() && is_over(&rows) {
            return Ok((rows.into_iter().map(of_row).collect(), true));
        }
        if rows.is_empty() {
            if self.yes && !drop_owed(home, row.id).await? {
                return Err(Refusal::Busy(
                    "another process carries effects out at this moment",
                ));
            }
            let planned = plan::plan(going, row).await?;
            if !self.yes || planned.is_empty() {
                return Ok((planned.into_iter().map(of_plan).collect(), false));
            }
            let now = home.clock.now();
            rows = home.store.plan_undo(row.id, &planned, now).await?;
        }
        if self.yes {
            rows = self.carry_out(going, row, rows).await?;
        }
        Ok((rows.into_iter().map(of_row).collect(), false))
    }

    /// In their order. What fails is said and stays owed, and keeps none of the others back.
    async fn carry_out(
        &self,
        going: &mut Going<'_>,
        row: &Firing,
        rows: Vec<UndoRow>,
    ) -> Result<Vec<UndoRow>, Refusal> {
        let home = going.home;
        for one in rows.iter().filter(|one| one.state == UndoState::Owed) {
            let (state, said) = match act::act(going, row, &one.what).await {
                Ok((state, said)) => (state, said),
                Err(Refusal::Store(error)) => return Err(error.into()),
                Err(error) => (UndoState::Owed, Some(said_of(home, &error))),
            };
            let said = said.map(|said| home.redactor.redact(&said).into_owned());
            let (stands, now) = ((state, said.as_deref()), home.clock.now());
            home.store.note_undo(row.id, one.n, stands, now).await?;
        }
        let rows = home.store.undo(row.id).await?;
        let count = |state| rows.iter().filter(|one| one.state == state).count();
        let event = Event::FiringUndone {
            done: count(UndoState::Done),
            left: count(UndoState::Left),
            owed: count(UndoState::Owed),
        };
        let now = home.clock.now();
        home.store
            .event(&event, Some(&row.role), Some(row.id), now)
            .await?;
        Ok(rows)
    }
}

fn said_of(home: &Home, error: &Refusal) -> String {
    let said = match error.hint() {
        Some(hint) => format!("{}: {hint}", with_causes(error)),
        None => with_causes(error),
    };
    home.redactor.redact(&said).into_owned()
}

fn of_row(row: UndoRow) -> Way {
    Way {
        text: row.what.text(),
        what: row.what,
        state: row.state,
        said: row.said,
    }
}

fn of_plan(new: NewUndo) -> Way {
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
            count(UndoState::Owed)
        );
        told::tell(home, None, "an operator took firings back", &text).await;
    }
}

#[cfg(test)]
mod tests;
