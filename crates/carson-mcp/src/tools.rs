//! The tools, a file each.

mod fleet_firings;
mod fleet_status;
mod fleet_why;
pub(crate) mod loop_history;
pub(crate) mod loop_rollback;
pub(crate) mod loop_start;
pub(crate) mod loop_status;
pub(crate) mod loop_stop;
pub(crate) mod loop_test_promise;
pub(crate) mod loop_update_task;
mod memory_propose;
mod memory_recall;
pub(crate) mod queue_add;
