//! The player of the rehearsal engine: a script instead of a model, everything else real.
//!
//! `carson rehearsal SCRIPT` is a small agent CLI of its own. It reads its role, its stage, its work and
//! its attempt from the environment, plays the first matching part of the script in the worktree, asks
//! the hook before it runs a command, and prints one JSON object a line (protocol version 1):
//!
//! ```text
//! {"v":1,"type":"say","text":"…"}
//! {"v":1,"type":"tool","name":"Bash","call":"git push","denied":"why"}   denied: null when it ran
//!                                                                        exit: its code then, its result
//! {"v":1,"type":"limit","resets_at":1795240000}
//! {"v":1,"type":"max_turns"}
//! ```

mod outbox;
mod part;
mod play;
mod programs;
mod script;

pub use part::Part;
pub use play::play;
pub use script::{Script, ScriptError, Step};

#[cfg(test)]
mod tests;
