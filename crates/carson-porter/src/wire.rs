//! The protocol's messages, as far as they are needed.

use carson_core::untrusted::is_hidden;
use serde_json::{Value, json};

/// The newest version: each request says which one it is and who asks.
const NEWEST: &str = "2026-07-28";
/// The newest version that begins with a handshake.
pub const NEWEST_WITH_HANDSHAKE: &str = "2025-11-25";
/// Those that may be the answer to one.
const KNOWN: [&str; 4] = [
    NEWEST_WITH_HANDSHAKE,
    "2025-06-18",
    "2025-03-26",
    "2024-11-05",
];
/// Longest description of a tool, in characters.
const DESCRIPTION: usize = 2_000;
/// Largest schema of a tool's arguments, in bytes.
const SCHEMA: usize = 16 * 1024;
/// Longest name of a tool that endpoints take.
const NAME: usize = 64;

/// Whether that is a version that is understood.
#[must_use]
pub fn is_known(version: &str) -> bool {
    KNOWN.contains(&version)
}

/// Whether a server's answer to `server/discover` has the newest version.
#[must_use]
pub fn speaks_newest(discovered: &Value) -> bool {
    let versions = discovered["supportedVersions"].as_array();
    versions.is_some_and(|versions| versions.iter().any(|version| version == NEWEST))
}

/// Who we are.
#[must_use]
pub fn client() -> Value {
    json!({ "name": "carson", "version": env!("CARGO_PKG_VERSION") })
}

/// What each request of the newest version says.
#[must_use]
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": client(),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Whether a result is a question in place of one.
#[must_use]
pub fn is_unfinished(result: &Value) -> bool {
    result["resultType"]
        .as_str()
        .is_some_and(|kind| kind != "complete")
}

/// What a server says.
#[derive(Debug)]
pub enum Said {
    /// An answer to a request.
    Answer {
        /// Which.
        id: u64,
        /// What it is; words where it is a refusal.
        result: Result<Value, String>,
    },
    /// A question of its own, as what is answered to it.
    Question(Value),
    /// Something that is too long to be read.
    TooLong,
}

/// Reads a line; `None` for what needs no answer, and for what is no message.
#[must_use]
pub fn said(line: &[u8]) -> Option<Said> {
    let mut message: Value = serde_json::from_slice(line).ok()?;
    let id = message.get("id").filter(|id| !id.is_null())?.clone();
    if let Some(method) = message.get("method").and_then(Value::as_str) {
        let answer = match method {
            "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
            _ => {
                let error = json!({ "code": -32601, "message": "not offered" });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        };
        return Some(Said::Question(answer));
    }
    let result = match message.get("error") {
        Some(error) => {
            let words = error.get("message").and_then(Value::as_str);
            Err(words.map_or_else(|| error.to_string(), str::to_owned))
        }
        None => Ok(message["result"].take()),
    };
    Some(Said::Answer {
        id: id.as_u64()?,
        result,
    })
}

/// A tool as a server offers it.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// Its name there.
    pub name: String,
    /// What it does, in the server's words.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// What a model calls a tool of a server.
#[must_use]
pub fn name_for_models(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// Whether a tool of this name can be asked for: models and their endpoints take no other ones, and what looks like
/// another name is another one.
#[must_use]
pub fn is_tool_name(server: &str, tool: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let fits = name_for_models(server, tool).len() <= NAME;
    !tool.is_empty() && tool.chars().all(plain) && fits
}

/// The tools of a list. One whose name or schema no endpoint would take is none, and of two with one name the first
/// counts.
#[must_use]
pub fn offered(server: &str, listed: &Value) -> Vec<Offered> {
    let tools = listed["tools"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut offered: Vec<Offered> = Vec::new();
    for tool in tools.iter().filter_map(|tool| one(server, tool)) {
        if !offered.iter().any(|known| known.name == tool.name) {
            offered.push(tool);
        }
    }
    offered
}

fn one(server: &str, tool: &Value) -> Option<Offered> {
    let name = tool["name"].as_str()?;
    let schema = &tool["inputSchema"];
    if !is_tool_name(server, name) || !schema.is_object() || schema.to_string().len() > SCHEMA {
        return None;
    }
    let said = tool["description"].as_str().unwrap_or_default();
    let shown = said.chars().filter(|c| !is_hidden(*c));
    Some(Offered {
        name: name.to_owned(),
        description: shown.take(DESCRIPTION).collect(),
        schema: schema.clone(),
    })
}

/// What a call's result says in words.
#[must_use]
pub fn result_text(result: &Value) -> String {
    let parts = result["content"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let word = |part: &Value| match part["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("[{}]", part["type"].as_str().unwrap_or("something")),
    };
    let words: Vec<String> = parts.iter().map(word).collect();
    match (words.is_empty(), result.get("structuredContent")) {
        (true, Some(structured)) => structured.to_string(),
        _ => words.join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_that_an_endpoint_takes_are_offered() {
        let object = || json!({ "type": "object" });
        let listed = json!({ "tools": [
            { "name": "search", "description": "Fi\u{200b}nds.", "inputSchema": object() },
            { "name": "search", "description": "Another one.", "inputSchema": object() },
            { "name": "a b", "inputSchema": object() },
            // A letter of another alphabet, and one that nobody sees.
            { "name": "se\u{0430}rch", "inputSchema": object() },
            { "name": "search\u{200b}", "inputSchema": object() },
            { "name": "", "inputSchema": object() },
            { "name": "x".repeat(80), "inputSchema": object() },
            { "name": "big", "inputSchema": { "type": "x".repeat(20_000) } },
            { "name": "none" },
            7,
        ]});
        let search = Offered {
            name: "search".to_owned(),
            description: "Finds.".to_owned(),
            schema: object(),
        };
        assert_eq!(offered("docs", &listed), [search]);
        assert_eq!(name_for_models("docs", "search"), "mcp__docs__search");
    }

    #[test]
    fn answers_questions_and_noise_are_told_apart() {
        let answer = said(br#"{"jsonrpc":"2.0","id":3,"result":{"a":1}}"#);
        assert!(matches!(
            answer,
            Some(Said::Answer {
                id: 3,
                result: Ok(_)
            })
        ));
        let refusal = said(br#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}"#);
        assert!(matches!(refusal, Some(Said::Answer { result: Err(why), .. }) if why == "no"));
        let ping = said(br#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
        assert!(matches!(ping, Some(Said::Question(answer)) if answer["result"].is_object()));
        for noise in [
            "hello",
            "{}",
            r#"{"method":"notifications/message"}"#,
            "[1]",
            "{\"id\":null}",
        ] {
            assert!(said(noise.as_bytes()).is_none(), "{noise}");
        }
    }

    #[test]
    fn a_result_is_words() {
        let text = |result: Value| result_text(&result);
        let parts = json!({ "content": [{ "type": "text", "text": "a" }, { "type": "image" }] });
        assert_eq!(text(parts), "a\n[image]");
        assert_eq!(
            text(json!({ "structuredContent": { "n": 1 } })),
            "{\"n\":1}"
        );
        assert_eq!(text(json!({})), "");
    }
}
