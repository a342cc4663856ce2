//! A hostile agent, with the hook disabled: what the kernel and the scaffolding stop, what the
//! record says of it, and that the next firing is healthy. The same as root and as an ordinary
//! user, and on kernels that have less.
//!
//! `cargo xtask test -- -E 'test(hostile)' --no-capture` prints the table that SECURITY.md is
//! checked against.

mod bounds;
mod claude;
mod daemon;
mod forged_output;
mod generated;
mod generator;
pub(crate) mod injection;
mod judges;
pub(crate) mod leavings;
mod less;
mod lookers;
mod network;
mod props;
mod repository;
mod scene;
mod sign_in;
mod table;
mod walls;
