//! The whole chain of a lesson: what it rests on, who proposed it, what was found and decided, and who was told it.

use carson_core::lesson::LessonState;
use carson_core::{FiringId, Outcome, RoleName};
use carson_firing::lessons::look;
use carson_home::Home;
use carson_memory::candidate::Candidate;
use carson_memory::canon::canon;
use carson_memory::found::{Found, Now};
use carson_memory::structural::{bears_out, structural};
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shown::{ShownLesson, found};
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Firings that are named.
const TOLD: u32 = 100;

/// Where did a lesson come from, and where did it go?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// Its id, or any part of it that no other has.
    pub id: String,
}

/// The chain.
#[derive(Debug, Serialize)]
pub struct Chain {
    /// The lesson.
    pub lesson: ShownLesson,
    /// What it rests on, as it is found now.
    pub evidence: Vec<Looked>,
    /// What that is worth by itself.
    pub structural: f64,
    /// What it would be told as: `instruction`, `hint`, `demoted`, or what contradicts it.
    pub canon: String,
    /// What the gate found, oldest first.
    pub judgements: Vec<Judged>,
    /// What was thought of it, oldest first.
    pub history: Vec<Thought>,
    /// Who was told it, newest first.
    pub told: Vec<Told>,
}

/// A piece of evidence.
#[derive(Debug, Serialize)]
pub struct Looked {
    /// What it names.
    pub evidence: String,
    /// What is there: `there`, `same`, `changed`, `gone`, `said`, `missing` or `unknown`.
    pub found: &'static str,
    /// More of it, where there is something to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whether it bears the claim out.
    pub bears_out: bool,
}

/// What the gate found.
#[derive(Debug, Serialize)]
pub struct Judged {
    /// When.
    pub at: DateTime<Utc>,
    /// The account that judged.
    pub account: Option<String>,
    /// The rules that it broke.
    pub rails: Vec<String>,
    /// What its evidence was worth.
    pub structural: f64,
    /// What the judge said.
    pub verdict: Option<Value>,
    /// The lower of the two.
    pub score: Option<f64>,
    /// What followed.
    pub decision: String,
}

/// What was thought of it from some time on.
#[derive(Debug, Serialize)]
pub struct Thought {
    /// Since when.
    pub at: DateTime<Utc>,
    /// Where it stood.
    pub state: LessonState,
    /// Who decided.
    pub by: String,
    /// Why.
    pub why: String,
    /// Of which times in the world it was believed: since then.
    pub valid_from: Option<DateTime<Utc>>,
    /// Until then.
    pub valid_to: Option<DateTime<Utc>>,
}

/// A firing that was told it.
#[derive(Debug, Serialize)]
pub struct Told {
    /// Which.
    pub firing: FiringId,
    /// Its role.
    pub role: RoleName,
    /// What it was told as; `off` where it was kept from it, to compare.
    pub canon: String,
    /// How well it fitted.
    pub score: f64,
    /// How the firing ended.
    pub outcome: Option<Outcome>,
}

impl Ask for Audit {
    const NAME: &'static str = "memory audit";
    const WHAT: &'static str =
        "Show a lesson's whole chain, from its evidence to the prompts that had it";
    const WHO: Who = Who::Anyone;
    type Answer = Chain;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let row = found(home, &self.id).await?;
        let store = &home.store;
        let evidence = store.lesson_evidence(row.seq).await?;
        let pieces = look(home, row.lesson.repo.as_ref(), &evidence, row.lesson.source).await;
        let candidate = Candidate {
            evidence,
            ..Candidate::of_row(&row.lesson)
        };
        let canon = canon(row.now.confidence, &pieces);
        let looked = pieces.iter().map(|piece| {
            let (found, why) = word(&piece.found);
            Looked {
                evidence: piece.evidence.to_string(),
                found,
                why: why.map(|why| home.redactor.redact(&why).into_owned()),
                bears_out: bears_out(piece, &row.lesson.text),
            }
        });
        let judgements = store
            .judgements(row.seq)
            .await?
            .into_iter()
            .map(|one| Judged {
                at: one.at,
                account: one.account.map(String::from),
                rails: one.rails,
                structural: one.structural,
                verdict: one.verdict,
                score: one.score,
                decision: one.decision,
            });
        let history = store
            .lesson_history(row.seq)
            .await?
            .into_iter()
            .map(|one| Thought {
                at: one.at,
                state: one.state,
                by: one.by,
                why: one.why,
                valid_from: one.valid.map(|valid| valid.from),
                valid_to: one.valid.and_then(|valid| valid.to),
            });
        let mut told = Vec::new();
        for one in store.firings_told(row.seq, TOLD).await? {
            let Some(recall) = store.recall_of(one.firing).await? else {
                continue;
            };
            let own = recall
                .lessons
                .into_iter()
                .find(|lesson| lesson.lesson == row.lesson.id);
            let Some(own) = own else { continue };
            told.push(Told {
                firing: one.firing,
                role: one.role,
                canon: if recall.off {
                    "off".to_owned()
                } else {
                    own.canon
                },
                score: own.score,
                outcome: one.outcome,
            });
        }
        Ok(Chain {
            evidence: looked.collect(),
            structural: structural(&candidate, &pieces),
            canon: canon.map_or_else(|why| why, |canon| canon.to_string()),
            judgements: judgements.collect(),
            history: history.collect(),
            told,
            lesson: ShownLesson::of(home, row).await?,
        })
    }
}

fn word(found: &Found) -> (&'static str, Option<String>) {
    match found {
        Found::Lines { now: Now::Same, .. } => ("same", None),
        Found::Lines {
            now: Now::Changed, ..
        } => ("changed", None),
        Found::Lines { now: Now::Gone, .. } => ("gone", None),
        Found::There { .. } => ("there", None),
        Found::Said => ("said", None),
        Found::Missing(why) => ("missing", Some(why.clone())),
        Found::Unknown(why) => ("unknown", Some(why.clone())),
    }
}
