//! What would be told of a task.

use carson_core::Event;
use carson_core::lesson::{LessonId, Scope, Severity};
use carson_firing::lessons::embedder;
use carson_home::Home;
use carson_memory::recall::{Meaning, Wanted, recall};
use carson_memory::scopes::{Place, paths_in};
use carson_store::Times;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::instant;
use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// What does the fleet know of this?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recall {
    /// Words, or a whole task.
    pub query: String,
    /// At most so many; as the settings say without it.
    #[serde(default)]
    pub limit: Option<usize>,
    /// Only what holds in this repository.
    #[serde(default)]
    pub repo: Option<String>,
    /// Only what holds for this role.
    #[serde(default)]
    pub role: Option<String>,
    /// What was so in the world then.
    #[serde(default)]
    pub as_of: Option<String>,
    /// By what was known then.
    #[serde(default)]
    pub known_at: Option<String>,
    /// Also what was found and is not told, and why.
    #[serde(default)]
    pub explain: bool,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct Known {
    /// The lessons, the best first.
    pub lessons: Vec<KnownLesson>,
    /// How they were found: `words`, or `fused` where meaning had a say.
    pub mode: &'static str,
    /// Why meaning had none, where it should have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fell_back: Option<String>,
    /// What was found and is not told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftOut>,
}

/// A lesson that was found.
#[derive(Debug, Serialize)]
pub struct KnownLesson {
    /// Its id.
    pub id: LessonId,
    /// How well it fits, from 0 to 1.
    pub score: f64,
    /// What it says.
    pub text: String,
    /// Where it holds.
    pub scope: Scope,
    /// How much it is believed.
    pub confidence: f64,
    /// How much it matters.
    pub severity: Severity,
    /// Its place among those that words found, and how well it fits there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_words: Option<Fit>,
    /// Its place among those that are near in meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_meaning: Option<Fit>,
}

/// A place in a ranking.
#[derive(Debug, Serialize)]
pub struct Fit {
    /// From 1.
    pub rank: usize,
    /// From 0 to 1.
    pub fit: f64,
}

/// Something that was found and is not told.
#[derive(Debug, Serialize)]
pub struct LeftOut {
    /// Which.
    pub id: LessonId,
    /// How well it fits.
    pub score: f64,
    /// Why not.
    pub why: String,
}

impl Ask for Recall {
    const NAME: &'static str = "memory recall";
    const WHAT: &'static str = "Find what the fleet knows of a task";
    const WHO: Who = Who::Anyone;
    type Answer = Known;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let now = home.clock.now();
        let memory = &home.fleet.memory;
        if memory.killed {
            let why = "memory.kill_switch is on: nothing is told";
            return Err(Refusal::Lesson(why.to_owned()));
        }
        let repo = self
            .repo
            .as_deref()
            .map(|name| names::repo(&home.fleet, name))
            .transpose()?;
        let role = self
            .role
            .as_deref()
            .map(|name| names::role(&home.fleet, name))
            .transpose()?;
        let place = (repo.is_some() || role.is_some()).then(|| Place {
            repo: repo.map(|repo| repo.name.clone()),
            role: role.map(|role| role.name.clone()),
            paths: paths_in(&self.query),
        });
        let wanted = Wanted {
            place,
            times: Times {
                as_of: instant(home, "as_of", self.as_of.as_deref())?.unwrap_or(now),
                known_at: instant(home, "known_at", self.known_at.as_deref())?.unwrap_or(now),
            },
            limit: self.limit.unwrap_or(memory.limit).min(100),
            threshold: memory.threshold,
            explain: self.explain,
            text: self.query,
        };
        let meaning = Meaning::of(embedder(home), home.vectors.clone());
        let answer = recall(&home.store, &meaning, &wanted).await?;
        let fell_back = answer
            .fell_back
            .map(|why| home.redactor.redact(&why).into_owned());
        if let Some(why) = fell_back.clone() {
            home.store
                .event(&Event::MemoryByWords { why }, None, None, now)
                .await?;
        }
        let fit = |way: carson_memory::recall::Way| Fit {
            rank: way.rank,
            fit: way.fit,
        };
        let lessons = answer.matches.into_iter().map(|one| KnownLesson {
            id: one.row.lesson.id,
            score: one.score,
            text: one.row.lesson.text,
            scope: one.row.lesson.scope,
            confidence: one.row.now.confidence,
            severity: one.row.lesson.severity,
            by_words: one.by_words.map(fit),
            by_meaning: one.by_meaning.map(fit),
        });
        let left = answer.left.into_iter();
        Ok(Known {
            lessons: lessons.collect(),
            mode: if answer.fused { "fused" } else { "words" },
            fell_back,
            left: left
                .map(|one| LeftOut {
                    id: one.id,
                    score: one.score,
                    why: one.why,
                })
                .collect(),
        })
    }
}
