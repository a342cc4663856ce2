//! Lessons as files: Carson's own lines of JSON, which lose nothing, and what Alfred keeps.

mod alfred;
mod record;

pub use alfred::{AlfredError, Brought, read as read_alfred};
pub use record::{Record, RecordError, read_lines, write_line};
