//! An assistant message as the events of the Responses API.

use serde_json::{Value, json};

use crate::model::sse::event;
use crate::model::{Block, Message};

/// A message with the number that makes its identifiers unique to the server's life.
pub(in crate::model) struct Sent<'a> {
    pub(in crate::model) message: &'a Message,
    pub(in crate::model) serial: usize,
}

impl Sent<'_> {
    /// The whole stream: `response.created`, each item, `response.completed`.
    pub(in crate::model) fn events(&self) -> Vec<String> {
        let mut events = self.events_until_cut();
        let blocks = self.message.blocks.iter().enumerate();
        events.extend(blocks.map(|(index, block)| {
            let item = self.item(index, block);
            event(
                "response.output_item.done",
                json!({ "output_index": index, "item": item }),
            )
        }));
        let mut response = self.response();
        response["usage"] = json!({
            "input_tokens": self.message.input_tokens,
            "input_tokens_details": null,
            "output_tokens": self.message.output_tokens,
            "output_tokens_details": null,
            "total_tokens": self.message.input_tokens + self.message.output_tokens,
        });
        events.push(event("response.completed", json!({ "response": response })));
        events
    }

    /// The stream before its first item.
    pub(in crate::model) fn events_until_cut(&self) -> Vec<String> {
        let created = json!({ "response": self.response() });
        vec![event("response.created", created)]
    }

    fn response(&self) -> Value {
        json!({ "id": format!("resp_scripted_{:04}", self.serial) })
    }

    fn item(&self, index: usize, block: &Block) -> Value {
        let call_id = format!("call_scripted_{:04}_{index}", self.serial);
        match block {
            Block::Text(text) => json!({
                "type": "message",
                "role": "assistant",
                "id": format!("msg_scripted_{:04}_{index}", self.serial),
                "content": [{ "type": "output_text", "text": text }],
            }),
            Block::Tool { name, input } => match own_tool(name, input) {
                (name, Value::String(input)) => json!({
                    "type": "custom_tool_call", "call_id": call_id, "name": name, "input": input,
                }),
                (name, input) => {
                    let mut call = json!({
                        "type": "function_call", "call_id": call_id, "name": name,
                        "arguments": input.to_string(),
                    });
                    // Codex has the tools of each server in a namespace.
                    if let Some((server, tool)) = of_server(name) {
                        call["namespace"] = format!("mcp__{server}").into();
                        call["name"] = tool.into();
                    }
                    call
                }
            },
        }
    }
}

/// `mcp__SERVER__TOOL`
fn of_server(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}

/// A script says `Bash` and `Write` to every CLI; these are Codex's tools for the same.
fn own_tool<'a>(name: &'a str, input: &Value) -> (&'a str, Value) {
    match name {
        "Bash" => ("exec_command", json!({ "cmd": input["command"] })),
        "Write" => {
            let text = |key: &str| input[key].as_str().unwrap_or_default();
            let lines: String = text("content")
                .lines()
                .map(|line| format!("+{line}\n"))
                .collect();
            let patch = format!(
                "*** Begin Patch\n*** Add File: {}\n{lines}*** End Patch\n",
                text("file_path")
            );
            ("apply_patch", patch.into())
        }
        other => (other, input.clone()),
    }
}
