//! What was believed is taken back: one lesson, or all that came from somewhere.

use carson_core::lesson::{LessonId, LessonState};
use carson_core::{FiringId, RepoName};
use carson_home::Home;
use carson_memory::recall::telling;
use carson_store::{LessonFilter, LessonRow, Times};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decide::decide;
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
    /// One lesson: its id, or any part of it that no other has. One that was taken back is believed again.
    #[serde(default)]
    pub id: Option<String>,
    /// All that was promoted since then.
    #[serde(default)]
    pub since: Option<String>,
    /// All that sessions of this firing proposed.
    #[serde(default)]
    pub firing: Option<String>,
    /// All that came from there: `session`, `harvest`, `alfred`, …
    #[serde(default)]
    pub source: Option<String>,
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
        "Take lessons back, and say who was told them; once more, and they are believed again";
    const WHO: Who = Who::Operator;
    type Answer = TakenBack;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let rows = match &self.id {
            Some(id) => vec![found(home, id).await?],
            None => self.all(home).await?,
        };
        let mut lessons = Vec::new();
        for row in rows {
            lessons.push(revert(home, row, self.reason.as_deref()).await?);
        }
        Ok(TakenBack { lessons })
    }
}

impl Revert {
    async fn all(&self, home: &Home) -> Result<Vec<LessonRow>, Refusal> {
        if self.since.is_none() && self.firing.is_none() && self.source.is_none() {
            return Err(Refusal::Field {
                field: "id",
                problem: "name a lesson, or say --since, --firing or --source".to_owned(),
            });
        }
        let since = instant(home, "since", self.since.as_deref())?;
        let firing = match &self.firing {
            Some(text) => Some(names::firing(&home.store, text).await?.id),
            None => None,
        };
        let filter = LessonFilter {
            state: Some(LessonState::Promoted),
            source: word("source", self.source.as_deref())?,
            firing,
            ..LessonFilter::all(home.clock.now(), MOST)
        };
        let rows = home.store.lessons(&filter).await?;
        let lately = |row: &LessonRow| since.is_none_or(|since| row.now.at >= since);
        Ok(rows.into_iter().filter(lately).collect())
    }
}

async fn revert(
    home: &Home,
    row: LessonRow,
    reason: Option<&str>,
) -> Result<TakenBackLesson, Refusal> {
    let why = |otherwise: &str| reason.unwrap_or(otherwise).to_owned();
    match row.now.state {
        LessonState::Promoted => {
            let to = (LessonState::Reverted, None, row.now.confidence);
            decide(home, &row, to, why("a person took it back")).await?;
        }
        LessonState::Reverted if home.fleet.memory.killed => {
            let why = "memory.kill_switch is on: nothing is believed again";
            return Err(Refusal::Lesson(why.to_owned()));
        }
        LessonState::Reverted => {
            let history = home.store.lesson_history(row.seq).await?;
            let before = history
                .iter()
                .rev()
                .find(|one| one.state == LessonState::Promoted);
            let Some(before) = before else {
                return Err(Refusal::Lesson("it was never believed".to_owned()));
            };
            let to = (LessonState::Promoted, before.valid, before.confidence);
            decide(home, &row, to, why("a person took its reversal back")).await?;
        }
        state => {
            return Err(Refusal::Lesson(format!(
                "lesson {} is {state}: only what is believed can be taken back",
                row.lesson.id.short()
            )));
        }
    }
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

/// Whether a recall with its own words gives it.
async fn is_told(home: &Home, row: &LessonRow) -> Result<bool, Refusal> {
    let words = telling(&row.lesson.text);
    let times = Times::now(home.clock.now());
    let by_words = home.store.lessons_with(&words, times, 200).await?;
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
