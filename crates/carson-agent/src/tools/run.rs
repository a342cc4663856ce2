//! `run`: a command line of the shell.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::tool::{Done, Tool, pass};
use crate::cut::cut_middle;
use crate::gate::Gate;
use crate::shell::Shell;
use crate::toolbox::{Effect, Observation};

pub(super) const TOOL: Tool = Tool {
    name: "run",
    description: "Runs a command line with sh in the working directory.",
    arguments: &[("command", "string", "the command line", true)],
    effect: Effect::Changes,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    command: String,
}

pub(super) async fn call(
    gate: &Gate,
    shell: &Shell,
    args: Args,
    time: Duration,
    most: usize,
) -> Done {
    pass(gate, "Bash", &json!({ "command": args.command }))?;
    let ran = shell.run(&args.command, time).await;
    let ran = ran.map_err(Observation::error)?;
    let text = format!("[{}]\n{}", ran.ended, ran.output);
    Ok(Observation::well(cut_middle(&text, most)))
}
