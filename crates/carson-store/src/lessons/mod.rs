//! What the fleet remembers: lessons, what was thought of them since when, and which firing was told which.
//!
//! A lesson's row and its evidence never change. What is thought of it is a list of [`Change`]s that is only added to;
//! the last one that was recorded by some time is what was known then, and its `valid` says of which times in the world
//! the lesson is believed. Both databases refuse to alter or delete any of these rows.

mod changes;
mod judgements;
mod listed;
mod near;
mod recalls;
mod rows;
mod search;
mod vectors;
mod written;

pub use changes::Decided;
pub use judgements::{Judgement, JudgementRow};
pub use listed::LessonFilter;
pub use recalls::{Recall, Recalled, ToldFiring};
pub use rows::{Change, LessonFound, LessonRow, NewLesson, Times, Valid};
pub use vectors::{Covered, NewVector, VectorRow};
