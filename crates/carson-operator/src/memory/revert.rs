//! What was believed is taken back: one lesson, or all that came from somewhere.

use carson_core::lesson::{LessonId, LessonState};
use carson_core::{FiringId, RepoName};
use carson_home::Home;
use carson_memory::recall::{lessons_with, telling};
use carson_store::{LessonFilter, LessonRow, Times};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decide::{decide, refuse_what_cannot_be_believed};
use super::shown::{found, instant, word};
use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Lessons that one call takes back at most.
const MOST: u32 = 10_000;
/// Firings that are named.
const SEEN: u32 = 50;

/// Take back what was believed.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revert {
    /// One lesson: its id, or any part of it that no other has.
    #[serde(default)]
    pub id: Option<String>,
    /// All that was promoted since then.
    #[serde(default)]
    pub since: Option<String>,
    /// All that sessions of this firing proposed: what is believed is taken back, what waits is rejected.
    #[serde(default)]
    pub firing: Option<String>,
    /// The same of all that came from there: `session`, `harvest`, `alfred`, …
    #[serde(default)]
    pub source: Option<String>,
    /// Takes reversals back: what was reverted is believed again.
    #[serde(default)]
    pub undo: bool,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// What was taken back.
#[derive(Debug, Serialize)]
pub struct TakenBack {
    /// Lesson by lesson.
    pub lessons: Vec<TakenBackLesson>,
}

/// A lesson that was taken back, or is believed again.
#[derive(Debug, Serialize)]
pub struct TakenBackLesson {
    /// Which.
    pub id: LessonId,
    /// What it says.
    pub text: String,
    /// Where it stands now.
    pub state: LessonState,
    /// Whether recall still gives it.
    pub still_told: bool,
    /// The firings that were told it.
    pub seen_by: Vec<FiringId>,
    /// Their pull requests of which nobody knows an end.
    pub open_pulls: Vec<OpenPull>,
}

/// A pull request that was made by a firing that was told it.
#[derive(Debug, Serialize)]
pub struct OpenPull {
    /// Its repository.
    pub repo: RepoName,
    /// Its number.
    pub number: u64,
}

impl Ask for Revert {
    const NAME: &'static str = "memory revert";
    const WHAT: &'static str =
        "Take lessons back, and say who was told them; or take that back (undo)";
    const WHO: Who = Who::Operator;
    type Answer = TakenBack;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let rows = match &self.id {
            Some(id) => vec![found(home, id).await?],
            None => self.all(home).await?,
        };
        let mut lessons = Vec::new();
        for row in rows {
            lessons.push(self.revert(home, row).await?);
        }
        Ok(TakenBack { lessons })
    }
}

impl Revert {
    async fn all(&self, home: &Home) -> Result<Vec<LessonRow>, Refusal> {
        if self.since.is_none() && self.firing.is_none() && self.source.is_none() {
            return Err(Refusal::Field {
                field: "id",
                problem: "name a lesson, or say since, firing or source".to_owned(),
            });
        }
        let since = instant(home, "since", self.since.as_deref())?;
        let firing = match &self.firing {
            Some(text) => Some(names::firing(&home.store, text).await?.id),
            None => None,
        };
        let mut rows = Vec::new();
        for state in self.states() {
            let filter = LessonFilter {
                state: Some(*state),
                source: word("source", self.source.as_deref())?,
                firing,
                ..LessonFilter::all(home.clock.now(), MOST)
            };
            rows.extend(home.store.lessons(&filter).await?);
        }
        let lately = |row: &LessonRow| since.is_none_or(|since| row.now.at >= since);
        rows.retain(lately);
        Ok(rows)
    }

    /// What it is about: who is not trusted any more has no say in what waits, either.
    fn states(&self) -> &'static [LessonState] {
        if self.undo {
            &[LessonState::Reverted]
        } else if self.firing.is_some() || self.source.is_some() {
            &[
                LessonState::Promoted,
                LessonState::Candidate,
                LessonState::Held,
            ]
        } else {
            &[LessonState::Promoted]
        }
    }

    async fn revert(&self, home: &Home, row: LessonRow) -> Result<TakenBackLesson, Refusal> {
        let why = |otherwise: &str| self.reason.as_deref().unwrap_or(otherwise).to_owned();
        let confidence = row.now.confidence;
        let refused = |hint: &str| {
            let (id, state) = (row.lesson.id.short(), row.now.state);
            Err(Refusal::Lesson(format!("lesson {id} is {state}: {hint}")))
        };
        let by_hand = self.id.is_some();
        let (to, why) = match (row.now.state, self.undo) {
            (LessonState::Promoted, false) => {
                let to = (LessonState::Reverted, None, confidence);
                (to, why("a person took it back"))
            }
            (LessonState::Reverted, false) => {
                return refused("it was taken back already; --undo believes it again");
            }
            (LessonState::Candidate | LessonState::Held, false) if !by_hand => {
                let to = (LessonState::Rejected, None, confidence);
                (to, why("a person took back all that came from there"))
            }
            (_, false) => {
                let hint = "only what is believed can be taken back; \
                    `carson memory hold --reject` refuses a candidate";
                return refused(hint);
            }
            (LessonState::Reverted, true) if home.fleet.memory.killed => {
                return refused("memory.kill_switch is on, and nothing is believed again");
            }
            (LessonState::Reverted, true) => {
                refuse_what_cannot_be_believed(home, &row).await?;
                let history = home.store.lesson_history(row.seq).await?;
                let before = history
                    .iter()
                    .rev()
                    .find(|one| one.state == LessonState::Promoted);
                let Some(before) = before else {
                    return refused("it was never believed");
                };
                let to = (LessonState::Promoted, before.valid, before.confidence);
                (to, why("a person took its reversal back"))
            }
            (_, true) => return refused("there is no reversal to take back"),
        };
        decide(home, &row, to, why).await?;
        let now = home.store.lesson(row.lesson.id).await?;
        let state = now.map_or(row.now.state, |now| now.now.state);
        let (seen_by, open_pulls) = seen(home, row.seq).await?;
        Ok(TakenBackLesson {
            id: row.lesson.id,
            still_told: is_told(home, &row).await?,
            text: row.lesson.text,
            state,
            seen_by,
            open_pulls,
        })
    }
}

/// Whether a recall with its own words gives it.
async fn is_told(home: &Home, row: &LessonRow) -> Result<bool, Refusal> {
    let words = telling(&row.lesson.text);
    let times = Times::now(home.clock.now());
    let by_words = lessons_with(&home.store, &words, times, 200).await?;
    let by_place = home.store.lessons_by_seq(&[row.seq], times).await?;
    Ok(!by_place.is_empty() || by_words.iter().any(|one| one.seq == row.seq))
}

/// Who was told it, and which of their pull requests nobody knows an end of.
pub(super) async fn seen(home: &Home, seq: i64) -> Result<(Vec<FiringId>, Vec<OpenPull>), Refusal> {
    let mut told = home.store.firings_told(seq, SEEN).await?;
    told.retain(|one| !one.off);
    let mut open = Vec::new();
    for one in &told {
        let (Some(repo), Some(number)) = (&one.repo, one.pull) else {
            continue;
        };
        if home.store.pull_end(repo, number).await?.is_none() {
            open.push(OpenPull {
                repo: repo.clone(),
                number,
            });
        }
    }
    Ok((told.into_iter().map(|one| one.firing).collect(), open))
}
