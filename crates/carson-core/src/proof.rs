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
    Red(u32),
    /// All that is known is that the command that runs them does so.
    RedCommand,
    /// They cannot be built or loaded on the base, and pass with the change.
    Unbuilt,
    /// They pass on the base, too.
    Green,
    /// It could not be found out, and why.
    Unable(String),
}

impl Proof {
    /// Whether it is known that no test needed the change.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::NoTests | Self::Green)
    }

    /// As people read it; nothing where there is nothing to say.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::NotAsked | Self::NoTests => return None,
            Self::Red(1) => "1 test fails on the base and passes here".to_owned(),
            Self::Red(tests) => format!("{tests} tests fail on the base and pass here"),
            Self::RedCommand => "its tests fail on the base and pass here".to_owned(),
            Self::Unbuilt => "its tests cannot be built on the base and pass here".to_owned(),
            Self::Green => "no test fails on the base".to_owned(),
            Self::Unable(why) => format!("whether a test fails on the base is not known: {why}"),
        })
    }
}
