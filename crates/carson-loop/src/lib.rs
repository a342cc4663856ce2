//! Attempts until a check passes.
//!
//! # Theory of operation
//!
//! To be written with the loop.
//!
//! Reading order of what else stands on: [`tree`], [`json_file`], [`lock`], [`events_file`], [`executor`].

pub mod config;
pub mod digest;
pub mod event;
pub mod events_file;
pub mod executor;
pub mod feedback;
pub mod fence;
pub mod fold;
pub mod json_file;
pub mod lock;
pub mod meta;
pub mod normal;
pub mod output;
pub mod progress;
pub mod state;
pub mod status;
pub mod stories;
pub mod tree;
pub mod words;
