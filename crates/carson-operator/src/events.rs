//! What was written down beside the rows, of the fleet and of its firings.

use carson_core::event::{LIST, Listed};
use carson_home::Home;
use carson_store::EventRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

/// So many are told, where nobody says.
pub const LIMIT: u32 = 50;

/// At most so many.
const MOST: u32 = 1_000;

/// What was decided, the newest first? Also what is of no firing: refused settings, a daemon that was
/// away, jobs, pauses that ran out.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// Only since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    pub since: Option<String>,
    /// Only of this kind, such as `config.rejected`, or of all that begin with a word, such as `job`.
    pub kind: Option<String>,
    /// At most so many, the newest.
    #[serde(default = "limit")]
    pub limit: u32,
}

fn limit() -> u32 {
    LIMIT
}

impl Ask for Events {
    const NAME: &'static str = "events";
    const WHAT: &'static str = "Say what was decided and what happened, the newest first";
    const WHO: Who = Who::Operator;
    type Answer = Vec<EventRow>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let since = since(home, self.since.as_deref())?.unwrap_or_default();
        let kind = self.kind.as_deref();
        if let Some(wrong) = kind.filter(|kind| !is_known(kind)) {
            return Err(Refusal::Field {
                field: "kind",
                problem: format!(
                    "there is no event of the kind {wrong:?}: docs/EVENTS.md lists them"
                ),
            });
        }
        let limit = self.limit.clamp(1, MOST);
        Ok(home.store.events_since(since, kind, limit).await?)
    }
}

/// Whether it is a kind, or the first word of one.
fn is_known(kind: &str) -> bool {
    let first = |one: &Listed| one.kind.split('.').next();
    let mut all = LIST.iter();
    all.any(|one| one.kind == kind || first(one) == Some(kind))
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn a_kind_is_one_of_the_list_or_the_first_word_of_one() {
        for known in ["config.rejected", "job", "job.done", "memory"] {
            assert!(is_known(known), "{known}");
        }
        for unknown in ["", "%", "conf", "config.", "config.%"] {
            assert!(!is_known(unknown), "{unknown}");
        }
    }
}
