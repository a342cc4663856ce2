//! What a transcript is made of, for people.

use serde::Serialize;

/// One thing in a transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Said {
    /// The model said this.
    Text(String),
    /// It called a tool.
    Call {
        /// Which.
        tool: String,
        /// The call in short.
        call: String,
    },
    /// What the tool answered.
    Result {
        /// Its text.
        text: String,
        /// Whether it failed, or was stopped.
        failed: bool,
    },
}
