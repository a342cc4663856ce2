//! Tools of others: MCP servers over standard input and output.
//!
//! A server is a child like any other: behind the same walls, with the same environment, ended and
//! swept with everything it started. Only the tools that the operator named are offered. A call has
//! two seconds; what goes wrong with it is what the model reads.
//!
//! The three requests that are needed are written (`carson-porter`) rather than taken from the official library
//! (docs/AGENT.md says why).

pub mod config;

use std::io;
use std::time::Duration;

use carson_porter::{
    Offered, Server, ServerError, is_unfinished, name_for_models, offered, result_text,
};
use carson_proc::Command;
use carson_redact::Redactor;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::cut::{cut_end, cut_middle};
use crate::mcp::config::{Config, ServerConfig};
use crate::model::ToolSpec;
use crate::shell::Shell;
use crate::toolbox::Observation;

/// The longest that a call may take.
const CALL: Duration = Duration::from_secs(2);
/// The longest that a server may take to be ready.
const READY: Duration = Duration::from_secs(30);
/// Most pages of a list of tools.
const PAGES: usize = 20;
/// Most tools of all servers together.
const TOOLS_MOST: usize = 128;
/// Longest description of a tool, in characters.
const DESCRIPTION: usize = 400;

/// A server that cannot be used.
#[derive(Debug, Error)]
#[error("the MCP server {name:?}: {source}")]
pub struct StartError {
    /// Which.
    name: String,
    /// Why.
    source: Unfit,
}

/// Why one cannot be used.
#[derive(Debug, Error)]
pub enum Unfit {
    /// Its program is not there.
    #[error("the program {0:?} is not on PATH")]
    NoProgram(String),
    /// Its walls cannot be written down.
    #[error("its sandbox cannot be prepared: {0}")]
    Walls(#[from] io::Error),
    /// It does not answer as one does.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// It has no such tool.
    #[error("it has no tool {0:?}")]
    NoTool(String),
}

/// All servers of a run.
#[derive(Debug, Default)]
pub struct Servers {
    running: Vec<Server>,
    /// Each tool's name for the model, its server's place in the list, and its name there.
    tools: Vec<(ToolSpec, usize, String)>,
    missed: Vec<StartError>,
}

impl Servers {
    /// Starts them all, and asks each for its tools.
    ///
    /// # Errors
    /// When one that is required cannot be used.
    pub async fn start(config: &Config, shell: &Shell) -> Result<Self, StartError> {
        let mut servers = Self::default();
        for (name, config) in &config.servers {
            let Err(source) = servers.add(name, config, shell).await else {
                continue;
            };
            let error = StartError {
                name: name.clone(),
                source,
            };
            if config.required {
                servers.end().await;
                return Err(error);
            }
            servers.missed.push(error);
        }
        Ok(servers)
    }

    /// What cannot be used of those that are not required.
    #[must_use]
    pub fn missed(&self) -> &[StartError] {
        &self.missed
    }

    async fn add(&mut self, name: &str, config: &ServerConfig, shell: &Shell) -> Result<(), Unfit> {
        let program = config
            .program()
            .ok_or_else(|| Unfit::NoProgram(config.named().to_owned()))?;
        let command = Command::new(program, shell.place.root())
            .args(config.command.iter().skip(1))
            .exact_env(shell.env.clone());
        let server = match &shell.walls {
            Some(walls) => {
                let walled = walls.around(command)?;
                Server::start(walled.command.clone(), walled)
            }
            None => Server::start(command, ()),
        };
        self.running.push(server);
        let at = self.running.len() - 1;
        let server = &mut self.running[at];
        server.agree(READY).await?;
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = cursor.map_or(json!({}), |cursor: String| json!({ "cursor": cursor }));
            let listed = server.request("tools/list", params, READY).await?;
            for tool in offered(name, &listed) {
                if config.tools.contains(&tool.name) && self.tools.len() < TOOLS_MOST {
                    let called = tool.name.clone();
                    self.tools.push((spec(name, tool), at, called));
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
            Some(tool) => Err(Unfit::NoTool(tool.clone())),
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

fn spec(server: &str, tool: Offered) -> ToolSpec {
    ToolSpec {
        name: name_for_models(server, &tool.name),
        description: cut_end(&tool.description, DESCRIPTION),
        parameters: tool.schema,
    }
}
