//! The open home: checked settings, rows, clock, redactor, and what opens forges, engines and posts.
//!
//! It holds handles and openers, never a rule: what a firing may do, and when, is decided above.
//!
//! Reading order: [`home`], `forge_limits.rs`, `branches.rs`, `firing_ref.rs`, `engines.rs`, `posts.rs`, `secrets.rs`, `id.rs`, `disk_space.rs`, `disk_reserve.rs`, `known_database.rs`, `halt.rs`.

mod branches;
pub mod calendar;
pub mod disk_reserve;
pub mod disk_space;
pub mod engines;
mod firing_ref;
mod forge_limits;
pub mod halt;
pub mod home;
mod id;
mod known_database;
pub mod lent_dirs;
mod posts;
pub mod secrets;
#[cfg(feature = "testing")]
pub mod testing;

pub use firing_ref::FiringRef;
pub use home::{EMBEDDER, ForgeOpenError, Home};
pub use id::{forge_id, id_of};
pub use known_database::KnownDatabase;
pub use posts::{Draft, Word};
