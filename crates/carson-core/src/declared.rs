//! What a session asks Carson to do on the forge.
//!
//! No session holds a forge's credential: it writes what it wants into a small file
//! ([`Outbox`], `$CARSON_OUTBOX`), and Carson does of it what the role's [`Grant`] allows, on the work
//! that the firing was [`Given`]. The file is hostile: it is read by a confined child, within
//! [`BYTES`], and its texts reach people as a [`Page`](crate::Page) only.

mod admit;
mod grant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use admit::{Admitted, Given, PullText, Refused, holds_name};
pub use grant::Grant;

/// Bytes of an outbox.
pub const BYTES: u64 = 256 * 1024;
/// The only version there is.
const VERSION: u32 = 1;

/// The file: `{"version": 1, "effects": […]}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outbox {
    /// The version of this form: 1.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// What is to be done, in this order.
    pub effects: Vec<Declared>,
}

/// One thing that a session wants done.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Declared {
    /// Labels of an issue.
    Label {
        /// The issue.
        issue: u64,
        /// Labels that it gets.
        #[serde(default)]
        add: Vec<String>,
        /// Labels that it loses.
        #[serde(default)]
        remove: Vec<String>,
    },
    /// A comment on an issue.
    Comment {
        /// The issue.
        issue: u64,
        /// Its text, in Markdown.
        body: String,
    },
    /// A new issue.
    Issue {
        /// Its title.
        title: String,
        /// Its text, in Markdown.
        body: String,
        /// Its labels.
        #[serde(default)]
        labels: Vec<String>,
        /// An architect's: the repository that it is for, by its name in the settings; without it that of the
        /// work.
        #[serde(default)]
        repo: Option<String>,
        /// Issues of this file that must be done before it: the places of their entries, from 1.
        #[serde(default)]
        after: Vec<usize>,
    },
    /// Closes an issue.
    Close {
        /// The issue.
        issue: u64,
        /// Why, for people.
        reason: String,
    },
    /// What it thinks of a pull request.
    Review {
        /// The pull request.
        pull: u64,
        /// The commit that it looked at.
        head: String,
        /// What it thinks.
        verdict: ReviewVerdict,
        /// Its findings, in Markdown.
        body: String,
    },
    /// An answer in a thread of a review, without a change for it.
    Reply {
        /// The thread, as the session was told of it.
        thread: String,
        /// The answer, in Markdown.
        body: String,
    },
    /// What people read of the pull request that its work becomes, or is added to.
    Pull {
        /// Its title; Carson adds the number of the issue.
        title: String,
        /// What it is about, in Markdown; Carson adds what it knows itself.
        body: String,
    },
}

/// What a session thinks of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewVerdict {
    /// It may be merged as it is.
    Approve,
    /// Not like this.
    Changes,
    /// Neither.
    Comment,
}

impl Outbox {
    /// Reads the file's text.
    ///
    /// # Errors
    /// What is wrong with it, for the session's next attempt and for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match read.version {
            VERSION => Ok(read),
            other => Err(format!("version {other} is not known; write 1")),
        }
    }

    /// The JSON schema of the file.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}

impl Declared {
    /// Its word in the file.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Label { .. } => "label",
            Self::Comment { .. } => "comment",
            Self::Issue { .. } => "issue",
            Self::Close { .. } => "close",
            Self::Review { .. } => "review",
            Self::Reply { .. } => "reply",
            Self::Pull { .. } => "pull",
        }
    }

    /// Its texts that stand beside what Carson itself says of a change: one with a secret is refused, for with
    /// that taken out it would say something else.
    #[must_use]
    pub fn texts_of_a_change(&self) -> Vec<&str> {
        match self {
            Self::Reply { body, .. } => vec![body.as_str()],
            Self::Pull { title, body } => vec![title.as_str(), body.as_str()],
            Self::Label { .. }
            | Self::Comment { .. }
            | Self::Issue { .. }
            | Self::Close { .. }
            | Self::Review { .. } => Vec::new(),
        }
    }
}
