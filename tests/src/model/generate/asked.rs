//! What a request holds: contents of turns, each of parts.

use serde_json::Value;

use crate::model::content::{ToolResult, array, texts};

/// The body of a request.
pub(in crate::model) struct Asked<'a>(pub(in crate::model) &'a Value);

/// The model in a path such as `/v1beta/models/gemini-2.5-pro:streamGenerateContent`; `None` for any other path.
pub(in crate::model) fn model_of(path: &str) -> Option<&str> {
    let (model, verb) = path.strip_prefix("/v1beta/models/")?.split_once(':')?;
    ["generateContent", "streamGenerateContent"]
        .contains(&verb)
        .then_some(model)
}

impl<'a> Asked<'a> {
    /// The instructions to the model.
    pub(in crate::model) fn system(&self) -> String {
        let parts = texts(&self.0["systemInstruction"]["parts"]);
        parts.collect::<Vec<_>>().join("\n")
    }

    /// What the user said first, without the notes on the environment.
    pub(in crate::model) fn prompt_blocks(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let first = self.said_by("user").next();
        let parts = first.into_iter().flat_map(texts);
        parts.filter(|text| !text.starts_with("<session_context>"))
    }

    /// How often the model has answered.
    pub(in crate::model) fn turn(&self) -> usize {
        self.said_by("model").count()
    }

    /// The names of the tools on offer.
    pub(in crate::model) fn tools(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let all = array(&self.0["tools"]).iter();
        let all = all.flat_map(|tools| array(&tools["functionDeclarations"]));
        all.filter_map(|tool| tool["name"].as_str())
    }

    /// Every tool result so far, oldest first.
    pub(in crate::model) fn tool_results(&self) -> Vec<ToolResult> {
        let parts = self.said_by("user").flat_map(array);
        let results = parts.filter_map(|part| part["functionResponse"]["response"].as_object());
        results
            .map(|said| {
                let error = said.get("error").and_then(Value::as_str);
                let output = said.get("output").and_then(Value::as_str);
                ToolResult {
                    text: error.or(output).unwrap_or_default().to_owned(),
                    is_error: error.is_some(),
                }
            })
            .collect()
    }

    /// The parts of what was said.
    fn said_by(&self, role: &'static str) -> impl Iterator<Item = &'a Value> + use<'a> {
        let contents = array(&self.0["contents"]).iter();
        contents
            .filter(move |content| content["role"] == role)
            .map(|content| &content["parts"])
    }
}
