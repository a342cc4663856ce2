//! A person decides about a lesson.

use carson_core::Event;
use carson_core::lesson::LessonState;
use carson_firing::lessons::look;
use carson_home::Home;
use carson_memory::candidate::Candidate;
use carson_memory::rails::{Known, broken};
use carson_store::{Change, Decided, LessonRow, Valid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{ShownLesson, found};
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// How much is believed what a person promotes.
const BELIEVED: f64 = 0.8;

/// Tell sessions a lesson from now on.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Promote {
    /// Its id, or any part of it that no other has.
    pub id: String,
    /// How much it is believed, from 0 to 1; from 0.75 on it is an instruction. What a person promotes is believed by 0.8
    /// without it, whoever proposed it.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

impl Ask for Promote {
    const NAME: &'static str = "memory promote";
    const WHAT: &'static str = "Promote a candidate: sessions are told it from now on";
    const WHO: Who = Who::Trusted;
    type Answer = ShownLesson;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let row = found(home, &self.id).await?;
        let may = [
            LessonState::Candidate,
            LessonState::Held,
            LessonState::Rejected,
        ];
        let hint = match row.now.state {
            LessonState::Reverted => "`carson memory revert --undo` believes it again",
            _ => "sessions are told it already",
        };
        expect(&row, &may, hint)?;
        if home.fleet.memory.killed {
            return Err(Refusal::Lesson(
                "memory.kill_switch is on: nothing is promoted".to_owned(),
            ));
        }
        let confidence = self.confidence.unwrap_or(BELIEVED);
        if !(0.0..=1.0).contains(&confidence) {
            return Err(Refusal::Field {
                field: "confidence",
                problem: format!("{confidence} is not from 0 to 1"),
            });
        }
        refuse_what_cannot_be_believed(home, &row).await?;
        let valid = Valid {
            from: row.lesson.valid.from,
            to: row.lesson.valid.to,
        };
        let why = self
            .reason
            .unwrap_or_else(|| "a person promoted it".to_owned());
        decide(
            home,
            &row,
            (LessonState::Promoted, Some(valid), confidence),
            why,
        )
        .await?;
        ShownLesson::of(home, found(home, &row.lesson.id.to_string()).await?).await
    }
}

/// A person may see a duplicate, a conflict or a scope otherwise than the rules do. Not what hides, has a secret, steers,
/// or rests on nothing that is there.
pub(super) async fn refuse_what_cannot_be_believed(
    home: &Home,
    row: &LessonRow,
) -> Result<(), Refusal> {
    let evidence = home.store.lesson_evidence(row.seq).await?;
    let lesson = &row.lesson;
    let pieces = look(home, lesson.repo.as_ref(), &evidence, lesson.source).await;
    let candidate = Candidate {
        evidence,
        ..Candidate::of_row(lesson)
    };
    let broken = broken(&Known {
        candidate: &candidate,
        pieces: &pieces,
        others: &[],
        redactor: &home.redactor,
    });
    let stands = broken
        .iter()
        .find(|one| one.rejects || one.rail == "evidence");
    // What was brought from elsewhere has evidence that nobody can look up here: who promotes it answers for it.
    let brought = matches!(lesson.source, carson_core::lesson::LessonSource::Alfred);
    match stands {
        Some(one) if !(brought && one.rail == "evidence") => {
            Err(Refusal::Lesson(format!("{}: {}", one.rail, one.why)))
        }
        _ => Ok(()),
    }
}

/// Let a lesson wait.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// Its id, or any part of it that no other has.
    pub id: String,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// It will not be believed: reject it.
    #[serde(default)]
    pub reject: bool,
}

impl Ask for Hold {
    const NAME: &'static str = "memory hold";
    const WHAT: &'static str = "Hold a lesson: nobody is told it until a person decides";
    const WHO: Who = Who::Operator;
    type Answer = ShownLesson;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let row = found(home, &self.id).await?;
        let state = if self.reject {
            LessonState::Rejected
        } else {
            LessonState::Held
        };
        let may = [
            LessonState::Candidate,
            LessonState::Promoted,
            LessonState::Held,
            LessonState::Rejected,
        ];
        expect(
            &row,
            &may,
            "nobody is told it, and there is nothing to hold",
        )?;
        let why = self
            .reason
            .unwrap_or_else(|| format!("a person {state} it"));
        decide(home, &row, (state, None, row.now.confidence), why).await?;
        ShownLesson::of(home, found(home, &row.lesson.id.to_string()).await?).await
    }
}

fn expect(row: &LessonRow, states: &[LessonState], hint: &str) -> Result<(), Refusal> {
    if states.contains(&row.now.state) {
        return Ok(());
    }
    Err(Refusal::Lesson(format!(
        "lesson {} is {}: {hint}",
        row.lesson.id.short(),
        row.now.state
    )))
}

/// Writes a decision down.
pub(super) async fn decide(
    home: &Home,
    row: &LessonRow,
    (state, valid, confidence): (LessonState, Option<Valid>, f64),
    why: String,
) -> Result<(), Refusal> {
    let change = Change {
        n: row.now.n + 1,
        at: home.clock.now(),
        state,
        valid,
        confidence,
        by: "operator".to_owned(),
        why,
        undoes: (state == LessonState::Reverted || row.now.state == LessonState::Reverted)
            .then_some(row.now.n),
    };
    let id = row.lesson.id;
    match home.store.change_lesson(id, &change).await? {
        Decided::Done => {}
        Decided::Overtaken => {
            return Err(Refusal::Lesson(format!(
                "somebody decided about lesson {} meanwhile: look at it again",
                id.short()
            )));
        }
        Decided::Gone => return Err(Refusal::NoLesson(id.to_string())),
    }
    let event = Event::MemoryDecided {
        lesson: id,
        state,
        why: change.why,
    };
    home.store
        .event(&event, None, row.lesson.firing, change.at)
        .await?;
    Ok(())
}
