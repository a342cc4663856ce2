//! The list.

use carson_operator::memory::{propose, recall};
use carson_operator::{firings, status, why};

use crate::tool::Tool;
use crate::tools::{
    loop_history, loop_rollback, loop_start, loop_status, loop_stop, loop_test_promise,
    loop_update_task, queue_add,
};

/// Every tool there is.
pub const TOOLS: &[Tool] = &[
    Tool::of::<status::Status>(),
    Tool::of::<firings::List>(),
    Tool::of::<why::Why>(),
    Tool::of::<queue_add::QueueAdd>(),
    Tool::of::<recall::Recall>(),
    Tool::of::<propose::Propose>(),
    Tool::of::<loop_status::LoopStatus>(),
    Tool::of::<loop_start::LoopStart>(),
    Tool::of::<loop_stop::LoopStop>(),
    Tool::of::<loop_history::LoopHistory>(),
    Tool::of::<loop_rollback::LoopRollback>(),
    Tool::of::<loop_update_task::LoopUpdateTask>(),
    Tool::of::<loop_test_promise::LoopTestPromise>(),
];

/// The tool that is called by this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Tool> {
    let is_it = |tool: &&Tool| tool.name == name || tool.also == Some(name);
    TOOLS.iter().find(is_it)
}
