//! What a request to a provider's API may ask for.
//!
//! The provider reaches the internet and other people's machines on a client's word: it fetches
//! pages, files by their address, and tools of MCP servers. A session that may connect to nobody
//! must not have the provider do it, so a request passes when all that it asks for is in these lists,
//! or the account's `allow_provider` names it. What nobody here has heard of does not pass.

use std::cell::Cell;
use std::fmt;

use carson_config::Api;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Members of a request that make the provider fetch nothing and run nothing.
const ANTHROPIC: &[&str] = &[
    "model",
    "messages",
    "system",
    "max_tokens",
    "metadata",
    "stop_sequences",
    "stream",
    "temperature",
    "top_k",
    "top_p",
    "tools",
    "tool_choice",
    "thinking",
    "context_management",
    "output_config",
    "output_format",
    "service_tier",
    "cache_control",
    "inference_geo",
    "speed",
];
const OPENAI: &[&str] = &[
    "model",
    "messages",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
    "reasoning",
    "reasoning_effort",
    "verbosity",
    "store",
    "stream",
    "stream_options",
    "include",
    "text",
    "response_format",
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "client_metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "truncation",
    "user",
    "top_logprobs",
    "logprobs",
    "logit_bias",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "n",
    "seed",
    "modalities",
    "prediction",
    "suffix",
    "echo",
    "best_of",
    "dimensions",
    "encoding_format",
];
/// Tools that the client runs, by their type without its date.
const TOOLS: &[&str] = &[
    "custom",
    "function",
    "bash",
    "text_editor",
    "computer",
    "memory",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
    "local_shell",
    "apply_patch",
];
/// What content may come from.
const SOURCES: &[&str] = &["base64", "text", "content"];
/// Blocks of content that name a source.
const BLOCKS: &[&str] = &[
    "image",
    "document",
    "file",
    "input_image",
    "input_file",
    "image_url",
];
/// Headers that turn features on, and the beginnings of what may be turned on.
const BETA: &[(&str, &[&str])] = &[
    (
        "anthropic-beta",
        &[
            "claude-code-",
            "oauth-",
            "interleaved-thinking-",
            "fine-grained-tool-streaming-",
            "context-management-",
            "context-1m-",
            "prompt-caching-",
            "extended-cache-ttl-",
            "token-efficient-tools-",
            "token-counting-",
            "output-128k-",
            "max-tokens-",
            "structured-outputs-",
            "advanced-tool-use-",
            "tool-search-tool-",
            "tool-examples-",
            "effort-",
            "adaptive-thinking-",
            "redact-thinking-",
            "compact-",
            "fast-mode-",
        ],
    ),
    ("openai-beta", &["responses="]),
];

/// Something that the provider would do in the session's place, by the name that `allow_provider`
/// has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Feature(pub String);

/// The first thing that a request asks for and nobody allowed.
///
/// # Errors
/// When it is no JSON object, or says something twice: then provider and Carson might each read
/// another of the two.
pub(super) fn forbidden(
    api: Api,
    body: &[u8],
    allowed: &[String],
) -> Result<Option<Feature>, serde_json::Error> {
    LEFT.set(VALUES);
    let Strict(body) = serde_json::from_slice(body)?;
    let Value::Object(body) = body else {
        return Err(serde_json::Error::custom("it is no object"));
    };
    let mut asked = Vec::new();
    let members = match api {
        Api::Anthropic => ANTHROPIC,
        Api::OpenAi => OPENAI,
    };
    // `prompt` is a text, or the name of one that is kept at the provider.
    let is_text = |name: &str| api == Api::OpenAi && name == "prompt" && !body[name].is_object();
    let known = |name: &str| members.contains(&name) || is_text(name);
    asked.extend(body.keys().filter(|name| !known(name)).cloned());
    tools(body.get("tools"), &mut asked);
    for content in ["messages", "system", "input"] {
        blocks(body.get(content), &mut asked);
    }
    let mut asked = asked.into_iter().map(|name| short(&name));
    Ok(asked.find(|name| !allowed.contains(name)).map(Feature))
}

/// A name as an operator would write it: without its date, and bounded.
fn short(name: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || "_.-".contains(*c);
    let name: String = name.chars().filter(plain).take(64).collect();
    without_date(&name).to_owned()
}

fn without_date(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((rest, date)) if date.len() >= 8 && date.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => name,
    }
}

fn tools(tools: Option<&Value>, asked: &mut Vec<String>) {
    let Some(tools) = tools else { return };
    let Some(all) = tools.as_array() else {
        asked.push("tools".to_owned());
        return;
    };
    for tool in all {
        match tool.get("type") {
            _ if !tool.is_object() => asked.push("tools".to_owned()),
            Some(Value::String(kind)) if !TOOLS.contains(&without_date(kind)) => {
                asked.push(kind.clone());
            }
            None | Some(Value::String(_)) => {
                // Whatever it calls itself, it is another machine's.
                let others = ["server_url", "connector_id", "mcp_server_name"];
                let has = others.into_iter().filter(|name| tool.get(*name).is_some());
                asked.extend(has.map(str::to_owned));
            }
            Some(_) => asked.push("tools.type".to_owned()),
        }
    }
}

