//! GitHub's description of its API, cut down to what we ask for: the whole has 800 paths.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// What the forge asks for. A request to anywhere else is one that nobody looked up.
const PATHS: &[&str] = &[
    "/user",
    "/app",
    "/app/installations/{installation_id}/access_tokens",
    "/repos/{owner}/{repo}",
    "/repos/{owner}/{repo}/installation",
    "/repos/{owner}/{repo}/labels",
    "/repos/{owner}/{repo}/issues",
    "/repos/{owner}/{repo}/issues/{issue_number}",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments",
    "/repos/{owner}/{repo}/issues/{issue_number}/labels",
    "/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}",
    "/repos/{owner}/{repo}/issues/{issue_number}/sub_issues",
    "/repos/{owner}/{repo}/issues/{issue_number}/dependencies/blocked_by",
    "/repos/{owner}/{repo}/pulls",
    "/repos/{owner}/{repo}/pulls/{pull_number}",
    "/repos/{owner}/{repo}/pulls/{pull_number}/files",
    "/repos/{owner}/{repo}/pulls/{pull_number}/merge",
    "/repos/{owner}/{repo}/pulls/{pull_number}/reviews",
    "/repos/{owner}/{repo}/commits/{ref}/check-runs",
    "/repos/{owner}/{repo}/commits/{ref}/status",
    "/repos/{owner}/{repo}/actions/jobs/{job_id}/logs",
];

/// The description of these paths: of their requests, because the answers are the emulator's.
pub fn of_our_paths(whole: &Value) -> Value {
    let mut paths = Map::new();
    for path in PATHS {
        let mut verbs = whole["paths"][path].clone();
        assert!(verbs.is_object(), "GitHub has no {path} any more");
        for verb in verbs.as_object_mut().unwrap().values_mut() {
            if let Some(verb) = verb.as_object_mut() {
                verb.insert(
                    "responses".into(),
                    json!({"default": {"description": "any"}}),
                );
            }
        }
        paths.insert((*path).to_owned(), verbs);
    }
    let paths = Value::Object(paths);
    let mut needed = BTreeSet::new();
    follow(whole, &paths, &mut needed);
    let mut components = json!({});
    for name in needed {
        let parts: Vec<&str> = name.split('/').collect();
        components[parts[2]][parts[3]] = whole.pointer(&name[1..]).unwrap().clone();
    }
    let mut ours = json!({
        "openapi": whole["openapi"], "info": whole["info"], "paths": paths, "components": components,
    });
    without_stray_nullable(&mut ours);
    ours
}

/// GitHub says `nullable` of some values without a `type`. Prism reads no such body at all then, and
/// passes whatever is in it; we send no null.
fn without_stray_nullable(part: &mut Value) {
    match part {
        Value::Object(fields) => {
            if !fields.contains_key("type") && fields.get("nullable") == Some(&json!(true)) {
                fields.remove("nullable");
            }
            fields.values_mut().for_each(without_stray_nullable);
        }
        Value::Array(items) => items.iter_mut().for_each(without_stray_nullable),
        _ => {}
    }
}

/// All that these refer to, and what that refers to.
fn follow(whole: &Value, from: &Value, needed: &mut BTreeSet<String>) {
    match from {
        Value::Object(fields) => {
            if let Some(name) = fields.get("$ref").and_then(Value::as_str)
                && needed.insert(name.to_owned())
            {
                follow(whole, whole.pointer(&name[1..]).unwrap(), needed);
            }
            for field in fields.values() {
                follow(whole, field, needed);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| follow(whole, item, needed)),
        _ => {}
    }
}
