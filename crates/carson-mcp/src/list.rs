//! The list.

use carson_operator::{firings, status, why};

use crate::tool::Tool;
use crate::tools::queue_add;

/// Every tool there is.
pub const TOOLS: &[Tool] = &[
    Tool::of::<status::Status>(),
    Tool::of::<firings::List>(),
    Tool::of::<why::Why>(),
    Tool::of::<queue_add::QueueAdd>(),
];

/// The tool that is called by this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Tool> {
    let is_it = |tool: &&Tool| tool.name == name || tool.also == Some(name);
    TOOLS.iter().find(is_it)
}
