//! Which paths a story may change.
//!
//! Patterns stand in an order, and the last one that covers a path decides; `!` takes out. What a pattern covers
//! is said in two languages: [`Gitignore`] for Carson's own plans, [`ShellCase`] for ralph-loop's.

mod gitignore;
mod shell_case;
mod usual;

pub use gitignore::{BadPattern, Gitignore};
pub use shell_case::{ShellCase, case_matches};
pub use usual::BUILD_FOLDERS;
