//! How rows of before say why they were skipped: each stop had a form of its own.

use serde::Deserialize;

use super::{SkipKind, SkipReason};

/// A reason as a row holds it.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Read {
    Now { kind: SkipKind, why: String },
    Before(Before),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Before {
    Paused(String),
    Blocked(String),
    Reserved(String),
    LowPriority(String),
    Budget(String),
    BreakerOpen(String),
    DailyCap(u32),
    Overlap,
    OpenPullRequests(u32),
    TooLate,
    Preflight(String),
}

impl From<Read> for SkipReason {
    fn from(read: Read) -> Self {
        let before = match read {
            Read::Now { kind, why } => return Self::new(kind, why),
            Read::Before(before) => before,
        };
        let (word, why) = match before {
            Before::Paused(why) => ("pause", format!("paused: {why}")),
            Before::Blocked(why) => ("block", format!("blocked: {why}")),
            Before::Reserved(why) => ("reserved", format!("kept for people: {why}")),
            Before::LowPriority(why) => ("low-priority", format!("low priority: {why}")),
            Before::Budget(why) => ("budget", format!("budget used up: {why}")),
            Before::BreakerOpen(why) => ("breaker", format!("breaker open: {why}")),
            Before::DailyCap(cap) => ("daily-cap", format!("daily cap of {cap} firings used up")),
            Before::Overlap => ("overlap", "its firing still runs".to_owned()),
            Before::OpenPullRequests(count) => return Self::open_pull_requests(count, count),
            Before::TooLate => return Self::too_late(),
            Before::Preflight(why) => return Self::preflight(&why),
        };
        Self::new(SkipKind::new(word), why)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn rows_of_before_and_of_now_read_as_the_same() {
        let before = [
            (json!({"paused": "w"}), "pause", "paused: w"),
            (json!({"blocked": "w"}), "block", "blocked: w"),
            (json!({"reserved": "w"}), "reserved", "kept for people: w"),
            (
                json!({"low-priority": "w"}),
                "low-priority",
                "low priority: w",
            ),
            (json!({"budget": "w"}), "budget", "budget used up: w"),
            (json!({"breaker-open": "w"}), "breaker", "breaker open: w"),
            (
                json!({"daily-cap": 3}),
                "daily-cap",
                "daily cap of 3 firings used up",
            ),
            (json!("overlap"), "overlap", "its firing still runs"),
            (
                json!({"open-pull-requests": 3}),
                "open-prs",
                "review queue 3/3: merge or close one (carson pr list), or raise limits.max_open_prs",
            ),
            (
                json!("too-late"),
                "too-late",
                "the slot is too old to catch up",
            ),
            (json!({"preflight": "w"}), "preflight", "preflight: w"),
        ];
        let read = |json: Value| serde_json::from_value::<SkipReason>(json).unwrap();
        for (row, word, sentence) in before {
            let reason = read(row);
            assert_eq!(reason.to_string(), sentence);
            assert_eq!(word.parse(), Ok(reason.kind()));
            assert_eq!(read(serde_json::to_value(&reason).unwrap()), reason);
        }
        let unknown = json!({"kind": "nobody", "why": "w"});
        assert!(serde_json::from_value::<SkipReason>(unknown).is_err());
    }
}
