//! What a request to Google's Generative Language API may ask for.
//!
//! A tool of it is an object with one member, which says what it is: functions of the client's, or something that the
//! provider searches, reads or runs by itself. A part of a content may be a file by its address, which the provider
//! fetches. Names are written in either of two ways, as the API takes both.

use serde_json::{Map, Value};

/// Members of a request that make the provider fetch nothing and run nothing.
const MEMBERS: [&str; 7] = [
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "labels",
];

/// Members of a part.
const PARTS: [&str; 8] = [
    "text",
    "thought",
    "thoughtSignature",
    "inlineData",
    "functionCall",
    "functionResponse",
    "partMetadata",
    "videoMetadata",
];

/// Everything that it asks for, by its names.
pub(super) fn asked(body: &Map<String, Value>) -> Vec<String> {
    let mut asked: Vec<String> = Vec::new();
    let known = |name: &String| MEMBERS.contains(&camel(name).as_str());
    asked.extend(body.keys().filter(|name| !known(name)).cloned());
    for (name, value) in body {
        match camel(name).as_str() {
            "tools" => tools(value, &mut asked),
            "contents" | "systemInstruction" => contents(value, &mut asked),
            _ => {}
        }
    }
    asked
}

fn tools(tools: &Value, asked: &mut Vec<String>) {
    let Some(all) = tools.as_array() else {
        asked.push("tools".to_owned());
        return;
    };
    for tool in all {
        let Some(members) = tool.as_object() else {
            asked.push("tools".to_owned());
            continue;
        };
        let others = members.keys().map(|name| camel(name));
        asked.extend(others.filter(|name| name != "functionDeclarations"));
    }
}

/// Contents, one or several, and their parts; also those that the result of a function has.
fn contents(value: &Value, asked: &mut Vec<String>) {
    let one = std::slice::from_ref(value);
    for content in value.as_array().map_or(one, Vec::as_slice) {
        let parts = content.get("parts").unwrap_or(content);
        let one = std::slice::from_ref(parts);
        for part in parts.as_array().map_or(one, Vec::as_slice) {
            self::part(part, asked);
        }
    }
}

fn part(part: &Value, asked: &mut Vec<String>) {
    let Some(members) = part.as_object() else {
        return;
    };
    for (name, value) in members {
        let name = camel(name);
        if name == "functionResponse" {
            if let Some(parts) = value.get("parts") {
                contents(parts, asked);
            }
        } else if !PARTS.contains(&name.as_str()) && name != "role" {
            asked.push(name);
        }
    }
}

/// `file_data` as `fileData`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(body: &Value) -> Vec<String> {
        asked(body.as_object().unwrap())
    }

    #[test]
    fn what_a_client_of_functions_asks_passes() {
        let body = json!({
            "contents": [
                {"role": "user", "parts": [{"text": "hello"}, {"inlineData": {"mimeType": "image/png", "data": ""}}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"fileData": 1}}, "thoughtSignature": "x"}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"fileData": {"fileUri": "x"}}}}]},
            ],
            "systemInstruction": {"role": "user", "parts": [{"text": "be kind"}]},
            "tools": [{"functionDeclarations": []}, {"function_declarations": []}],
            "generationConfig": {"temperature": 1},
        });
        assert_eq!(of(&body), Vec::<String>::new());
    }

    #[test]
    fn what_the_provider_would_fetch_search_or_run_is_named() {
        let part = |part: Value| json!({"contents": [{"parts": [part]}]});
        let nested = json!({"functionResponse": {"response": {}, "parts": [{"fileData": {}}]}});
        for (body, name) in [
            (
                json!({"cachedContent": "cachedContents/x"}),
                "cachedContent",
            ),
            (json!({"tools": [{"googleSearch": {}}]}), "googleSearch"),
            (
                json!({"tools": [{"google_search": {}, "functionDeclarations": []}]}),
                "googleSearch",
            ),
            (json!({"tools": [{"urlContext": {}}]}), "urlContext"),
            (json!({"tools": [{"codeExecution": {}}]}), "codeExecution"),
            (json!({"tools": {"googleSearch": {}}}), "tools"),
            (
                part(json!({"fileData": {"fileUri": "https://x"}})),
                "fileData",
            ),
            (
                part(json!({"file_data": {"file_uri": "https://x"}})),
                "fileData",
            ),
            (part(json!({"executableCode": {}})), "executableCode"),
            (part(nested), "fileData"),
            (json!({"contents": {"parts": {"fileData": {}}}}), "fileData"),
            (
                json!({"system_instruction": {"parts": [{"fileData": {}}]}}),
                "fileData",
            ),
        ] {
            assert_eq!(of(&body), [name], "{body}");
        }
    }
}
