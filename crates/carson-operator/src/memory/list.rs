//! Lessons and candidates.

use carson_home::Home;
use carson_store::LessonFilter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{ShownLesson, found, instant, word};
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Which lessons and candidates are there?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Only in this state: `candidate`, `held`, `promoted`, `rejected` or `reverted`.
    #[serde(default)]
    pub state: Option<String>,
    /// Only from there: `operator`, `session`, `harvest`, `review`, `mcp`, `import` or `alfred`.
    #[serde(default)]
    pub source: Option<String>,
    /// Only of this scope: `fleet`, `repo:NAME`, `path:GLOB` or `role:NAME`.
    #[serde(default)]
    pub scope: Option<String>,
    /// As it was known then.
    #[serde(default)]
    pub known_at: Option<String>,
    /// At most so many; the newest come first.
    #[serde(default = "many")]
    pub limit: u32,
}

fn many() -> u32 {
    100
}

impl Ask for List {
    const NAME: &'static str = "memory list";
    const WHAT: &'static str = "List lessons and candidates, the newest first";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<ShownLesson>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let known_at = instant(home, "known_at", self.known_at.as_deref())?;
        let filter = LessonFilter {
            state: word("state", self.state.as_deref())?,
            source: word("source", self.source.as_deref())?,
            scope: word("scope", self.scope.as_deref())?,
            ..LessonFilter::all(known_at.unwrap_or_else(|| home.clock.now()), self.limit)
        };
        let mut shown = Vec::new();
        for row in home.store.lessons(&filter).await? {
            shown.push(ShownLesson::of(home, row).await?);
        }
        Ok(shown)
    }
}

/// What does a lesson say?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// Its id, or any part of it that no other has.
    pub id: String,
}

impl Ask for Show {
    const NAME: &'static str = "memory show";
    const WHAT: &'static str = "Show one lesson whole";
    const WHO: Who = Who::Anyone;
    type Answer = ShownLesson;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        ShownLesson::of(home, found(home, &self.id).await?).await
    }
}
