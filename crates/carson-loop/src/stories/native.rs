//! Carson's own plans (`stories.json`).
//!
//! Reading order: [`written`](Plan) (what may stand in one), `check.rs` (what is said of one that is not right),
//! [`select`], [`prompt`], then the run.

mod acceptance;
mod check;
mod conforms;
mod prompt;
mod schema;
mod select;
mod written;

pub use acceptance::{BadPath, created};
pub use check::{as_json, checked};
pub use prompt::{Prompt, prompt, sha256};
pub use schema::{schema, schema_text};
pub use select::{in_turn, open};
pub use written::{Mode, Plan, Status, Story};
