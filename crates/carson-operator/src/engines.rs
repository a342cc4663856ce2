//! Engines and accounts: what is installed, who is signed in, what stands in the way, and who uses which.

mod list;
mod places;
mod set;
mod status;

pub use list::{EngineLine, List, Measured, ProgramLine};
pub use places::Place;
pub use set::{RouteSet, Set, Uses};
pub use status::{AccountLine, OutageState, Status, Word};

#[cfg(test)]
mod tests;
