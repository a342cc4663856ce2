//! What is said between the program and a model.

use serde::{Deserialize, Serialize};

/// As the seeds count.
pub const CHARACTERS_PER_TOKEN: usize = 4;

/// A tool that the model wants to have called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What the endpoint calls it; the result names it again.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub tool: String,
    /// Its arguments, as the model wrote them: JSON, one hopes.
    pub arguments: String,
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// What the model is told of its work.
    System(String),
    /// The task, and what the check says.
    User(String),
    /// What the model answered.
    Assistant {
        /// In words.
        text: String,
        /// In calls.
        calls: Vec<Call>,
    },
    /// What came of a call.
    Result {
        /// The call's.
        id: String,
        /// Whose.
        tool: String,
        /// What the model reads of it.
        text: String,
    },
}

/// A whole answer of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// In words.
    pub text: String,
    /// In calls, in order.
    pub calls: Vec<Call>,
    /// What the endpoint counted.
    pub usage: Option<Usage>,
    /// Whether it was longer than an answer may be, and ends where the bound is.
    pub cut: bool,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// What the model read.
    pub input_tokens: u64,
    /// What it wrote.
    pub output_tokens: u64,
}

impl Usage {
    /// What an answer to these messages was, where the endpoint does not count.
    #[must_use]
    pub fn estimated(messages: &[Message], reply: &Reply) -> Self {
        let read: usize = messages.iter().map(Message::characters).sum();
        let calls = reply.calls.iter();
        let calls = calls.map(|call| call.tool.chars().count() + call.arguments.chars().count());
        let wrote = reply.text.chars().count() + calls.sum::<usize>();
        let tokens = |characters: usize| (characters / CHARACTERS_PER_TOKEN) as u64;
        Self {
            input_tokens: tokens(read),
            output_tokens: tokens(wrote),
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}

impl Message {
    /// Characters that the model reads of it.
    #[must_use]
    pub fn characters(&self) -> usize {
        let count = |text: &String| text.chars().count();
        match self {
            Self::System(text) | Self::User(text) => count(text),
            Self::Assistant { text, calls } => {
                let calls = calls
                    .iter()
                    .map(|call| count(&call.id) + count(&call.tool) + count(&call.arguments));
                count(text) + calls.sum::<usize>()
            }
            Self::Result { id, tool, text } => count(id) + count(tool) + count(text),
        }
    }
}
