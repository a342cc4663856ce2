//! What a request of the Responses API holds: one list of messages, calls and their results.

use serde_json::Value;

use crate::model::content::{ToolResult, array, texts};

/// The body of a request.
pub(in crate::model) struct Asked<'a>(pub(in crate::model) &'a Value);

impl<'a> Asked<'a> {
    /// The instructions to the model, wherever they stand.
    pub(in crate::model) fn system(&self) -> String {
        let developer = self.said_by("developer");
        texts(&self.0["instructions"])
            .chain(developer)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// What the user said, without the notes on the environment.
    pub(in crate::model) fn prompt_blocks(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.said_by("user")
            .filter(|text| !text.starts_with("<environment_context>"))
    }

    /// How often the model has answered: what it says at once stands together.
    pub(in crate::model) fn turn(&self) -> usize {
        let by_model: Vec<bool> = self.items().map(is_by_model).collect();
        let starts = by_model.iter().enumerate();
        starts
            .filter(|(at, now)| **now && (*at == 0 || !by_model[at - 1]))
            .count()
    }

    /// Every tool result so far, oldest first.
    pub(in crate::model) fn tool_results(&self) -> Vec<ToolResult> {
        self.items()
            .filter(|item| kind(item).ends_with("call_output"))
            .map(|item| result(&texts(&item["output"]).collect::<Vec<_>>().join("\n")))
            .collect()
    }

    /// The session's working directory, which Codex states in its notes on the environment.
    pub(in crate::model) fn cwd(&self) -> Option<String> {
        let cwd = |text: &str| {
            let (cwd, _) = text.split_once("<cwd>")?.1.split_once("</cwd>")?;
            Some(cwd.to_owned())
        };
        self.said_by("user").find_map(cwd)
    }

    fn items(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        array(&self.0["input"]).iter()
    }

    fn said_by(&self, role: &'static str) -> impl Iterator<Item = &'a str> + use<'a> {
        self.items()
            .filter(move |item| item["role"] == role)
            .flat_map(|item| texts(&item["content"]))
    }
}

fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or_default()
}

fn is_by_model(item: &Value) -> bool {
    item["role"] == "assistant" || kind(item) == "reasoning" || kind(item).ends_with("_call")
}

/// Codex puts a head before the output of what ran, and marks nothing as an error.
fn result(text: &str) -> ToolResult {
    let Some((head, output)) = text.split_once("Output:\n") else {
        return ToolResult {
            text: text.to_owned(),
            is_error: true,
        };
    };
    let fine = ["exited with code 0\n", "Exit code: 0\n"];
    ToolResult {
        text: output.to_owned(),
        is_error: !fine.iter().any(|sign| head.contains(sign)),
    }
}
