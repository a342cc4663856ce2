//! A person proposes a lesson.

use carson_core::lesson::{Evidence, LessonSource, Scope};
use carson_home::Home;
use carson_memory::candidate::Candidate;
use carson_store::LessonFilter;
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{ShownLesson, found, instant, word};
use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Lessons that models propose at most over MCP, and in which time.
const OF_MODELS: (u32, TimeDelta) = (20, TimeDelta::hours(1));

/// Write down what may be worth telling.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Propose {
    /// One claim, in at most 600 characters.
    pub text: String,
    /// Where it holds: `fleet`, `repo:NAME`, `path:GLOB` or `role:NAME`.
    pub scope: String,
    /// What it rests on: `file:PATH@COMMIT:FIRST-LAST`, `pr:N`, `issue:N`, `firing:ID` or `note:TEXT`.
    pub evidence: Vec<String>,
    /// How much it matters: `info`, `warning` or `blocker`.
    #[serde(default)]
    pub severity: Option<String>,
    /// What it is: `fact`, `pitfall`, `convention` or `procedure`.
    #[serde(default)]
    pub kind: Option<String>,
    /// How sure you are, from 0 to 1.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// The repository in which its evidence is found, where the scope does not say it.
    #[serde(default)]
    pub repo: Option<String>,
    /// Since when it is so.
    #[serde(default)]
    pub valid_from: Option<String>,
    /// Until when it was so.
    #[serde(default)]
    pub valid_to: Option<String>,
}

impl Ask for Propose {
    const NAME: &'static str = "memory propose";
    const WHAT: &'static str = "Propose a lesson; nobody is told it before it is promoted";
    const WHO: Who = Who::Operator;
    type Answer = ShownLesson;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        self.recorded(home, LessonSource::Operator, "operator")
            .await
    }
}

impl Propose {
    /// The same of a model that nobody fired, over MCP: what it says that a person said is no evidence.
    ///
    /// # Errors
    /// As for a person.
    pub async fn of_a_model(self, home: &Home) -> Result<ShownLesson, Refusal> {
        let (now, (most, within)) = (home.clock.now(), OF_MODELS);
        // The rows are counted: a server that is started anew has no more of them.
        let filter = LessonFilter {
            source: Some(LessonSource::Mcp),
            since: Some(now - within),
            ..LessonFilter::all(now, most)
        };
        let proposed = home.store.lessons(&filter).await?.len();
        if u32::try_from(proposed).is_ok_and(|proposed| proposed < most) {
            return self.recorded(home, LessonSource::Mcp, "mcp").await;
        }
        Err(Refusal::Lesson(format!(
            "models have proposed {most} lessons in the last hour: try again later"
        )))
    }

    async fn recorded(
        self,
        home: &Home,
        source: LessonSource,
        by: &str,
    ) -> Result<ShownLesson, Refusal> {
        let candidate = Candidate {
            source,
            by: by.to_owned(),
            ..self.candidate(home)?
        };
        candidate.check().map_err(|error| Refusal::Field {
            field: "lesson",
            problem: error.to_string(),
        })?;
        let (lesson, first) = candidate.recorded(&home.redactor, home.clock.now());
        home.store.record_lesson(&lesson, &[first]).await?;
        ShownLesson::of(home, found(home, &lesson.id.to_string()).await?).await
    }

    fn candidate(self, home: &Home) -> Result<Candidate, Refusal> {
        let wrong = |field: &'static str, problem: String| Refusal::Field { field, problem };
        let scope: Scope = self
            .scope
            .parse()
            .map_err(|error| wrong("scope", format!("{error}")))?;
        match &scope {
            Scope::Repo(name) => drop(names::repo(&home.fleet, name.as_str())?),
            Scope::Role(name) => drop(names::role(&home.fleet, name.as_str())?),
            Scope::Fleet | Scope::Path(_) => {}
        }
        let evidence = self.evidence.iter().map(|text| text.parse::<Evidence>());
        let evidence: Vec<Evidence> = evidence
            .collect::<Result<_, _>>()
            .map_err(|error| wrong("evidence", error.to_string()))?;
        let named = self
            .repo
            .as_deref()
            .or(scope.repo().map(carson_core::RepoName::as_str));
        let mut repos = home.fleet.repos.values();
        let repo = match (named, repos.next(), repos.next()) {
            (Some(name), ..) => Some(names::repo(&home.fleet, name)?.name.clone()),
            (None, Some(only), None) => Some(only.name.clone()),
            _ => None,
        };
        let mut candidate = Candidate::of_operator(&self.text, scope, evidence);
        candidate.repo = repo;
        candidate.valid_from = instant(home, "valid_from", self.valid_from.as_deref())?;
        candidate.valid_to = instant(home, "valid_to", self.valid_to.as_deref())?;
        if let Some(severity) = word("severity", self.severity.as_deref())? {
            candidate.severity = severity;
        }
        if let Some(kind) = word("kind", self.kind.as_deref())? {
            candidate.kind = kind;
        }
        if let Some(confidence) = self.confidence {
            candidate.confidence = confidence;
        }
        Ok(candidate)
    }
}
