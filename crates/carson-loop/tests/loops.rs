//! Whole loops: real programs, real git, real trees.

#![cfg(test)]

#[path = "loops/again.rs"]
mod again;
#[path = "loops/alpf.rs"]
mod alpf;
#[path = "loops/back.rs"]
mod back;
#[path = "loops/bounds.rs"]
mod bounds;
#[path = "loops/dead.rs"]
mod dead;
#[path = "loops/edits.rs"]
mod edits;
#[path = "loops/mine.rs"]
mod mine;
#[path = "loops/progress.rs"]
mod progress;
#[path = "loops/scene.rs"]
mod scene;
#[path = "loops/schema.rs"]
mod schema;
