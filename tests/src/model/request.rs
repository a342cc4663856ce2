//! One request as the CLI sent it, and what a script wants to know about it.

use serde_json::Value;

use super::content::{ToolResult, array, texts};
use super::generate::{self, model_of};
use super::responses::Asked;

/// Which provider's API a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    /// Anthropic's Messages, spoken by Claude Code.
    Messages,
    /// OpenAI's Responses, spoken by Codex.
    Responses,
    /// OpenAI's Chat Completions, spoken by `carson-agent`.
    Completions,
    /// Google's Generative Language API, spoken by Gemini CLI.
    Generate,
}

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

/// What Claude Code writes before the working directory.
const CWD: &str = "Primary working directory: ";

impl Request {
    /// The value of a header, by its lower-case name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Which CLI invocation asked: the session id that the CLI sends along, else the prompt.
    #[must_use]
    pub fn session(&self) -> &str {
        self.header("x-claude-code-session-id")
            .or(self.header("session-id"))
            .or(self.header("x-session-id"))
            .or(self.prompt_blocks().next())
            .unwrap_or_default()
    }

    /// The model that was asked for.
    #[must_use]
    pub fn model(&self) -> &str {
        let named = self.body["model"].as_str();
        named.or(model_of(self.plain_path())).unwrap_or_default()
    }

    /// The whole system prompt.
    #[must_use]
    pub fn system(&self) -> String {
        if let Some(asked) = self.generate() {
            return asked.system();
        }
        if let Some(asked) = self.asked() {
            return asked.system();
        }
        let among = self.said_by("system").flat_map(texts);
        let all = texts(&self.body["system"]).chain(among);
        all.collect::<Vec<_>>().join("\n")
    }

    /// What the caller asked: the first user message without the reminders that the CLI adds.
    #[must_use]
    pub fn prompt(&self) -> String {
        self.prompt_blocks().collect::<Vec<_>>().join("\n")
    }

    /// The names of the tools on offer.
    #[must_use]
    pub fn tools(&self) -> Vec<&str> {
        let of_generate = self.generate().into_iter().flat_map(|asked| asked.tools());
        array(&self.body["tools"])
            .iter()
            .filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()))
            .chain(of_generate)
            .collect()
    }

    /// How many assistant messages the conversation holds already: 0 for the first request.
    #[must_use]
    pub fn turn(&self) -> usize {
        if let Some(asked) = self.generate() {
            return asked.turn();
        }
        if let Some(asked) = self.asked() {
            return asked.turn();
        }
        self.said_by("assistant").count()
    }

    /// Every tool result so far, oldest first.
    #[must_use]
    pub fn tool_results(&self) -> Vec<ToolResult> {
        if let Some(asked) = self.generate() {
            return asked.tool_results();
        }
        if let Some(asked) = self.asked() {
            return asked.tool_results();
        }
        let result = |content: &Value, is_error| ToolResult {
            text: texts(content).collect::<Vec<_>>().join("\n"),
            is_error,
        };
        let blocks = self
            .messages()
            .flat_map(|message| array(&message["content"]))
            .filter(|block| block["type"] == "tool_result")
            .map(|block| result(&block["content"], block["is_error"] == true));
        // Nothing of these is marked as an error.
        let of_completions = self.said_by("tool").map(|content| result(content, false));
        blocks.chain(of_completions).collect()
    }

    /// The session's working directory, which the CLIs state in their notes on the environment.
    #[must_use]
    pub fn cwd(&self) -> Option<String> {
        if let Some(asked) = self.asked() {
            return asked.cwd();
        }
        let everything = self
            .messages()
            .flat_map(|message| texts(&message["content"]));
        everything
            .chain(texts(&self.body["system"]))
            .find_map(|text| text.split_once(CWD)?.1.lines().next())
            .map(|line| line.trim().to_owned())
    }

    /// Whether the client wants the answer as a stream of events.
    pub(super) fn wants_stream(&self) -> bool {
        self.body["stream"] == true || self.path.contains(":streamGenerateContent")
    }

    /// The API by which this asks for a message; anything else is answered with 404.
    pub(super) fn api(&self) -> Option<Api> {
        match (self.method.as_str(), self.plain_path()) {
            ("POST", "/v1/messages") => Some(Api::Messages),
            ("POST", "/v1/responses") => Some(Api::Responses),
            ("POST", "/v1/chat/completions") => Some(Api::Completions),
            ("POST", path) if model_of(path).is_some() => Some(Api::Generate),
            _ => None,
        }
    }

    fn plain_path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    fn generate(&self) -> Option<generate::Asked<'_>> {
        (self.api() == Some(Api::Generate)).then_some(generate::Asked(&self.body))
    }

    fn asked(&self) -> Option<Asked<'_>> {
        (self.api() == Some(Api::Responses)).then_some(Asked(&self.body))
    }

    fn messages(&self) -> impl Iterator<Item = &Value> {
        array(&self.body["messages"]).iter()
    }

    /// The content of the messages of a role.
    fn said_by(&self, role: &'static str) -> impl Iterator<Item = &Value> {
        let messages = self.messages().filter(move |one| one["role"] == role);
        messages.map(|one| &one["content"])
    }

    fn prompt_blocks(&self) -> impl Iterator<Item = &str> {
        let first = self.messages().find(|message| message["role"] == "user");
        let of_messages = first
            .into_iter()
            .flat_map(|message| texts(&message["content"]))
            .filter(|text| !text.starts_with("<system-reminder>"));
        let of_responses = self.asked().into_iter().flat_map(|it| it.prompt_blocks());
        let of_generate = self
            .generate()
            .into_iter()
            .flat_map(|it| it.prompt_blocks());
        of_messages.chain(of_responses).chain(of_generate)
    }
}
