//! Who is asked.

use std::time::Duration;

use serde::Serialize;
use thiserror::Error;

use crate::message::{Message, Reply};

/// A tool as the model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: serde_json::Value,
}

/// What an endpoint answers.
#[derive(Clone, Debug)]
pub enum Answer {
    /// One answer of the model.
    Reply(Reply),
    /// None.
    NoChoices,
}

/// An endpoint that gave no answer, after all that was tried.
#[derive(Clone, Debug, Error)]
pub enum EndpointError {
    /// It cannot be reached.
    #[error("the endpoint cannot be reached: {0}")]
    Unreachable(String),
    /// It refused.
    #[error("the endpoint answered {status}: {said}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// How long it asks to wait, if it does.
        retry_after: Option<Duration>,
        /// The beginning of what it said.
        said: String,
    },
    /// Its answer broke off.
    #[error("the endpoint's answer broke off: {0}")]
    Broken(String),
    /// It said nothing for too long.
    #[error("the endpoint said nothing for {} s", .0.as_secs())]
    Silent(Duration),
    /// Its answer is none of a chat endpoint.
    #[error("the endpoint's answer is not that of a chat endpoint: {0}")]
    Unreadable(String),
}

/// Whoever answers a conversation. A second one is in the tests.
pub trait Model {
    /// Asks for the next answer. Dropping the future gives up.
    fn ask(
        &mut self,
        messages: &[Message],
        tools: &[ToolSpec],
    ) -> impl Future<Output = Result<Answer, EndpointError>>;
}
