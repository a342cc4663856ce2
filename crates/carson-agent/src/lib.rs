//! A small coding agent with bounds, over any OpenAI-compatible chat endpoint.
//!
//! # Theory of operation
//!
//! Drive and stop are separate. The model proposes: words, or calls of tools. The program decides: it
//! asks the hook about each call, carries it out behind walls, and after each step in which something
//! was done it runs the check that the operator named. Only the check's exit code 0 is done; its output
//! is the model's next message. That the model says nothing more is not done.
//!
//! Every run ends. A step counts against every bound before it begins ([`bounds`]), every await of the
//! loop has the run's end as its deadline ([`agent`], [`deadline`]), an answer has a size ([`chat::stream`]), a
//! conversation a budget ([`context`]), a command a time and an output ([`shell`]), and the same call
//! with the same result three times in a row is a loop
//! ([`carson_core::repetition`]). On a bound there is a fallback
//! answer and a last line that says so.
//!
//! What a model writes decides nothing but what it proposes next: paths are resolved and stay inside of
//! the directory ([`place`]), commands run behind the kernel's walls ([`walls`]) through `carson-proc`,
//! which ends what they leave behind, and the key of the endpoint is in none of their environments.
//!
//! Reading order: [`message`], [`model`], [`toolbox`], [`agent`], [`bounds`], [`outcome`], [`context`];
//! then `tools/`, `gate.rs`, `shell.rs`, `walls.rs`; `chat/`; `mcp/`; [`events`], [`progress`]; [`start`].

pub mod agent;
pub mod approve;
pub mod args;
pub mod beneath;
pub mod bounds;
pub mod cache;
pub mod chat;
pub mod context;
mod cut;
pub mod deadline;
pub mod events;
pub mod gate;
pub mod key;
pub mod mcp;
pub mod message;
pub mod model;
pub mod named_files;
pub mod outcome;
pub mod place;
mod private_dir;
pub mod progress;
pub mod prompt;
pub mod repositories;
mod say;
pub mod shell;
pub mod start;
mod tidy;
pub mod toolbox;
pub mod tools;
mod visible;
pub mod walls;
