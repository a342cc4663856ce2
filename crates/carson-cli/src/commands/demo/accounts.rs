//! The accounts of the demo's home.

use std::path::Path;

use carson_core::{EngineFacts, EngineKind};
use serde_json::json;

/// Their sections of `carson.toml`: one of the CLI's own name, or those that the parts of the rehearsal
/// name.
pub fn sections(engine: EngineKind, script: &Path) -> String {
    let facts = engine.facts();
    if facts.plays_script {
        let script = json!(script.to_string_lossy());
        return ["play", "tired"]
            .map(|name| format!("[accounts.{name}]\nengine = \"{engine}\"\nscript = {script}\n"))
            .join("\n");
    }
    format!(
        "[accounts.{engine}]\nengine = \"{engine}\"\nenv = {{ {} }}\n",
        sign_in(facts).join(", ")
    )
}

/// What passes from the operator's environment when it is set: how somebody is signed in, and where
/// the provider is.
fn sign_in(facts: &EngineFacts) -> Vec<String> {
    let given = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let pair = |name: &str, value: String| format!("{name} = {}", json!(value));
    let dir = facts.sign_in_dir.map(|(variable, default)| {
        let dir = given(variable).unwrap_or_else(|| default.to_owned());
        pair(variable, dir)
    });
    let address = facts.api.map(|api| api.variables().1.0);
    // What leads to another provider needs more than this.
    let keys = facts.sign_in_keys.iter().copied();
    let keys = keys.filter(|name| !facts.elsewhere.contains(name));
    let passed = keys.chain(address);
    let passed = passed.filter_map(|name| Some(pair(name, given(name)?)));
    dir.into_iter().chain(passed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sections_are_toml() {
        for engine in EngineKind::all() {
            let text = sections(engine, Path::new("/a \"b\"/play.toml"));
            let parsed: toml::Table = text
                .parse()
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            let mut accounts = parsed["accounts"].as_table().unwrap().values();
            assert!(accounts.all(|one| one["engine"].as_str() == Some(engine.facts().name)));
        }
    }
}
