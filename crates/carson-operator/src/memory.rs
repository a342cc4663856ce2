//! What the fleet remembers, for people: looked at, proposed, decided, taken back.

pub mod audit;
pub mod decide;
pub mod exchange;
pub mod gate;
pub mod lift;
pub mod list;
pub mod propose;
pub mod recall;
pub mod revert;
mod shown;

pub use shown::ShownLesson;
pub(crate) use shown::instant;
