//! One request as the CLI sent it, and what a script wants to know about it.

use serde_json::Value;

/// One request that reached the server.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method, such as `POST`.
    pub method: String,
    /// The path with its query, such as `/v1/messages?beta=true`.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as JSON; `Null` when there is none.
    pub body: Value,
    /// How many requests of the same session came before this one, retries included.
    pub nth: usize,
}

/// What a tool of the CLI returned to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The output or the error, as the model sees it.
    pub text: String,
    /// Whether the CLI marked it as an error; a call that a hook blocked is one.
    pub is_error: bool,
}

impl Request {
    /// The value of a header, by its lower-case name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Which CLI invocation asked: the session id that Claude Code sends along, else the prompt.
    #[must_use]
    pub fn session(&self) -> &str {
        self.header("x-claude-code-session-id")
            .or(self.prompt_blocks().next())
            .unwrap_or_default()
    }

    /// The model that was asked for.
    #[must_use]
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// The whole system prompt.
    #[must_use]
    pub fn system(&self) -> String {
        texts(&self.body["system"]).collect::<Vec<_>>().join("\n")
    }

    /// What the caller asked: the first user message without the reminders that the CLI adds.
    #[must_use]
    pub fn prompt(&self) -> String {
        self.prompt_blocks().collect::<Vec<_>>().join("\n")
    }

    /// The names of the tools on offer.
    #[must_use]
    pub fn tools(&self) -> Vec<&str> {
        array(&self.body["tools"])
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect()
    }

    /// How many assistant messages the conversation holds already: 0 for the first request.
    #[must_use]
    pub fn turn(&self) -> usize {
        self.messages()
            .filter(|message| message["role"] == "assistant")
            .count()
    }

    /// Every tool result so far, oldest first.
    #[must_use]
    pub fn tool_results(&self) -> Vec<ToolResult> {
        self.messages()
            .flat_map(|message| array(&message["content"]))
            .filter(|block| block["type"] == "tool_result")
            .map(|block| ToolResult {
                text: texts(&block["content"]).collect::<Vec<_>>().join("\n"),
                is_error: block["is_error"] == true,
            })
            .collect()
    }

    /// The session's working directory, which Claude Code states in its environment notes.
    #[must_use]
    pub fn cwd(&self) -> Option<String> {
        const LABEL: &str = "Primary working directory: ";
        let everything = self
            .messages()
            .flat_map(|message| texts(&message["content"]));
        everything
            .chain(texts(&self.body["system"]))
            .find_map(|text| text.split_once(LABEL)?.1.lines().next())
            .map(|line| line.trim().to_owned())
    }

    /// Whether the client wants the answer as a stream of events.
    pub(super) fn wants_stream(&self) -> bool {
        self.body["stream"] == true
    }

    /// Whether this asks the model for a message; anything else is answered with 404.
    pub(super) fn is_messages(&self) -> bool {
        let path = self.path.split('?').next();
        self.method == "POST" && path == Some("/v1/messages")
    }

    fn messages(&self) -> impl Iterator<Item = &Value> {
        array(&self.body["messages"]).iter()
    }

    fn prompt_blocks(&self) -> impl Iterator<Item = &str> {
        let first = self.messages().find(|message| message["role"] == "user");
        first
            .into_iter()
            .flat_map(|message| texts(&message["content"]))
            .filter(|text| !text.starts_with("<system-reminder>"))
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Content is either one string or a list of blocks, of which only some carry text.
fn texts(content: &Value) -> impl Iterator<Item = &str> {
    let blocks = array(content)
        .iter()
        .filter_map(|block| block["text"].as_str());
    content.as_str().into_iter().chain(blocks)
}
