//! States, kinds, severities and sources, and a lesson's name.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

/// A word that is none of those it may be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{given:?} is no {what}: {known}")]
pub struct UnknownWord {
    what: &'static str,
    given: String,
    known: String,
}

macro_rules! words {
    (
        $(#[$doc:meta])*
        $type:ident is a $what:literal {
            $( $(#[$of_word:meta])* $word:ident = $text:literal, )+
        }
    ) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(rename_all = "lowercase")]
        pub enum $type {
            $( $(#[$of_word])* $word, )+
        }

        impl $type {
            /// All of them.
            pub const ALL: &[Self] = &[$( Self::$word, )+];

            /// The word for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$word => $text, )+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = UnknownWord;
            fn from_str(given: &str) -> Result<Self, UnknownWord> {
                let found = Self::ALL.iter().find(|word| word.as_str() == given);
                found.copied().ok_or_else(|| UnknownWord {
                    what: $what,
                    given: given.chars().take(40).collect(),
                    known: [$( $text, )+].join(", "),
                })
            }
        }
    };
}

words! {
    /// Where a lesson stands.
    LessonState is a "state" {
        /// Somebody proposed it, and nobody decided.
        Candidate = "candidate",
        /// It was looked at, and waits for a person.
        Held = "held",
        /// Sessions are told of it.
        Promoted = "promoted",
        /// It will not be believed.
        Rejected = "rejected",
        /// It was believed, and is not any more.
        Reverted = "reverted",
    }
}

words! {
    /// What sort of claim it is.
    LessonKind is a "kind" {
        /// How something is.
        Fact = "fact",
        /// What goes wrong, and when.
        Pitfall = "pitfall",
        /// How people want things done.
        Convention = "convention",
        /// How something is done.
        Procedure = "procedure",
    }
}

words! {
    /// How much it matters.
    Severity is a "severity" {
        /// Good to know.
        Info = "info",
        /// It costs time not to know.
        Warning = "warning",
        /// Work fails without it.
        Blocker = "blocker",
    }
}

words! {
    /// Where a candidate came from.
    LessonSource is a "source" {
        /// A person, by a command.
        Operator = "operator",
        /// A session, by `lessons.json` in its bench.
        Session = "session",
        /// Failures that came again.
        Harvest = "harvest",
        /// What reviewers say again and again.
        Review = "review",
        /// A model, over MCP.
        Mcp = "mcp",
        /// A file in Carson's own form.
        Import = "import",
        /// Alfred's memory.
        Alfred = "alfred",
    }
}

/// A lesson's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LessonId(Uuid);

impl LessonId {
    /// A new one.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "every call gives another id")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The last eight hex digits, for tables and prompts.
    #[must_use]
    pub fn short(&self) -> String {
        let text = self.0.simple().to_string();
        text[text.len() - 8..].to_owned()
    }

    /// The id as the databases keep it.
    #[must_use]
    pub fn uuid(&self) -> Uuid {
        self.0
    }
}

impl From<Uuid> for LessonId {
    fn from(id: Uuid) -> Self {
        Self(id)
    }
}

impl FromStr for LessonId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }
}

impl fmt::Display for LessonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.hyphenated().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_and_others_are_told_what_there_is() {
        for state in LessonState::ALL {
            assert_eq!(state.as_str().parse(), Ok(*state));
        }
        let error = "believed".parse::<LessonState>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"believed\" is no state: candidate, held, promoted, rejected, reverted"
        );
        assert!("Info".parse::<Severity>().is_err());
    }
}
