//! The schema of `stories.json`, as `carson stories check --schema` prints it.

use std::sync::OnceLock;

use serde_json::Value;

use super::written::Plan;

/// It is made of the types that are read ([`Plan`]).
pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| schemars::schema_for!(Plan).to_value())
}

/// The same as text.
#[must_use]
pub fn schema_text() -> String {
    // Writing to memory does not fail.
    let mut text = serde_json::to_string_pretty(schema()).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_schema_in_the_documentation_is_this_one() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/stories.schema.json");
        if std::env::var_os("CARSON_UPDATE").is_some() {
            std::fs::write(&path, schema_text()).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(written, schema_text(), "CARSON_UPDATE=1 writes it");
    }

    /// What `conforms.rs` does not know, it would not hold anybody to.
    #[test]
    fn every_word_of_the_schema_is_one_that_is_checked() {
        const CHECKED: [&str; 16] = [
            "$defs",
            "$ref",
            "additionalProperties",
            "const",
            "enum",
            "items",
            "maxLength",
            "maximum",
            "minItems",
            "minLength",
            "minimum",
            "oneOf",
            "pattern",
            "properties",
            "required",
            "type",
        ];
        const TEXTS: [&str; 5] = ["$schema", "title", "description", "default", "format"];
        let mut words = BTreeSet::new();
        words_of(schema(), &mut words);
        let unknown: Vec<_> = words
            .iter()
            .filter(|word| !CHECKED.contains(&word.as_str()) && !TEXTS.contains(&word.as_str()))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    fn words_of(schema: &Value, words: &mut BTreeSet<String>) {
        let Some(map) = schema.as_object() else {
            return;
        };
        for (word, value) in map {
            words.insert(word.clone());
            match (word.as_str(), value) {
                ("properties" | "$defs", Value::Object(named)) => {
                    named.values().for_each(|one| words_of(one, words));
                }
                ("oneOf", Value::Array(all)) => all.iter().for_each(|one| words_of(one, words)),
                _ => words_of(value, words),
            }
        }
    }
}
