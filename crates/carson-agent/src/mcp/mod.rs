//! Tools of others: MCP servers over standard input and output.
//!
//! A server is a child like any other: behind the same walls, with the same environment, ended and
//! swept with everything it started. Only the tools that the operator named are offered. A call has
//! two seconds; what goes wrong with it is what the model reads.
//!
//! The three requests that are needed are written here rather than taken from the official library
//! (docs/AGENT.md says why).

pub mod config;
mod server;
mod wire;

use std::time::Duration;

use carson_proc::Command;
use carson_redact::Redactor;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::cut::cut_middle;
use crate::mcp::config::{Config, ServerConfig};
use crate::mcp::server::{Server, ServerError};
use crate::mcp::wire::{TOOLS_MOST, is_unfinished, offered, result_text};
use crate::model::ToolSpec;
use crate::shell::Shell;
use crate::toolbox::Observation;

/// The longest that a call may take.
const CALL: Duration = Duration::from_secs(2);
/// The longest that a server may take to be ready.
const READY: Duration = Duration::from_secs(15);
/// Most pages of a list of tools.
const PAGES: usize = 20;

/// A server that cannot be used.
#[derive(Debug, Error)]
#[error("the MCP server {name:?}: {source}")]
pub struct StartError {
    /// Which.
    name: String,
    /// Why.
    source: ServerError,
}

/// All servers of a run.
#[derive(Debug, Default)]
pub struct Servers {
    running: Vec<Server>,
    /// Each tool's name for the model, its server's place in the list, and its name there.
    tools: Vec<(ToolSpec, usize, String)>,
}

impl Servers {
    /// Starts them all, and asks each for its tools.
    ///
    /// # Errors
    /// When one cannot be started, or is no MCP server.
    pub async fn start(config: &Config, shell: &Shell) -> Result<Self, StartError> {
        let mut servers = Self::default();
        for (name, config) in &config.servers {
            let added = servers.add(name, config, shell).await;
            if let Err(source) = added {
                servers.end().await;
                let name = name.clone();
                return Err(StartError { name, source });
            }
        }
        Ok(servers)
    }

    async fn add(
        &mut self,
        name: &str,
        config: &ServerConfig,
        shell: &Shell,
    ) -> Result<(), ServerError> {
        let command = Command::new(config.program()?, shell.place.root())
            .args(config.command.iter().skip(1))
            .exact_env(shell.env.clone());
        self.running
            .push(Server::start(command, shell.walls.as_ref())?);
        let at = self.running.len() - 1;
        let server = &mut self.running[at];
        server.agree(READY).await?;
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = cursor.map_or(json!({}), |cursor: String| json!({ "cursor": cursor }));
            let listed = server.request("tools/list", params, READY).await?;
            for (called, spec) in offered(name, &listed) {
                if config.tools.contains(&called) && self.tools.len() < TOOLS_MOST {
                    self.tools.push((spec, at, called));
                }
            }
            cursor = listed["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        let missing = config.tools.iter().find(|tool| {
            let has =
                |(_, place, called): &(ToolSpec, usize, String)| *place == at && called == *tool;
            !self.tools.iter().any(has)
        });
        match missing {
            Some(tool) => Err(ServerError::NoTool(tool.clone())),
            None => Ok(()),
        }
    }

    /// What the model is told of their tools.
    pub fn specs(&self) -> impl Iterator<Item = ToolSpec> + '_ {
        self.tools.iter().map(|(spec, _, _)| spec.clone())
    }

    /// Calls a tool.
    pub async fn call(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
        most: usize,
        redactor: &Redactor,
    ) -> Observation {
        let known = self.tools.iter().find(|(spec, _, _)| spec.name == tool);
        let Some((_, at, called)) = known else {
            return Observation::error("no such tool");
        };
        let params = json!({ "name": called, "arguments": arguments });
        match self.running[*at].request("tools/call", params, CALL).await {
            Ok(result) if is_unfinished(&result) => {
                Observation::failed("the tool asks for input, which nobody gives here")
            }
            Ok(result) => {
                let text = cut_middle(&redactor.redact(&result_text(&result)), most);
                match result["isError"].as_bool() {
                    Some(true) => Observation::failed(text),
                    _ => Observation::well(text),
                }
            }
            Err(error) => {
                let text = error.to_string();
                Observation::failed(cut_middle(&redactor.redact(&text), most))
            }
        }
    }

    /// Ends them, and everything they started.
    pub async fn end(&mut self) {
        for server in self.running.drain(..) {
            server.end().await;
        }
    }
}
