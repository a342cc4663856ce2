//! What may be asked for, and what not.

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
    let found = |tool: Value| {
        json!({
            "tools": [{"type": "tool_search", "execution": "client", "parameters": {}}],
            "input": [{"type": "tool_search_output", "tools": [
                {"type": "namespace", "name": "mcp__docs", "tools": [tool]},
            ]}],
        })
    };
    let page = json!({"type": "object", "properties": {"page_url": {"type": "string"}}});
    let own = found(json!({"type": "function", "name": "search", "parameters": page}));
    assert_eq!(asks(Api::OpenAi, &own, &[]), None);
    for (tool, name) in [
        (json!({"type": "mcp", "connector_id": "c"}), "mcp"),
        (
            json!({"type": "function", "connector_id": "c"}),
            "connector_id",
        ),
        (json!({"type": "web_search"}), "web_search"),
    ] {
        let named = asks(Api::OpenAi, &found(tool), &[]);
        assert_eq!(named.as_deref(), Some(name));
    }
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
