//! Attempts until a check passes.
//!
//! # Theory of operation
//!
//! To be written with the loop.
//!
//! Reading order of what else stands on: [`tree`], [`json_file`], [`lock`], [`events_file`], [`executor`].

pub mod api;
pub mod bounds;
pub mod caller;
pub mod checkpoint;
mod compare;
pub mod config;
pub mod config_file;
pub mod digest;
pub mod error;
pub mod event;
pub mod events_file;
pub mod executor;
mod executor_version;
pub mod feedback;
pub mod fence;
pub mod fold;
mod head;
mod index;
pub mod journal;
pub mod json_file;
pub mod lock;
pub mod meta;
pub mod normal;
pub mod output;
mod output_file;
pub mod place;
pub mod progress;
mod rollback;
pub mod run;
pub mod state;
pub mod status;
mod stop_file;
mod syncer;
pub mod tree;
pub mod walls;
pub mod words;
