//! What is wrong with a PRD: all of it at once, each with where it stands.

use std::fmt;

use serde::{Serialize, Serializer};

use super::json::Pointer;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// Where, as a JSON pointer; empty for the document itself.
    #[serde(serialize_with = "as_text")]
    pub at: Pointer,
    /// What is wrong, and what would be right.
    pub message: String,
}

fn as_text<S: Serializer>(at: &Pointer, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(at.as_str())
}

impl Finding {
    /// This is wrong there.
    pub fn new(at: &Pointer, message: impl Into<String>) -> Self {
        Self {
            at: at.clone(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.as_str().is_empty() {
            return write!(f, "(the document): {}", self.message);
        }
        write!(f, "{}: {}", self.at, self.message)
    }
}
