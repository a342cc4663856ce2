//! What a session is given: its directories, its environment, its copy of the sign-in, the walls around
//! it and the proxy in front of it.
//!
//! A bench is one directory a firing, removed with it. Nothing in it is trusted once a session was there.
//!
//! Reading order: [`bench`], [`environment`], [`sandbox_profile`], `programs.rs`, `ground.rs`,
//! [`layers`], `sign_in.rs`, [`granted`], [`proxy`].

pub mod bench;
pub mod commit_trailers;
pub mod environment;
pub mod granted;
mod ground;
pub mod hook_command;
pub mod include;
pub mod layers;
pub mod own_places;
mod private_dir;
mod programs;
pub mod proxy;
pub mod sandbox_profile;
pub mod sign_in;
pub mod skill_files;
mod spread_dir;
mod stand;
pub mod toolchains;
mod worktree_settings;

pub use ground::learn_places;
pub use private_dir::private_dir;
pub use stand::{Left, Stand};