/// Every block of content, also in the results of tools. Not what the model itself gave a tool: that
/// is data.
fn blocks(value: Option<&Value>, asked: &mut Vec<String>) {
    match value {
        Some(Value::Array(all)) => all.iter().for_each(|one| blocks(Some(one), asked)),
        Some(Value::Object(block)) => {
            one_block(block, asked);
            let is_call = block.get("type").is_some_and(|kind| kind == "tool_use");
            for (name, value) in block {
                if !(is_call && name == "input") {
                    blocks(Some(value), asked);
                }
            }
        }
        _ => {}
    }
}

fn one_block(block: &Map<String, Value>, asked: &mut Vec<String>) {
    let kind = block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if kind == "container_upload" || kind == "item_reference" {
        asked.push(kind.to_owned());
    }
    // Whatever it calls itself: a provider may take a block for what its members say.
    if let Some(source) = block.get("source") {
        let from = source.get("type").and_then(Value::as_str);
        // The source of a search result is a text that nobody fetches.
        let is_text = source.is_string() && !BLOCKS.contains(&kind);
        if !is_text && !from.is_some_and(|from| SOURCES.contains(&from)) {
            asked.push(format!("source.{}", from.unwrap_or("?")));
        }
    }
    for (name, value) in block.iter().filter(|(name, _)| name.ends_with("_url")) {
        let address = value.get("url").unwrap_or(value);
        let here = address.as_str().is_some_and(|url| url.starts_with("data:"));
        if !here && !address.is_null() && name != "file_url" {
            asked.push(name.clone());
        }
    }
    let file = block.get("file").and_then(Value::as_object);
    for holder in [Some(block), file].into_iter().flatten() {
        for name in ["file_url", "file_id"] {
            if holder.get(name).is_some_and(|value| !value.is_null()) {
                asked.push(name.to_owned());
            }
        }
    }
}

/// The names of headers that turn features on.
pub(super) fn beta_headers() -> impl Iterator<Item = &'static str> {
    BETA.iter().map(|(name, _)| *name)
}

/// What may stay of such a header.
pub(super) fn beta(header: &str, values: &str, allowed: &[String]) -> String {
    let known = BETA.iter().find(|(name, _)| *name == header);
    let known = known.map_or(&[][..], |(_, known)| *known);
    let stays = |value: &&str| {
        // Behind a name stands a date, or a number, and nothing else.
        let dated = |rest: &str| {
            rest.bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
        };
        let rest = known
            .iter()
            .find_map(|beginning| value.strip_prefix(beginning));
        let is_known = rest.is_some_and(|rest| header != "anthropic-beta" || dated(rest));
        !value.is_empty() && (is_known || allowed.iter().any(|allowed| allowed == value))
    };
    let kept: Vec<&str> = values.split(',').map(str::trim).filter(stays).collect();
    kept.join(",")
}

/// Values in one body: a few bytes of JSON are many in memory.
const VALUES: u32 = 500_000;

