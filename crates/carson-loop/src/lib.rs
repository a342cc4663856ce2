//! Attempts until a check passes.
//!
//! # Theory of operation
//!
//! To be written with the loop.
//!
//! Reading order of what else stands on: [`tree`], [`json_file`], [`lock`], [`events_file`], [`executor`].

pub mod digest;
pub mod events_file;
pub mod executor;
pub mod json_file;
pub mod lock;
pub mod normal;
pub mod output;
pub mod tree;
pub mod words;
