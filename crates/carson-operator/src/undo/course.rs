//! The ways back of one firing: looked at, and gone.
//!
//! What is looked at and what is gone is one path: the list is made from facts, piece by piece, and each piece is
//! looked at again directly before any of it is done. Only what was done is remembered, and never done again.

use carson_core::{Compensation, Event};
use carson_home::Home;
use carson_home::halt::with_causes;
use carson_store::{EffectRow, Firing, NewUndo, UndoState};

use super::act;
use super::going::Going;
use super::looking::{Staying, Stays};
use super::plan::{Subject, look, subjects};
use crate::refusal::Refusal;

/// The ways back of one firing.
pub(super) struct Course<'a, 'h> {
    going: &'a mut Going<'h>,
    row: &'a Firing,
    effects: Vec<EffectRow>,
    subjects: Vec<Subject>,
    /// What was done, now or before, or was found so.
    done: Vec<NewUndo>,
    /// How the rest stood when it was looked at last, by subject.
    rest: Vec<Vec<NewUndo>>,
    /// What of it stays as it is.
    stays: Staying,
    /// What could not be closed in this call.
    unclosed: Unclosed,
}

/// What could not be closed.
#[derive(Clone, Copy, Debug, Default)]
struct Unclosed {
    pull: bool,
    filed: bool,
}

impl Unclosed {
    fn note(&mut self, what: &Compensation) {
        self.pull |= matches!(what, Compensation::ClosePull { .. });
        self.filed |= matches!(what, Compensation::CloseIssue { .. });
    }
}

impl<'a, 'h> Course<'a, 'h> {
    /// Looks at all of it.
    pub async fn look(going: &'a mut Going<'h>, row: &'a Firing) -> Result<Self, Refusal> {
        let store = &going.home.store;
        let effects = store.effects(row.id).await?;
        let remembered = store.undo(row.id).await?.into_iter();
        let remembered = remembered.filter(|row| row.state == UndoState::Done);
        let done = remembered.map(|row| NewUndo {
            what: row.what,
            state: row.state,
            said: row.said,
        });
        let subjects = subjects(row, &effects);
        let mut course = Self {
            going,
            row,
            effects,
            done: done.collect(),
            rest: vec![Vec::new(); subjects.len()],
            subjects,
            stays: Staying::default(),
            unclosed: Unclosed::default(),
        };
        for at in 0..course.subjects.len() {
            course.look_at(at).await?;
        }
        Ok(course)
    }

    /// All of them: first what was done, then the rest in its order.
    pub fn ways(&self) -> Vec<NewUndo> {
        let rest = self.rest.iter().flatten();
        self.done.iter().chain(rest).cloned().collect()
    }

    /// Whether nothing is to come of any of them.
    pub fn is_over(&self) -> bool {
        self.rest.iter().flatten().all(|way| way.state.is_over())
    }

    /// Goes them in their order. What fails is said and stays owed, and keeps back only what rests on it.
    pub async fn go(&mut self) -> Result<(), Refusal> {
        self.note().await?;
        for at in 0..self.subjects.len() {
            match self.go_one(at).await {
                Err(Refusal::Store(error)) => return Err(error.into()),
                Err(error) => self.failed(at, &error),
                Ok(()) => {}
            }
        }
        self.note().await?;
        let home = self.going.home;
        let ways = self.ways();
        let count = |is: fn(UndoState) -> bool| ways.iter().filter(|way| is(way.state)).count();
        let event = Event::FiringUndone {
            done: count(|state| state == UndoState::Done),
            left: count(|state| state == UndoState::Left),
            owed: count(|state| !state.is_over()),
        };
        let (role, now) = (Some(&self.row.role), home.clock.now());
        home.store
            .event(&event, role, Some(self.row.id), now)
            .await?;
        Ok(())
    }

