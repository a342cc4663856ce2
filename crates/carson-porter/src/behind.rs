//! The real server, from the first question about its tools on.

use std::time::Duration;

use carson_proc::Command;
use carson_redact::Redactor;
use serde_json::{Value, json};

use crate::granted::GrantedServer;
use crate::notes::{About, Notes};
use crate::server::{Server, ServerError};
use crate::wire::{Offered, offered};
use crate::words;

/// How long it may take to be ready: CLIs wait for half a minute.
const READY: Duration = Duration::from_secs(25);
/// Most pages of its list of tools.
const PAGES: usize = 20;

/// One server and what is granted of it.
#[derive(Debug)]
pub(crate) struct Behind {
    name: String,
    granted: GrantedServer,
    pub(crate) redactor: Redactor,
    pub(crate) notes: Notes,
    /// Once it was started: it, and the granted tools that it has.
    running: Option<(Server, Vec<Offered>)>,
    /// Why it does not run, once that is known. It is not started twice.
    gone: Option<String>,
}

impl Behind {
    pub(crate) fn new(
        name: &str,
        granted: GrantedServer,
        redactor: Redactor,
        notes: Notes,
    ) -> Self {
        Self {
            name: name.to_owned(),
            granted,
            redactor,
            notes,
            running: None,
            gone: None,
        }
    }

    /// The granted tools that it has. Without a server there are none, and the session goes on.
    pub(crate) async fn tools(&mut self) -> &[Offered] {
        self.begin().await;
        self.running.as_ref().map_or(&[], |(_, tools)| tools)
    }

    /// Calls one of them.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.begin().await;
        let redactor = self.redactor.clone();
        let Some((server, tools)) = &mut self.running else {
            let why = self.gone.as_deref().unwrap_or("it does not run");
            return words::refusal(&format!("the MCP server {}: {why}", self.name), &redactor);
        };
        // Only what was shown is called: a name that nobody listed may be another one to the server.
        if !tools.iter().any(|known| known.name == tool) {
            let why = format!("{tool:?} is no tool that this session has");
            self.notes.add(
                About::Refused,
                &format!("{tool:?} was called, and is not granted"),
            );
            return words::refusal(&why, &redactor);
        }
        let params = json!({ "name": tool, "arguments": arguments });
        let time = Duration::from_millis(self.granted.call_ms);
        match server.request("tools/call", params, time).await {
            Ok(result) => words::result(&result, &redactor),
            Err(ServerError::Refused(why)) => words::refusal(&why, &redactor),
            Err(error) => {
                self.notes.add(About::Failed, &format!("{tool}: {error}"));
                words::refusal(&error.to_string(), &redactor)
            }
        }
    }

    /// Ends it, and everything that it started.
    pub(crate) async fn end(&mut self) {
        if let Some((server, _)) = self.running.take() {
            server.end().await;
        }
    }

    async fn begin(&mut self) {
        if self.running.is_some() || self.gone.is_some() {
            return;
        }
        let GrantedServer {
            program,
            args,
            cwd,
            env,
            ..
        } = &self.granted;
        let env = env.iter().map(|(name, value)| (name.into(), value.into()));
        let command = Command::new(program, cwd)
            .args(args)
            .exact_env(env.collect());
        let mut server = Server::start(command, ());
        match list(&mut server, &self.name, &self.granted.tools).await {
            Ok(tools) => {
                for missing in self.missing(&tools) {
                    self.notes
                        .add(About::Failed, &format!("it has no tool {missing:?}"));
                }
                self.running = Some((server, tools));
            }
            Err(error) => {
                let why = error.to_string();
                self.notes.add(About::Failed, &why);
                self.gone = Some(why);
                server.end().await;
            }
        }
    }

    fn missing(&self, tools: &[Offered]) -> Vec<String> {
        let has = |name: &&String| !tools.iter().any(|tool| tool.name == **name);
        self.granted.tools.iter().filter(has).cloned().collect()
    }
}

/// What it has of the granted tools, by exactly their names.
async fn list(
    server: &mut Server,
    name: &str,
    granted: &[String],
) -> Result<Vec<Offered>, ServerError> {
    server.agree(READY).await?;
    let mut tools: Vec<Offered> = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES {
        let params = cursor.map_or(json!({}), |cursor: String| json!({ "cursor": cursor }));
        let listed = server.request("tools/list", params, READY).await?;
        for tool in offered(name, &listed) {
            let is_new = !tools.iter().any(|known| known.name == tool.name);
            if is_new && granted.contains(&tool.name) {
                tools.push(tool);
            }
        }
        cursor = listed["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    Ok(tools)
}
