//! What a session is given: its directories, its environment, its copy of the sign-in, the walls around
//! it and the proxy in front of it.
//!
//! A bench is one directory a firing, removed with it. Nothing in it is trusted once a session was there.
//!
//! Reading order: [`bench`], [`environment`], [`sandbox_profile`], `programs.rs`, `ground.rs`,
//! `sign_in.rs`, [`proxy`].

pub mod bench;
pub mod environment;
mod ground;
pub mod own_places;
mod programs;
pub mod proxy;
pub mod sandbox_profile;
pub mod sign_in;
mod spread_dir;

pub use ground::learn_places;
