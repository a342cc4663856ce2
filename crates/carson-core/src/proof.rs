//! Whether a change was needed: the tests that it adds or alters fail without it.

use serde::{Deserialize, Serialize};

/// What running them on the base has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Proof {
    /// Nobody asked.
    #[default]
    NotAsked,
    /// It adds or alters none.
    NoTests,
    /// So many tests fail on the base and pass with the change.
    Red {
        /// How many.
        tests: u32,
        /// Some of them, by their names.
        names: Vec<String>,
    },
    /// All that is known is that the command that runs them does so.
    RedCommand,
    /// They cannot be built, loaded or run on the base, and pass with the change: that may be the change, or
    /// something that they need beside it.
    Unbuilt,
    /// They pass on the base, too.
    Green,
    /// So many of them fail with the change, and none that fails on the base passes.
    Failing(u32),
    /// It could not be found out, and why.
    Unable(String),
}

impl Proof {
    /// Whether it is known that no test needed the change.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::NoTests | Self::Green | Self::Failing(_))
    }

    /// Some of the tests that prove it, by their names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        match self {
            Self::Red { names, .. } => names,
            _ => &[],
        }
    }

    /// As people read it; nothing where there is nothing to say.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::NotAsked => return None,
            Self::NoTests => "no test was found in it".to_owned(),
            Self::Red { tests: 1, .. } => "1 test fails on the base and passes here".to_owned(),
            Self::Red { tests, .. } => format!("{tests} tests fail on the base and pass here"),
            Self::RedCommand => "its tests fail on the base and pass here".to_owned(),
            Self::Unbuilt => "its tests cannot be run on the base and pass here".to_owned(),
            Self::Green => "no test fails on the base".to_owned(),
            Self::Failing(1) => "1 of its tests fails here".to_owned(),
            Self::Failing(tests) => format!("{tests} of its tests fail here"),
            Self::Unable(why) => format!("whether a test fails on the base is not known: {why}"),
        })
    }
}
