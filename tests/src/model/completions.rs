//! An assistant message as the chunks of OpenAI's Chat Completions, which `carson-agent` speaks.

use serde_json::{Value, json};

use super::{Block, Message};

/// A message with the number that makes its identifiers unique to the server's life.
pub(super) struct Sent<'a> {
    pub(super) message: &'a Message,
    pub(super) serial: usize,
}

impl Sent<'_> {
    /// The whole stream: each block, why it ended, the usage, and the line that says so.
    pub(super) fn events(&self) -> Vec<String> {
        let mut events = self.blocks();
        let reason = match self.message.stop_reason() {
            "tool_use" => "tool_calls",
            _ => "stop",
        };
        events.push(self.chunk(json!([
            { "index": 0, "delta": {}, "finish_reason": reason }
        ])));
        events.push(self.chunk(json!([])));
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    /// The stream before it says why it ended.
    pub(super) fn events_until_cut(&self) -> Vec<String> {
        self.blocks()
    }

    fn blocks(&self) -> Vec<String> {
        let blocks = self.message.blocks.iter().enumerate();
        blocks
            .map(|(index, block)| {
                let delta = self.delta(index, block);
                self.chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]))
            })
            .collect()
    }

    fn delta(&self, index: usize, block: &Block) -> Value {
        match block {
            Block::Text(text) => json!({ "role": "assistant", "content": text }),
            Block::Tool { name, input } => {
                let (name, input) = own_tool(name, input);
                json!({ "tool_calls": [{
                    "index": index,
                    "id": format!("call_scripted_{:04}_{index}", self.serial),
                    "type": "function",
                    "function": { "name": name, "arguments": input.to_string() },
                }] })
            }
        }
    }

    fn chunk(&self, choices: Value) -> String {
        let is_last = choices == json!([]);
        let mut chunk = json!({
            "id": format!("chatcmpl-scripted-{:04}", self.serial),
            "object": "chat.completion.chunk",
            "choices": choices,
        });
        if is_last {
            chunk["usage"] = json!({
                "prompt_tokens": self.message.input_tokens,
                "completion_tokens": self.message.output_tokens,
            });
        }
        format!("data: {chunk}\n\n")
    }
}

/// A script says `Bash` and `Write` to every CLI; these are the agent's tools for the same.
fn own_tool<'a>(name: &'a str, input: &Value) -> (&'a str, Value) {
    match name {
        "Bash" => ("run", json!({ "command": input["command"] })),
        "Write" => (
            "write_file",
            json!({ "path": input["file_path"], "content": input["content"] }),
        ),
        other => (other, input.clone()),
    }
}
