//! The stops: what may keep a role from firing, one file each.
//!
//! [`STOPS`] is the list. [`admit`](crate::admission::admit) takes the first that stands; `carson why`
//! tells all of them, each with what would change it; and those with a `during` are asked again before
//! each session of a firing. A new stop is a file here and its line in the list; what it looks at is
//! in the [`Gate`], which the store and the settings fill.
//!
//! Reading order: `gate.rs`, `change.rs`, `stop.rs`, `pause.rs` (the plainest stop), `list.rs`.

mod block;
mod breaker;
mod budget;
mod change;
mod daily_cap;
mod forge_limit;
mod gate;
mod host_drained;
mod host_full;
mod host_unfit;
mod list;
mod overlap;
mod pause;
mod stop;
mod usage_window;

pub use block::admit_account;
pub use change::{Change, Part, SettingsFile};
pub use forge_limit::forge_account;
pub use gate::{BLOCK_HORIZON, Block, Gate, LastFiring, Overlap, Pause};
pub use list::{STOPS, during, kinds, standing};
pub use stop::{Cause, Standing, Stop};
pub use usage_window::with_room;
