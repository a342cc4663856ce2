//! The schema of a loop's files stands in docs/schema, and is that of the types.

use std::path::Path;

use carson_loop::config::Config;
use carson_loop::event::Event;
use carson_loop::meta::Meta;
use carson_loop::state::State;
use serde_json::{Value, json};

/// One document: each file is a definition, and the configuration is what the whole describes.
fn schema() -> Value {
    let mut generator = schemars::SchemaGenerator::default();
    let files = json!({
        "config.json": generator.subschema_for::<Config>(),
        "state.json": generator.subschema_for::<State>(),
        "attempts/NNN/meta.json": generator.subschema_for::<Meta>(),
        "events.jsonl": generator.subschema_for::<Event>(),
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The files of a loop (.carson/loop)",
        "description": "config.json is what a person writes; x-files says which definition each file is of. Of events.jsonl it is one line.",
        "x-files": files,
        "$ref": "#/$defs/Config",
        "$defs": generator.take_definitions(true),
    })
}

#[test]
fn it_is_that_of_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/loop.schema.json");
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("CARSON_UPDATE").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let held = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(text, held, "run this test with CARSON_UPDATE=1");
}
