//! The tools of a session, as permission rules: the last one that matches decides, and none ever asks.
//!
//! Each part of a line of the shell (`a && b`, `a $(b)`) is held against the rules. What creates a file and what changes
//! one is the same permission: a list with `Write` has both.

use carson_core::ToolRule;
use serde_json::{Map, Value, json};

/// The rules for these tools, in Carson's notation; a name that is none of it is the CLI's own.
pub(super) fn permission(tools: &[String]) -> Value {
    let mut rules = Map::new();
    let mut set = |name: &str, rule: Value| rules.insert(name.to_owned(), rule);
    set("*", "deny".into());
    // Who may read and write where is for the walls to say; who repeats itself is stopped by Carson.
    set("external_directory", "allow".into());
    set("doom_loop", "allow".into());
    let mut commands = Map::from_iter([("*".to_owned(), Value::from("deny"))]);
    for entry in tools {
        match ToolRule::of(entry) {
            Some(ToolRule::Whole("Bash")) => {
                commands.insert("*".to_owned(), "allow".into());
            }
            Some(ToolRule::Whole("Read")) => {
                set("read", read());
                set("list", "allow".into());
            }
            Some(ToolRule::Whole(name)) => {
                set(own(name), "allow".into());
            }
            Some(ToolRule::Beginning(words)) => {
                commands.insert(format!("{words} *"), "allow".into());
            }
            Some(ToolRule::Exactly(words)) => {
                commands.insert(words.to_owned(), "allow".into());
            }
            // The settings are not accepted with such a one.
            None => {}
        }
    }
    // Whatever a list says of it, rules for commands are no tool.
    set("bash", Value::Object(commands));
    Value::Object(rules)
}

/// Its tools for one of Carson's notation; rules are for permissions, of which several tools may have one.
fn own(name: &str) -> &str {
    match name {
        "Grep" => "grep",
        "Glob" => "glob",
        "Edit" | "Write" => "edit",
        own => own,
    }
}

/// Its own rule for files that hold secrets, as there is no hook.
fn read() -> Value {
    json!({ "*": "allow", "*.env": "deny", "*.env.*": "deny", "*.env.example": "allow" })
}
