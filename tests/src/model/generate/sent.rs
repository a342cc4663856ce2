//! An assistant message as the events of the Generative Language API.

use serde_json::{Value, json};

use crate::model::{Block, Message};

/// A message that is sent as a stream.
pub(in crate::model) struct Sent<'a> {
    pub(in crate::model) message: &'a Message,
}

impl Sent<'_> {
    /// The whole stream: each block, and why it ended with what it used.
    pub(in crate::model) fn events(&self) -> Vec<String> {
        let mut events = self.events_until_cut();
        events.push(self.chunk(json!({
            "content": { "role": "model", "parts": [] }, "finishReason": "STOP", "index": 0,
        })));
        events
    }

    /// The stream before it says why it ended.
    pub(in crate::model) fn events_until_cut(&self) -> Vec<String> {
        let blocks = self.message.blocks.iter();
        let parts = blocks.map(part);
        parts
            .map(|part| {
                let content = json!({ "role": "model", "parts": [part] });
                self.chunk(json!({ "content": content, "index": 0 }))
            })
            .collect()
    }

    fn chunk(&self, candidate: Value) -> String {
        let (input, output) = (self.message.input_tokens, self.message.output_tokens);
        let chunk = json!({
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": input,
                "candidatesTokenCount": output,
                "totalTokenCount": input + output,
            },
            "modelVersion": "scripted",
        });
        format!("data: {chunk}\r\n\r\n")
    }
}

/// A script says `Bash` and `Write` to every CLI; these are Gemini CLI's tools for the same.
fn part(block: &Block) -> Value {
    let call = |name: &str, args: Value| json!({ "functionCall": { "name": name, "args": args } });
    match block {
        Block::Text(text) => json!({ "text": text }),
        Block::Tool { name, input } => match name.as_str() {
            "Bash" => call("run_shell_command", input.clone()),
            "Write" => call("write_file", input.clone()),
            other => call(other, input.clone()),
        },
    }
}
