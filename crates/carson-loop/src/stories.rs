//! Stories: a plan of small tasks, done one after the other, each within what it may change.

mod finding;
mod hygiene;
mod json;
mod native;
mod natural;
mod ralph;
mod scope;
