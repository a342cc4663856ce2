//! An assistant message as Anthropic's Messages API sends it: as a stream of events, or whole.

use serde_json::{Value, json};

use super::{Block, Message, Request};

/// A message with the identifiers it is sent under.
pub(super) struct Sent<'a> {
    pub(super) message: &'a Message,
    pub(super) model: &'a str,
    /// Makes this message's own and its tool calls' identifiers unique to the server's life.
    pub(super) serial: usize,
    /// Whether opencode asks, whose tools have other names.
    pub(super) to_opencode: bool,
}

impl<'a> Sent<'a> {
    pub(super) fn new(message: &'a Message, request: &'a Request, serial: usize) -> Self {
        Self {
            message,
            model: request.model(),
            serial,
            to_opencode: request
                .header("user-agent")
                .is_some_and(|agent| agent.starts_with("opencode/")),
        }
    }

    /// The whole stream: `message_start`, each block, `message_delta`, `message_stop`.
    pub(super) fn events(&self) -> Vec<String> {
        let mut events = vec![self.start()];
        for (index, block) in self.message.blocks.iter().enumerate() {
            events.extend(self.block_events(index, block));
        }
        events.push(event(
            "message_delta",
            json!({
                "delta": { "stop_reason": self.message.stop_reason(), "stop_sequence": null },
                "usage": { "output_tokens": self.message.output_tokens },
            }),
        ));
        events.push(event("message_stop", json!({})));
        events
    }

    /// The stream up to half of the first block: what arrives when the connection breaks.
    pub(super) fn events_until_cut(&self) -> Vec<String> {
        let mut events = vec![self.start()];
        if let Some(block) = self.message.blocks.first() {
            events.extend(self.block_events(0, block).into_iter().take(2));
        }
        events
    }

    /// The message as one JSON document, for a client that does not stream.
    pub(super) fn document(&self) -> Value {
        let blocks = self.message.blocks.iter().enumerate();
        let content: Vec<Value> = blocks
            .map(|(index, block)| self.block(index, block))
            .collect();
        let mut document = self.envelope(self.message.output_tokens);
        document["content"] = content.into();
        document["stop_reason"] = self.message.stop_reason().into();
        document
    }

    fn start(&self) -> String {
        event("message_start", json!({ "message": self.envelope(1) }))
    }

    fn envelope(&self, output_tokens: u64) -> Value {
        json!({
            "id": format!("msg_scripted_{:04}", self.serial),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": {
                "input_tokens": self.message.input_tokens,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": output_tokens,
            },
        })
    }

    fn block(&self, index: usize, block: &Block) -> Value {
        match block {
            Block::Text(text) => json!({ "type": "text", "text": text }),
            Block::Tool { name, input } => {
                let id = format!("toolu_scripted_{:04}_{index}", self.serial);
                let (name, input) = match self.to_opencode {
                    true => opencodes_tool(name, input),
                    false => (name.as_str(), input.clone()),
                };
                json!({ "type": "tool_use", "id": id, "name": name, "input": input })
            }
        }
    }

    /// Start, two deltas, stop. The halves make every reply prove that deltas are put together.
    fn block_events(&self, index: usize, block: &Block) -> Vec<String> {
        let mut opening = self.block(index, block);
        let (whole, kind, field) = match block {
            Block::Text(text) => {
                opening["text"] = "".into();
                (text.clone(), "text_delta", "text")
            }
            Block::Tool { .. } => {
                let input = opening["input"].to_string();
                opening["input"] = json!({});
                (input, "input_json_delta", "partial_json")
            }
        };
        let delta = |part: &str| {
            let delta = json!({ "type": kind, field: part });
            event(
                "content_block_delta",
                json!({ "index": index, "delta": delta }),
            )
        };
        let (head, tail) = whole.split_at(whole.floor_char_boundary(whole.len() / 2));
        vec![
            event(
                "content_block_start",
                json!({ "index": index, "content_block": opening }),
            ),
            delta(head),
            delta(tail),
            event("content_block_stop", json!({ "index": index })),
        ]
    }
}

/// A script says `Bash` and `Write` to every CLI; these are opencode's tools for the same.
fn opencodes_tool<'a>(name: &'a str, input: &Value) -> (&'a str, Value) {
    match name {
        "Bash" => ("bash", input.clone()),
        "Write" => (
            "write",
            json!({ "filePath": input["file_path"], "content": input["content"] }),
        ),
        other => (other, input.clone()),
    }
}

/// One event of a stream; its data repeats its name.
pub(super) fn event(name: &str, mut data: Value) -> String {
    data["type"] = name.into();
    format!("event: {name}\ndata: {data}\n\n")
}
