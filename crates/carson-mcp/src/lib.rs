//! Tools for agent CLIs and other clients of the Model Context Protocol: a face of the operator's
//! verbs, and of loops.
//!
//! # Theory of operation
//!
//! [`TOOLS`] is the list: a tool is a file in `tools/` and its line there. It has a name, a schema, the
//! [grant](carson_config::McpGrant) that it needs if it changes something, and a function from JSON to JSON. Tools of the
//! fleet are verbs of `carson-operator` under another name; those of loops go to `carson-loop`.
//!
//! One [`Server`] answers on both transports: [`stdio`] for a client that started us, [`http`] in
//! the daemon, for clients of this machine that show a token. The protocol itself is the official
//! SDK's (`rmcp`). Who a client says that it is decides nothing: what may be changed, and in which directories, is
//! what the server was given by who started it ([`Standing`]).
//!
//! What a tool answers was partly written by models, issues and programs. It leaves as one JSON
//! object whose first key says so, without secrets, without characters that nobody sees, and within [`answer::MOST`]
//! bytes (`answer.rs`, `bounds.rs`). What a client sends is bounded too: lines, bodies, calls at
//! once, connections, sessions, issues and lessons in an hour.
//!
//! # What is no tool
//!
//! Resets, promotions, pushes, merges and approvals: those are a person's.
//!
//! Reading order: `tool.rs`, `list.rs`, `tools/fleet_why.rs`, `desk.rs`, `roots.rs`, `answer.rs`, `server.rs`, `stdio.rs`,
//! `http.rs`, `gate.rs`.

pub mod answer;
mod bounds;
mod desk;
mod gate;
pub mod http;
mod lines;
mod list;
mod refused;
mod roots;
mod server;
pub mod stdio;
mod tool;
mod tools;

pub use desk::{Opening, Standing};
pub use list::{TOOLS, named};
pub use refused::Refused;
pub use roots::Roots;
pub use server::Server;
pub use tool::{Answering, Tool};

#[cfg(test)]
mod scenes;
#[cfg(test)]
mod tests;
