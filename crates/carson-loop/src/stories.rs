//! Stories: a plan of small tasks, done one after the other, each within what it may change.

mod fill_in;
mod finding;
mod hygiene;
mod json;
pub mod native;
mod natural;
pub mod ralph;
mod scope;

pub use fill_in::fill_in;
pub use finding::Finding;
pub use json::{Json, Object, Pointer, Step, with_text};
