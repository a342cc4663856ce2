//! Test support for the whole of Carson.

pub mod fleet;
pub mod judge;
pub mod model;
pub mod postgres;
mod until;

pub use until::until;