thread_local! {
    /// How many more may be read.
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

/// JSON in which no object has a name twice, and not too many values.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let left = LEFT.get().checked_sub(1);
        LEFT.set(left.ok_or_else(|| D::Error::custom("it has too many values"))?);
        from.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(value)) = from.next_element()? {
            all.push(value);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((name, Strict(value))) = from.next_entry::<String, Strict>()? {
            if all.insert(name, value).is_some() {
                return Err(A::Error::custom("a name stands twice in an object"));
            }
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asks(api: Api, body: &Value, allowed: &[&str]) -> Option<String> {
        let allowed: Vec<String> = allowed.iter().map(|one| (*one).to_owned()).collect();
        let found = forbidden(api, body.to_string().as_bytes(), &allowed).unwrap();
        found.map(|Feature(name)| name)
    }

    fn content(block: &Value) -> Value {
        json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "content": [block]}]}]})
    }

    #[test]
    fn a_body_of_very_many_values_is_none() {
        let many = format!("{{\"messages\":[{}0]}}", "[],".repeat(600_000));
        let none: Vec<String> = Vec::new();
        let error = forbidden(Api::Anthropic, many.as_bytes(), &none).unwrap_err();
        assert!(error.to_string().contains("too many values"), "{error}");
        assert_eq!(asks(Api::Anthropic, &json!({"messages": []}), &[]), None);
    }

    #[test]
    fn what_the_provider_would_fetch_is_named() {
        let tool = |tool: Value| json!({"tools": [{"name": "x", "input_schema": {}}, tool]});
        let url = json!({"type": "url", "url": "https://x"});
        for (api, body, name) in [
            (Api::Anthropic, json!({"mcp_servers": []}), "mcp_servers"),
            (Api::Anthropic, json!({"container": "c"}), "container"),
            (Api::Anthropic, json!({"new_thing": 1}), "new_thing"),
            (
                Api::Anthropic,
                tool(json!({"type": "web_search_20250305"})),
                "web_search",
            ),
            (
                Api::Anthropic,
                tool(json!({"type": "web_fetch_20250910"})),
                "web_fetch",
            ),
            (
                Api::Anthropic,
                tool(json!({"type": "code_execution_20250825"})),
                "code_execution",
            ),
            (
                Api::Anthropic,
                tool(json!({"type": "mcp_toolset"})),
                "mcp_toolset",
            ),
            (Api::Anthropic, tool(json!({"type": 7})), "tools.type"),
            (
                Api::Anthropic,
                content(&json!({"type": "image", "source": url})),
                "source.url",
            ),
            (
                Api::Anthropic,
                content(&json!({"type": "document", "source": url})),
                "source.url",
            ),
            // Whatever it calls itself.
            (
                Api::Anthropic,
                content(&json!({"type": "Image", "source": url})),
                "source.url",
            ),
            (
                Api::Anthropic,
                content(&json!({"source": url})),
                "source.url",
            ),
            (
                Api::Anthropic,
                content(&json!({"type": "document", "source": {"type": "file"}})),
                "source.file",
            ),
            (
                Api::Anthropic,
                json!({"system": [{"type": "document", "source": url}]}),
                "source.url",
            ),
            (
                Api::Anthropic,
                content(&json!({"type": "container_upload"})),
                "container_upload",
            ),
            (
                Api::OpenAi,
                tool(json!({"type": "web_search_preview"})),
                "web_search_preview",
            ),
            (
                Api::OpenAi,
                tool(json!({"type": "mcp", "server_url": "https://x"})),
                "mcp",
            ),
            (
                Api::OpenAi,
                json!({"web_search_options": {}}),
                "web_search_options",
            ),
            (Api::OpenAi, json!({"prompt": {"id": "x"}}), "prompt"),
            (
                Api::OpenAi,
                content(&json!({"type": "image_url", "image_url": {"url": "https://x"}})),
                "image_url",
            ),
            (
                Api::OpenAi,
                json!({"input": [{"type": "input_image", "image_url": "https://x"}]}),
                "image_url",
            ),
            (
                Api::OpenAi,
                json!({"input": [{"type": "input_file", "file_url": "https://x"}]}),
                "file_url",
            ),
            (
                Api::OpenAi,
                content(&json!({"type": "file", "file": {"file_id": "x"}})),
                "file_id",
            ),
        ] {
            assert_eq!(asks(api, &body, &[]).as_deref(), Some(name), "{body}");
            assert_eq!(asks(api, &body, &[name]), None, "{body}");
        }
    }

    #[test]
    fn what_a_coding_agent_asks_passes() {
        let body = json!({
            "model": "m", "max_tokens": 1, "stream": true, "metadata": {"user_id": "u"},
            "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
            "thinking": {"type": "enabled"}, "context_management": {"edits": []},
            "tools": [{"name": "Bash", "input_schema": {"properties": {"source": {"type": "url"}}}},
                      {"type": "bash_20250124", "name": "bash"}, {"type": "custom", "name": "c"}],
            "messages": [
                {"role": "user", "content": "see https://x"},
                {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash",
                    "input": {"type": "image", "source": {"type": "url"}}}]},
                {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": ""}}]},
            ],
        });
        assert_eq!(asks(Api::Anthropic, &body, &[]), None);
        let body = json!({
            "model": "m", "input": [{"type": "input_image", "image_url": "data:image/png;base64,"}],
            "tools": [{"type": "function", "name": "f"}, {"type": "local_shell"}], "prompt": "text",
        });
        assert_eq!(asks(Api::OpenAi, &body, &[]), None);
    }

    #[test]
    fn what_two_readers_may_read_in_two_ways_does_not_pass() {
        for body in [
            r#"{"tools":[],"tools":[{"type":"web_fetch_20250910"}]}"#,
            r#"{"messages":[{"source":1,"source":2}]}"#,
            "[]",
            "hi",
            "",
            "{}{}",
        ] {
            assert!(
                forbidden(Api::Anthropic, body.as_bytes(), &[]).is_err(),
                "{body}"
            );
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(forbidden(Api::OpenAi, format!("{{\"input\":{deep}}}").as_bytes(), &[]).is_err());
    }

    #[test]
    fn only_known_betas_stay() {
        let sent = "claude-code-20250219, mcp-client-2025-04-04,files-api-2025-04-14,, new-1";
        assert_eq!(beta("anthropic-beta", sent, &[]), "claude-code-20250219");
        let allowed = ["files-api-2025-04-14".to_owned()];
        let kept = beta("anthropic-beta", sent, &allowed);
        assert_eq!(kept, "claude-code-20250219,files-api-2025-04-14");
        assert_eq!(
            beta("openai-beta", "responses=experimental, x=1", &[]),
            "responses=experimental"
        );
    }
}
