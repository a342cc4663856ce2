//! The side that the CLI sees: a server that has the granted tools, and nothing else.

use serde_json::{Value, json};

use crate::behind::Behind;
use crate::wire::{NEWEST_WITH_HANDSHAKE, is_known};
use crate::words;

/// Most bytes of what a tool is said to do, when secrets are out of it.
const DESCRIPTION: usize = 8 * 1024;

/// Answers one message of the CLI; `None` where none is due, and for what is no message.
pub(crate) async fn answer(line: &[u8], behind: &mut Behind) -> Option<Value> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let id = message.get("id").filter(|id| !id.is_null())?.clone();
    let method = message.get("method").and_then(Value::as_str)?;
    let params = &message["params"];
    let result = match method {
        "initialize" => agreed(params),
        "ping" => json!({}),
        "tools/list" => list(behind).await,
        "tools/call" => call(params, behind).await,
        _ => {
            let error = json!({ "code": -32601, "message": "not offered" });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// The version that is asked for where it is known; no words of the server's own.
fn agreed(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str();
    let version = asked.filter(|version| is_known(version));
    json!({
        "protocolVersion": version.unwrap_or(NEWEST_WITH_HANDSHAKE),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "carson-porter", "version": env!("CARGO_PKG_VERSION") },
    })
}

async fn list(behind: &mut Behind) -> Value {
    let redactor = behind.redactor.clone();
    let tools = behind.tools().await.iter();
    let tools = tools.map(|tool| {
        let description = words::bounded(&tool.description, DESCRIPTION, &redactor);
        let schema = words::clean(&tool.schema, &redactor);
        json!({ "name": tool.name, "description": description, "inputSchema": schema })
    });
    json!({ "tools": tools.collect::<Vec<_>>() })
}

async fn call(params: &Value, behind: &mut Behind) -> Value {
    let nothing = json!({});
    let arguments = params.get("arguments").filter(|given| given.is_object());
    let tool = params["name"].as_str().unwrap_or_default().to_owned();
    behind.call(&tool, arguments.unwrap_or(&nothing)).await
}