    /// One subject: it is looked at anew before each of its ways.
    async fn go_one(&mut self, at: usize) -> Result<(), Refusal> {
        let mut tried: Vec<NewUndo> = Vec::new();
        loop {
            self.look_at(at).await?;
            let mut next = None;
            for way in &mut self.rest[at] {
                let is_it = |was: &&NewUndo| way.what.clone().less(&was.what).is_none();
                match tried.iter().find(is_it) {
                    _ if way.state != UndoState::Owed => {}
                    Some(was) => (way.state, way.said) = (was.state, was.said.clone()),
                    None if next.is_none() => next = Some(way.clone()),
                    None => {}
                }
            }
            let Some(mut way) = next else {
                return Ok(());
            };
            self.go_way(&mut way).await?;
            if way.state == UndoState::Done {
                self.rest[at].retain(|other| other.what != way.what);
                self.done.push(way);
                self.note().await?;
            } else {
                tried.push(way);
            }
        }
    }

    async fn go_way(&mut self, way: &mut NewUndo) -> Result<(), Refusal> {
        if let (Compensation::DeleteBranch { .. }, Some(stays)) = (&way.what, self.stays.pull) {
            let (state, why) = stays.said("pull request");
            (way.state, way.said) = (state, Some(why));
            return Ok(());
        }
        match act::act(self.going, self.row, &way.what).await {
            Ok((state, said)) => {
                way.state = state;
                let redacted = |said: String| self.going.home.redactor.redact(&said).into_owned();
                way.said = said.map(redacted).or(way.said.take());
            }
            Err(Refusal::Store(error)) => return Err(error.into()),
            Err(error) => {
                way.said = Some(said_of(self.going.home, &error));
                self.unclosed.note(&way.what);
            }
        }
        Ok(())
    }

    /// How the ways of a subject stand now, but for what was done.
    async fn look_at(&mut self, at: usize) -> Result<(), Refusal> {
        let subject = &self.subjects[at];
        let of = (self.row, &self.effects[..]);
        let ways = look(self.going, of, &self.stays, subject).await?;
        let mut rest = Vec::new();
        for way in ways {
            let less = |what: Option<Compensation>, done: &NewUndo| what?.less(&done.what);
            let Some(what) = self.done.iter().fold(Some(way.what.clone()), less) else {
                continue;
            };
            let way = NewUndo { what, ..way };
            match way.state {
                UndoState::Done => self.done.push(way),
                _ => rest.push(way),
            }
        }
        self.rest[at] = rest;
        self.see_what_stays(at);
        Ok(())
    }

    /// What was to be done of a subject that cannot be looked at now.
    fn failed(&mut self, at: usize, error: &Refusal) {
        let said = said_of(self.going.home, error);
        let owed = self.rest[at].iter_mut();
        for way in owed.filter(|way| way.state == UndoState::Owed) {
            way.said = Some(said.clone());
            self.unclosed.note(&way.what);
        }
        self.see_what_stays(at);
    }

    /// Whether the pull request or an issue stays, for what rests on it.
    fn see_what_stays(&mut self, at: usize) {
        match self.subjects[at] {
            Subject::Opened => self.stays.pull = stays(&self.rest[at], self.unclosed.pull),
            Subject::Filed(_) => {
                let is_filed = |subject: &&Subject| matches!(subject, Subject::Filed(_));
                let all = self.subjects.iter().zip(&self.rest);
                let mut filed = all.filter(|(subject, _)| is_filed(subject));
                self.stays.filed = filed.find_map(|(_, ways)| stays(ways, self.unclosed.filed));
            }
            _ => {}
        }
    }

    async fn note(&self) -> Result<(), Refusal> {
        let home = self.going.home;
        let now = home.clock.now();
        Ok(home.store.note_undo(self.row.id, &self.ways(), now).await?)
    }
}

/// Which pull request or issue is not closed by these ways. `is_unclosed`: although it is owed, it could not be.
fn stays(ways: &[NewUndo], is_unclosed: bool) -> Option<Stays> {
    ways.iter().find_map(|way| {
        let (Compensation::ClosePull { pull: number, .. }
        | Compensation::CloseIssue { issue: number, .. }) = way.what
        else {
            return None;
        };
        let is_left = way.state == UndoState::Left;
        let stays = is_left || way.state == UndoState::Waits || is_unclosed;
        stays.then_some(Stays { number, is_left })
    })
}

/// What there is to say of what failed.
pub(super) fn said_of(home: &Home, error: &Refusal) -> String {
    let said = match error.hint() {
        Some(hint) => format!("{}: {hint}", with_causes(error)),
        None => with_causes(error),
    };
    home.redactor.redact(&said).into_owned()
}
