//! The tools on one directory. Each is a file: what the model is told of it, its arguments, what it does.
//!
//! A call goes first through the hook (`gate.rs`), then to its tool. Paths are resolved, links
//! followed, and must lead into the directory (`place.rs`).

mod edit;
mod grep;
mod list;
mod read;
mod run;
mod tool;
mod write;

use std::time::Duration;

use serde_json::{Map, Value};

use crate::approve::Approval;
use crate::chat::text_tools::{self, UNREADABLE};
use crate::gate::Gate;
use crate::mcp::Servers;
use crate::message::Call;
use crate::model::ToolSpec;
use crate::place::Place;
use crate::shell::Shell;
use crate::toolbox::{Effect, Observation, Toolbox};
use tool::{Done, Tool, taken};

const TOOLS: [&Tool; 6] = [
    &read::TOOL,
    &write::TOOL,
    &edit::TOOL,
    &list::TOOL,
    &grep::TOOL,
    &run::TOOL,
];

/// The names of our own tools.
#[must_use]
pub fn names() -> [&'static str; 6] {
    TOOLS.map(|tool| tool.name)
}

/// What the model can do in one directory.
#[derive(Debug)]
pub struct Tools {
    /// The directory.
    pub place: Place,
    /// Who may refuse a call.
    pub gate: Gate,
    /// How commands run.
    pub shell: Shell,
    /// Who is asked before something is written.
    pub approval: Approval,
    /// Tools of others.
    pub servers: Servers,
    specs: Vec<ToolSpec>,
}

impl Tools {
    /// Our own tools of these names, and all of the servers.
    #[must_use]
    pub fn new(
        place: Place,
        gate: Gate,
        shell: Shell,
        approval: Approval,
        servers: Servers,
        own: &[String],
    ) -> Self {
        let given = TOOLS
            .iter()
            .filter(|tool| own.iter().any(|name| name == tool.name));
        let mut specs: Vec<ToolSpec> = given.map(|tool| tool.spec()).collect();
        specs.extend(servers.specs());
        Self {
            place,
            gate,
            shell,
            approval,
            servers,
            specs,
        }
    }

    fn is_given(&self, name: &str) -> bool {
        self.specs.iter().any(|spec| spec.name == name)
    }

    fn unknown(&self, call: &Call) -> Observation {
        let name = call.tool.as_str();
        if name == UNREADABLE {
            return Observation::error(text_tools::why_unreadable(&call.arguments));
        }
        let names: Vec<&str> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
        Observation::error(format!(
            "there is no tool {name:?}; the tools are {}, each called with one JSON object",
            names.join(", ")
        ))
    }

    async fn own(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        time: Duration,
        most: usize,
    ) -> Done {
        match name {
            "read_file" => read::call(&self.place, &self.gate, taken(arguments)?, most),
            "list" => list::call(&self.place, &self.gate, taken(arguments)?, most),
            "grep" => grep::call(&self.place, &self.gate, taken(arguments)?, most),
            "write_file" => {
                let args = taken(arguments)?;
                write::call(&self.place, &self.gate, &self.approval, args).await
            }
            "edit_file" => {
                let args = taken(arguments)?;
                edit::call(&self.place, &self.gate, &self.approval, args).await
            }
            _ => {
                let args = taken(arguments)?;
                run::call(&self.gate, &self.shell, args, time, most).await
            }
        }
    }
}

impl Toolbox for Tools {
    fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn effect(&self, tool: &str) -> Effect {
        match TOOLS.iter().find(|own| own.name == tool) {
            Some(own) => own.effect,
            None if self.is_given(tool) => Effect::Changes,
            None => Effect::Reads,
        }
    }

    async fn call(&mut self, call: &Call, time: Duration, most: usize) -> Observation {
        if !self.is_given(&call.tool) {
            return self.unknown(call);
        }
        let text = match call.arguments.trim() {
            "" => "{}",
            text => text,
        };
        let arguments: Map<String, Value> = match serde_json::from_str(text) {
            Ok(arguments) => arguments,
            Err(error) => {
                return Observation::error(format!("the arguments are no JSON object: {error}"));
            }
        };
        if TOOLS.iter().all(|own| own.name != call.tool) {
            return self.others(&call.tool, arguments, most).await;
        }
        let done = self.own(&call.tool, arguments, time, most).await;
        done.unwrap_or_else(|refused| refused)
    }
}

impl Tools {
    async fn others(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
        most: usize,
    ) -> Observation {
        let asked = self.gate.ask(tool, &Value::Object(arguments.clone()));
        match asked {
            Ok(()) => {
                let redactor = &self.shell.redactor;
                self.servers.call(tool, arguments, most, redactor).await
            }
            Err(why) => Observation::refused(why),
        }
    }
}

#[cfg(test)]
mod tests;
