//! What all tools have.

use std::io::Read as _;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::gate::Gate;
use crate::model::ToolSpec;
use crate::place::Place;
use crate::toolbox::{Effect, Observation};

/// One tool of our own.
pub(super) struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    /// Each argument: its name, its JSON type, what it is, whether it is needed.
    pub arguments: &'static [(&'static str, &'static str, &'static str, bool)],
    pub effect: Effect,
}

/// What came of a call; `Err` is one that was not carried out.
pub(super) type Done = Result<Observation, Observation>;

/// The arguments as a tool takes them.
pub(super) fn taken<A: DeserializeOwned>(arguments: Map<String, Value>) -> Result<A, Observation> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        Observation::error(format!("the arguments are not those of the tool: {error}"))
    })
}

/// Asks the hook.
pub(super) fn pass(gate: &Gate, tool: &str, input: &Value) -> Result<(), Observation> {
    gate.ask(tool, input).map_err(Observation::refused)
}

/// A file that can be read whole.
pub(super) fn text_of(place: &Place, path: &Path, named: &str) -> Result<String, Observation> {
    const MOST: u64 = 4 * 1024 * 1024;
    let failed = |why: &dyn std::fmt::Display| Observation::error(format!("{named}: {why}"));
    let file = place.open(path).map_err(|error| failed(&error))?;
    let about = file.metadata().map_err(|error| failed(&error))?;
    if about.is_dir() {
        return Err(failed(&"is a directory; list shows what is in it"));
    }
    if !about.is_file() {
        return Err(failed(&"is no file"));
    }
    if about.len() > MOST {
        return Err(failed(&"is larger than 4 MiB"));
    }
    let mut bytes = Vec::new();
    let read = file.take(MOST).read_to_end(&mut bytes);
    read.map_err(|error| failed(&error))?;
    String::from_utf8(bytes).map_err(|_| failed(&"is not text"))
}

impl Tool {
    pub(super) fn spec(&self) -> ToolSpec {
        let mut properties = Map::new();
        for (name, kind, what, _) in self.arguments {
            let property = json!({ "type": kind, "description": what });
            properties.insert((*name).to_owned(), property);
        }
        let needed = self.arguments.iter().filter(|argument| argument.3);
        let needed: Vec<&str> = needed.map(|argument| argument.0).collect();
        ToolSpec {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            parameters: json!({
                "type": "object",
                "properties": properties,
                "required": needed,
                "additionalProperties": false,
            }),
        }
    }
}
