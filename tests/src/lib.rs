//! Test support for the whole of Carson.

mod dice;
pub mod fleet;
pub mod judge;
pub mod model;
pub mod postgres;
mod until;
pub mod users;

pub use dice::Dice;
pub use until::until;
