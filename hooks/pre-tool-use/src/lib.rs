//! The last line: a pre-tool-use hook that understands shell.
//!
//! # Theory of operation
//!
//! An agent CLI announces every tool call before it runs (JSON on stdin). This crate answers whether
//! the call may run: exit code 0 allows, exit code 2 refuses with one line for the model on stderr.
//! Five rules, no more, stand for five things that cannot be undone: a push to a protected branch,
//! switched-off checks, deletion outside the worktree, reading credentials, running an unseen
//! download. Everything else is allowed; a false block costs a firing exactly as a miss does.
//!
//! Words alone decide nothing: `git commit -m "never rm -rf /"` is fine and `r''m -r"f" $HOME` is
//! not. So a command line is *walked* rather than searched:
//!
//! 1. `shell` reads it into a syntax tree, tolerantly and with a depth bound.
//! 2. `walk` goes through the tree as a shell would, but runs nothing: it keeps the directory,
//!    variables, functions, aliases, and the files, links and branches the line itself makes; expands
//!    words; takes wrappers off (`sudo`, `xargs`, `bash -c`, `find -exec`, …); looks into other
//!    languages' one-liners. What a word may become is a text with [`marks`] for its unknown parts,
//!    one of which is "this came from the network".
//! 3. `rules` judge each command that would really run. Each rule states what it does with what
//!    cannot be resolved.
//!
//! [`decide()`] is a function of the call and the [`Context`]. With [`Sight::Disk`] it also follows
//! symbolic links and reads `HEAD` and `config` of the repository; it never writes and starts no
//! process. Work is bounded by fuel, nesting by depth. What lies beyond either comes to the coarse pass,
//! which asks all five rules about each piece of the text; stderr and the event file say so.
//!
//! The program around it ([`run_stdin`]) fails **open**, on its own errors and after 500 ms, unless the
//! coarse pass over what it has read refuses the call within 300 ms more, and says so in the event
//! file: the kernel's layer stays closed (DESIGN §8). A role may ask for the opposite
//! ([`Failure::Closed`]). A panic is such an error too; it answers from the panic hook, because the
//! small binary (`[profile.hook]`, `build.rs`) cannot unwind.
//!
//! Reading order: `context`, `call`, `decision`, `marks`, `shell`, `walk`, `rules`, `run`.

#![forbid(unsafe_code)]

mod base64;
mod call;
mod context;
mod decide;
mod decision;
mod events;
mod explain;
mod git;
mod glob;
mod json;
pub mod marks;
mod path;
mod rules;
mod run;
mod selfcheck;
mod shapes;
mod shell;
mod walk;
mod words;

pub use call::{Call, ToolKind};
pub use context::{Context, DEFAULT_PROTECTED, Failure, Pusher, Sight};
pub use decide::decide;
pub use decision::{Block, Decision, Rule};
pub use explain::{Explanation, explain, explain_call};
pub use json::{Json, JsonError};
pub use rules::rules;
pub use run::{Exit, MAX_INPUT, WATCHDOG, main_with, run_stdin};
pub use selfcheck::{known_bad_call, known_good_call};
