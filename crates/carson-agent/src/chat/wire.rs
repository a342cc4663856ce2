//! What is sent to a chat endpoint, and what is read of its answers.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cut::cut_end;
use crate::message::{Call, Message};
use crate::model::ToolSpec;

/// What an endpoint can do, as far as its refusals have told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Whether it takes `tools`; else calls are text.
    pub tools: bool,
    /// Whether it takes `stream_options`.
    pub counts: bool,
}

/// The body of a request.
#[must_use]
pub fn request(model: &str, messages: &[Message], tools: &[ToolSpec], dialect: Dialect) -> Value {
    let messages: Vec<Value> = messages.iter().map(message).collect();
    let mut body = json!({ "model": model, "messages": messages, "stream": true });
    if dialect.counts {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if dialect.tools && !tools.is_empty() {
        let tool = |spec: &ToolSpec| json!({ "type": "function", "function": spec });
        body["tools"] = tools.iter().map(tool).collect();
    }
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Message::Assistant { text, calls } => {
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        Message::Result { id, text, .. } => {
            json!({ "role": "tool", "tool_call_id": id, "content": text })
        }
    }
}

fn call(call: &Call) -> Value {
    let function = json!({ "name": call.tool, "arguments": arguments(&call.arguments) });
    json!({ "id": call.id, "type": "function", "function": function })
}

/// Endpoints read the arguments of former calls again, and some refuse a conversation with such that
/// are no JSON object.
fn arguments(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => text.to_owned(),
        _ => json!({ "unreadable": cut_end(text, 200) }).to_string(),
    }
}

/// One piece of an answer, or a whole one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Chunk {
    /// The first is the answer; a piece may have none.
    pub choices: Option<Vec<Choice>>,
    /// Tokens.
    pub usage: Option<Counted>,
    /// In place of an answer.
    pub error: Option<Value>,
}

/// A choice.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Choice {
    /// What it adds, or the whole.
    #[serde(alias = "message")]
    pub delta: Option<Delta>,
    /// Why it ends, if it does.
    pub finish_reason: Option<String>,
}

/// What a piece adds.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Delta {
    /// Words.
    pub content: Option<String>,
    /// Calls.
    pub tool_calls: Option<Vec<CallPiece>>,
}

/// A call, or a piece of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct CallPiece {
    /// Which one.
    pub index: Option<usize>,
    /// What it is called.
    pub id: Option<String>,
    /// What is called.
    pub function: FunctionPiece,
}

/// A function, or a piece of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct FunctionPiece {
    /// Its name.
    pub name: Option<String>,
    /// Text; an object from some endpoints.
    pub arguments: Option<Value>,
}

/// Tokens, as endpoints count them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Counted {
    /// What the model read.
    pub prompt_tokens: u64,
    /// What it wrote.
    pub completion_tokens: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_no_object_are_sent_back_as_one() {
        let sent = |text: &str| serde_json::from_str::<Value>(&arguments(text)).unwrap();
        assert_eq!(sent(r#"{"path":"a"}"#), json!({ "path": "a" }));
        for wrong in ["", "{", "[1]", "\"x\"", "nothing"] {
            assert!(sent(wrong).is_object(), "{wrong}");
        }
    }

    #[test]
    fn tools_are_only_sent_where_they_are_taken() {
        let spec = ToolSpec {
            name: "list".to_owned(),
            description: "Lists.".to_owned(),
            parameters: json!({}),
        };
        let body = |tools, counts| {
            let dialect = Dialect { tools, counts };
            request(
                "m",
                &[Message::User("hi".to_owned())],
                std::slice::from_ref(&spec),
                dialect,
            )
        };
        assert_eq!(body(true, true)["tools"][0]["function"]["name"], "list");
        assert_eq!(body(true, true)["stream_options"]["include_usage"], true);
        let plain = body(false, false);
        assert!(plain.get("tools").is_none() && plain.get("stream_options").is_none());
    }
}
