//! What a person writes: the task, the promise, the bounds.

use std::time::Duration;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::words::Words;

/// The longest time that may be written, in seconds: a month.
const LONGEST: u64 = 31 * 24 * 60 * 60;
/// Attempts that a loop may make at most.
pub(crate) const MOST_ATTEMPTS: u32 = 1_000_000;

/// `config.json` of a loop. It is read again before each attempt; unknown keys are refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What must exit 0.
    pub promise: Words,
    /// What is run until it does.
    pub task: Words,
    /// Attempts at most.
    #[serde(default = "ten", deserialize_with = "attempts")]
    #[schemars(range(min = 1, max = MOST_ATTEMPTS))]
    pub max_attempts: u32,
    /// Seconds that one attempt of the task may take.
    #[serde(default = "five_minutes", deserialize_with = "seconds")]
    #[schemars(range(min = 1, max = LONGEST))]
    pub timeout_seconds: u64,
    /// Seconds that all of it may take.
    #[serde(default = "one_hour", deserialize_with = "seconds")]
    #[schemars(range(min = 1, max = LONGEST))]
    pub total_seconds: u64,
    /// So many attempts that get nowhere end it: docs/LOOP.md says what that means.
    #[serde(default = "three", deserialize_with = "limit")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub stagnation_limit: u32,
    /// Times in a row that the promise must be kept.
    #[serde(default = "once", deserialize_with = "runs")]
    #[schemars(range(min = 1, max = 1_000))]
    pub verify_runs: u32,
    /// Seconds that the promise may take, each time.
    #[serde(default = "one_minute", deserialize_with = "seconds")]
    #[schemars(range(min = 1, max = LONGEST))]
    pub verify_timeout_seconds: u64,
    /// Tokens of the promise's output that the next attempt hears, at four characters each.
    #[serde(default = "feedback", deserialize_with = "tokens")]
    #[schemars(range(min = 100, max = 1_000_000))]
    pub feedback_tokens: u32,
}

impl Config {
    /// With everything as usual.
    #[must_use]
    pub fn new(promise: Words, task: Words) -> Self {
        Self {
            promise,
            task,
            max_attempts: ten(),
            timeout_seconds: five_minutes(),
            total_seconds: one_hour(),
            stagnation_limit: three(),
            verify_runs: once(),
            verify_timeout_seconds: one_minute(),
            feedback_tokens: feedback(),
        }
    }

    /// How long one attempt of the task may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }

    /// How long all of it may take.
    #[must_use]
    pub fn total(&self) -> Duration {
        Duration::from_secs(self.total_seconds)
    }

    /// How long the promise may take, each time.
    #[must_use]
    pub fn verify_timeout(&self) -> Duration {
        Duration::from_secs(self.verify_timeout_seconds)
    }

    /// The names of the keys that differ from another one's.
    #[must_use]
    pub fn differs(&self, other: &Self) -> Vec<String> {
        let table = |config: &Self| serde_json::to_value(config).unwrap_or_default();
        let (ours, theirs) = (table(self), table(other));
        let keys = ours.as_object().into_iter().flatten();
        keys.filter(|(key, value)| theirs.get(key.as_str()) != Some(*value))
            .map(|(key, _)| key.clone())
            .collect()
    }
}

/// What somebody wants to be another way; what is not said stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Changes {
    /// Another promise.
    pub promise: Option<Words>,
    /// Another task.
    pub task: Option<Words>,
    /// Another number of attempts.
    pub max_attempts: Option<u32>,
    /// Another time for each.
    pub timeout_seconds: Option<u64>,
    /// Another time for all.
    pub total_seconds: Option<u64>,
    /// Another limit of attempts that get nowhere.
    pub stagnation_limit: Option<u32>,
    /// Another number of runs of the promise.
    pub verify_runs: Option<u32>,
    /// Another time for each of those.
    pub verify_timeout_seconds: Option<u64>,
    /// Another length of what the next attempt hears.
    pub feedback_tokens: Option<u32>,
}

