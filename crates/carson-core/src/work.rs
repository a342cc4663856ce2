//! One piece of work that a firing takes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::story::StoryId;

/// What a firing works on. The text in it comes from outside: it is data, never an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Which piece; unique within a repository.
    pub key: WorkKey,
    /// Title, as its author wrote it.
    pub title: String,
    /// Body, as its author wrote it.
    pub body: String,
    /// Where a person finds it: an address or a file.
    pub url: String,
    /// How many firings took it before this one.
    pub attempts: u32,
    /// What a firing is to know beside that.
    pub background: Background,
}

/// What was said to a piece of work and tried on it before. Text from outside, too; empty where
/// there is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    /// Comments by people whom the forge knows, the newest at the end.
    pub comments: String,
    /// How the firings before this one ended, the newest at the end.
    pub attempts: String,
}

/// Names a piece of work within its repository: `issue-12`, `pull-7`, `story-S-1`; `none` where a role works without
/// one, at every slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum WorkKey {
    /// An issue by its number.
    Issue(u64),
    /// A pull request by its number.
    Pull(u64),
    /// An entry of Carson's own queue.
    Queue(u64),
    /// A story of a plan by its name.
    Story(StoryId),
    /// No work but the role's own task.
    None,
}

impl WorkKey {
    /// Its number; a story has a name.
    #[must_use]
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Issue(number) | Self::Pull(number) | Self::Queue(number) => Some(number),
            Self::Story(_) | Self::None => None,
        }
    }

    /// Its name, of a story.
    #[must_use]
    pub fn story(self) -> Option<StoryId> {
        match self {
            Self::Story(id) => Some(id),
            _ => None,
        }
    }

    /// As people write it: `#12`, `story S-1`; nothing where there is no work.
    #[must_use]
    pub fn reference(self) -> String {
        match self {
            Self::Issue(number) | Self::Pull(number) => format!("#{number}"),
            Self::Story(id) => format!("story {id}"),
            Self::Queue(_) => self.to_string(),
            Self::None => String::new(),
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Issue(_) => "issue",
            Self::Pull(_) => "pull",
            Self::Queue(_) => "queue",
            Self::Story(_) => "story",
            Self::None => "none",
        }
    }
}

impl fmt::Display for WorkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.number(), self.story()) {
            (Some(number), _) => f.pad(&format!("{}-{number}", self.kind())),
            (None, Some(id)) => f.pad(&format!("{}-{id}", self.kind())),
            (None, None) => f.pad(self.kind()),
        }
    }
}

impl FromStr for WorkKey {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == Self::None.kind() {
            return Ok(Self::None);
        }
        if let Some(id) = text.strip_prefix("story-") {
            return id.parse().map(Self::Story);
        }
        let numbered = text.split_once('-');
        let numbered = numbered.and_then(|(kind, number)| Some((kind, number.parse().ok()?)));
        match numbered {
            Some(("issue", number)) => Ok(Self::Issue(number)),
            Some(("pull", number)) => Ok(Self::Pull(number)),
            Some(("queue", number)) => Ok(Self::Queue(number)),
            _ => Err(format!("{text:?} does not name a piece of work (issue-N)")),
        }
    }
}

impl TryFrom<String> for WorkKey {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<WorkKey> for String {
    fn from(key: WorkKey) -> String {
        key.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back() {
        for (key, text) in [
            (WorkKey::Issue(12), "issue-12"),
            (WorkKey::Pull(7), "pull-7"),
            (WorkKey::Queue(1), "queue-1"),
            (WorkKey::Story("3".parse().unwrap()), "story-3"),
            (WorkKey::Story("S-1.b".parse().unwrap()), "story-S-1.b"),
            (WorkKey::None, "none"),
        ] {
            assert_eq!(key.to_string(), text);
            assert_eq!(text.parse(), Ok(key));
        }
        assert!("story-../x".parse::<WorkKey>().is_err());
        assert!("issue-x".parse::<WorkKey>().is_err());
        assert!("12".parse::<WorkKey>().is_err());
    }
}
