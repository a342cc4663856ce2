//! What stands between an agent CLI and the MCP servers that a role grants its sessions.
//!
//! # Theory of operation
//!
//! An operator grants single tools of a server. An agent CLI that starts the server itself shows its model more than
//! that: all tools, the server's own instructions, its resources; and it hands the server its own environment, with the
//! sign-in in it. How a CLI can be kept from which of these differs from CLI to CLI.
//!
//! So every CLI starts the *porter* in the server's place: `carson porter FILE NAME`, a child of the CLI inside of the
//! session's walls. To the CLI it is a server that has these tools and nothing else ([`answer_if_asked`], `front.rs`); to
//! the real server ([`Server`]), which is its child, it is a client. No message goes through as it came: what one side
//! asks is asked anew of the other, and what comes back is made into words of a bounded length, without secrets and without
//! letters that nobody sees (`words.rs`). The server's environment is built from nothing, by what the file says.
//!
//! It is no wall: a session has a shell, and may start the server by itself. What holds a server in is what holds the
//! session in. What the porter refuses or misses it notes in the firing's event file (`notes.rs`), as the hook does, for
//! people.
//!
//! The client's side is also that of `carson-agent`, which talks to servers of its own.
//!
//! Reading order: [`Granted`], `wire.rs`, `server.rs`, `words.rs`, `behind.rs`, `front.rs`, `porter.rs`.

mod behind;
mod front;
mod granted;
mod notes;
mod porter;
mod server;
#[cfg(test)]
mod tests;
mod wire;
mod words;

pub use granted::{Granted, GrantedServer};
pub use porter::{PORTER, answer_if_asked};
pub use server::{Server, ServerError};
pub use wire::{Offered, is_tool_name, is_unfinished, name_for_models, offered, result_text};
