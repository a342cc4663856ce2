//! One server: the protocol's requests, and the tools that answer them.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool as Listed, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::answer::{self, NOTE};
use crate::desk::{Desk, Standing};
use crate::list::{TOOLS, named};
use crate::refused::Refused;
use crate::tool::Tool;

/// Calls at once; those of all clients.
const CALLS: usize = 16;

/// How long a call may take: a forge, or a promise, may be slow.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// What is answered here.
const METHODS: [&str; 4] = ["initialize", "ping", "tools/list", "tools/call"];

/// What clients and their models are told of the server.
const ABOUT: &str = "Carson runs a fleet of coding agents for its owner, and loops that try until a check passes. \
     Tools that change something work only where the owner granted it; do not look for a way around a refusal, tell the \
     owner. Resets, approvals, pushes and merges are the owner's, in a terminal.";

/// Answers clients. Its clones are one server.
#[derive(Clone)]
pub struct Server {
    desk: Arc<Desk>,
    calls: Arc<Semaphore>,
}

impl Server {
    /// One that has what it was given.
    #[must_use]
    pub fn new(standing: Arc<dyn Standing>) -> Self {
        Self {
            desk: Arc::new(Desk::new(standing)),
            calls: Arc::new(Semaphore::new(CALLS)),
        }
    }

    /// What a client called something, to be told it again.
    fn repeated(&self, name: &str) -> String {
        let name = answer::seen(name, &self.desk.redactor());
        name.chars().take(100).collect()
    }

    async fn answer(&self, tool: &Tool, arguments: Value) -> Result<String, Refused> {
        let Ok(_slot) = self.calls.try_acquire() else {
            return Err(Refused::TooManyCalls(CALLS));
        };
        let answered = timeout(PATIENCE, (tool.answer)(&self.desk, arguments)).await;
        let answered = answered.map_err(|_| Refused::TooSlow(PATIENCE))?;
        answer::told(answered?, &self.desk.redactor())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().build();
        let named = Implementation::new("carson", env!("CARGO_PKG_VERSION")).with_title("Carson");
        let info = ServerConfig::new(tools).with_server_info(named);
        info.with_instructions(format!("{ABOUT} What tools answer: {NOTE}"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = TOOLS
            .iter()
            .flat_map(|tool| tool.names().map(|name| listed(tool, name)));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Listed> {
        let tool = named(name)?;
        let name = tool.names().find(|one| *one == name)?;
        Some(listed(tool, name))
    }

    /// A request that is none of those that the SDK knows, or one of them with other parameters: who sends that is
    /// not told that there is no such method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        Err(match METHODS.contains(&method.as_str()) {
            true => ErrorData::invalid_params(format!("these are no parameters of {method}"), None),
            false => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, self.repeated(&method), None),
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = named(&request.name) else {
            let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let known = known.join(", ");
            let name = self.repeated(&request.name);
            let said = format!("there is no tool {name:?}; there are: {known}");
            return Err(ErrorData::invalid_params(said, None));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let answered = tokio::select! {
            biased;
            // Whatever was started for it is dropped, and ends; nobody is answered.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
            answered = self.answer(tool, arguments) => answered,
        };
        let result = match answered {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(refusal) => {
                let text = answer::refused(&refusal, &self.desk.redactor());
                CallToolResult::error(vec![ContentBlock::text(text)])
            }
        };
        Ok(result.into())
    }
}

/// A tool as clients see it. What it does to the world is a hint for them; what holds is the grant.
fn listed(tool: &Tool, name: &'static str) -> Listed {
    let hints = ToolAnnotations::new()
        .read_only(tool.reads_only())
        .open_world(false);
    Listed::new(name, tool.what, (tool.schema)()).with_annotations(hints)
}
