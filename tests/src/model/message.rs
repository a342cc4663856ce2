//! What the model says in one turn.

use serde_json::{Value, json};

/// One block of an assistant message.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Prose.
    Text(String),
    /// A call of one of the CLI's tools.
    Tool {
        /// The tool's name as the CLI offers it, such as `Bash`.
        name: String,
        /// The tool's arguments.
        input: Value,
    },
}

/// One assistant message: blocks in order, and the token usage it is billed as.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub(super) blocks: Vec<Block>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

impl Default for Message {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            input_tokens: 1000,
            output_tokens: 50,
        }
    }
}

impl Message {
    /// An empty message, billed as 1000 input and 50 output tokens.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds prose.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    /// Adds a tool call.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, input: Value) -> Self {
        self.blocks.push(Block::Tool {
            name: name.into(),
            input,
        });
        self
    }

    /// Adds a call of the `Bash` tool, which runs in the session's working directory.
    #[must_use]
    pub fn bash(self, command: impl Into<String>) -> Self {
        self.tool(
            "Bash",
            json!({ "command": command.into(), "description": "A scripted step" }),
        )
    }

    /// Adds a call of the `Write` tool; the CLI accepts absolute paths only.
    #[must_use]
    pub fn write(self, path: impl AsRef<std::path::Path>, content: impl Into<String>) -> Self {
        let path = path.as_ref().display().to_string();
        self.tool(
            "Write",
            json!({ "file_path": path, "content": content.into() }),
        )
    }

    /// Sets the usage in tokens. The CLI prices it from its own list, so costs are deterministic.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.input_tokens = input;
        self.output_tokens = output;
        self
    }

    /// A message with a tool call asks the CLI to run it and come back; one without ends the turn.
    pub(super) fn stop_reason(&self) -> &'static str {
        if self
            .blocks
            .iter()
            .any(|block| matches!(block, Block::Tool { .. }))
        {
            "tool_use"
        } else {
            "end_turn"
        }
    }
}
