//! Test support for the whole of Carson.

pub mod fleet;
pub mod judge;
pub mod model;
mod until;

pub use until::until;
