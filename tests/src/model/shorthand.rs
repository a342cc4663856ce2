//! Replies that are one message.

use serde_json::Value;

use super::{Message, Reply};

/// A final message: prose only.
#[must_use]
pub fn say(text: impl Into<String>) -> Reply {
    Message::new().text(text).into()
}

/// A message that runs one shell command.
#[must_use]
pub fn bash(command: impl Into<String>) -> Reply {
    Message::new().bash(command).into()
}

/// A message that writes one file, by its absolute path.
#[must_use]
pub fn write(path: impl AsRef<std::path::Path>, content: impl Into<String>) -> Reply {
    Message::new().write(path, content).into()
}

/// A message that calls one tool.
#[must_use]
pub fn tool(name: impl Into<String>, input: Value) -> Reply {
    Message::new().tool(name, input).into()
}