impl Changes {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A configuration with these changes.
    ///
    /// # Errors
    /// When it would not be one; the text names the key.
    pub fn to(&self, config: &Config) -> Result<Config, String> {
        let mut table = serde_json::to_value(config).map_err(|error| error.to_string())?;
        let changes = serde_json::to_value(self).map_err(|error| error.to_string())?;
        for (key, value) in changes.as_object().into_iter().flatten() {
            if !value.is_null() {
                table[key.as_str()] = value.clone();
            }
        }
        serde_json::from_value(table).map_err(|error| error.to_string())
    }
}

fn ten() -> u32 {
    10
}

fn three() -> u32 {
    3
}

fn once() -> u32 {
    1
}

fn feedback() -> u32 {
    4_000
}

fn one_minute() -> u64 {
    60
}

fn five_minutes() -> u64 {
    300
}

fn one_hour() -> u64 {
    3_600
}

/// A number within bounds; errors name the key and stand at its line.
fn within<'de, D: Deserializer<'de>>(
    from: D,
    key: &str,
    (min, max): (u64, u64),
) -> Result<u64, D::Error> {
    let value = u64::deserialize(from)?;
    match (min..=max).contains(&value) {
        true => Ok(value),
        false => Err(D::Error::custom(format!(
            "{key} is {value}, and is to be {min} to {max}"
        ))),
    }
}

fn small<'de, D: Deserializer<'de>>(
    from: D,
    key: &str,
    bounds: (u64, u64),
) -> Result<u32, D::Error> {
    u32::try_from(within(from, key, bounds)?).map_err(D::Error::custom)
}

fn attempts<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    small(from, "max_attempts", (1, MOST_ATTEMPTS.into()))
}

fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    small(from, "stagnation_limit", (2, 1_000_000))
}

fn runs<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    small(from, "verify_runs", (1, 1_000))
}

fn tokens<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    small(from, "feedback_tokens", (100, 1_000_000))
}

fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    within(from, "a time in seconds", (1, LONGEST))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        let parsed = crate::json_file::parse(Path::new("config.json"), text.as_bytes());
        parsed.map_err(|error| error.to_string())
    }

    #[test]
    fn two_keys_are_enough_and_the_others_are_as_usual() {
        let config = parse(r#"{"promise": "npm test", "task": ["claude", "-p", "fix"]}"#).unwrap();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        let task = Words::argv(words("claude -p fix")).unwrap();
        assert_eq!(config, Config::new(Words::line("npm test").unwrap(), task));
        assert_eq!((config.max_attempts, config.timeout_seconds), (10, 300));
        // Ten attempts and as many checks take just as long as all may.
        let longest = config.max_attempts * 360;
        assert_eq!(u64::from(longest), config.total_seconds);
    }

    #[test]
    fn what_is_wrong_is_told_at_its_line() {
        for (text, line, wanted) in [
            (
                "{\"promise\": \"x\",\n\"task\": \"y\",\n\"max_attempst\": 3}",
                3,
                "unknown field `max_attempst`",
            ),
            (
                "{\"promise\": \"x\",\n\"task\": \"y\",\n\"max_attempts\": 0\n}",
                3,
                "max_attempts is 0, and is to be 1 to",
            ),
            ("{\"promise\": \"x\",\n\"task\": \"\"}", 2, "it is empty"),
            ("{\n\"promise\": \"x\"\n}", 3, "missing field `task`"),
            ("{\n\"promise\": \"x\" \"task\": 1\n}", 2, "expected `,`"),
            (
                "{\"promise\": \"x\", \"task\": \"y\", \"timeout_seconds\": -1}",
                1,
                "invalid value",
            ),
        ] {
            let error = parse(text).unwrap_err();
            let is_there = error.starts_with(&format!("config.json:{line}:"));
            assert!(is_there && error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn changes_are_checked_like_what_is_written() {
        let config = Config::new(Words::line("x").unwrap(), Words::line("y").unwrap());
        let more = Changes {
            max_attempts: Some(20),
            ..Changes::default()
        };
        let changed = more.to(&config).unwrap();
        assert_eq!(changed.differs(&config), ["max_attempts"]);
        let none = Changes {
            max_attempts: Some(0),
            ..Changes::default()
        };
        let error = none.to(&config).unwrap_err();
        assert!(error.contains("max_attempts is 0"), "{error}");
        assert!(Changes::default().is_empty() && !more.is_empty());
    }
}
