//! The tools, a file each.

mod fleet_firings;
mod fleet_status;
mod fleet_why;
pub(crate) mod queue_add;
