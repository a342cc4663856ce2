//! The pages, one file each.

pub(crate) mod diff;
pub(crate) mod firing;
pub(crate) mod firings;
pub(crate) mod lesson;
pub(crate) mod memory;
pub(crate) mod outcomes;
pub(crate) mod queue;
pub(crate) mod role;
pub(crate) mod roles;
mod rows;
pub(crate) mod stops;
pub(crate) mod tonight;
pub(crate) mod transcript;
pub(crate) mod why;

pub(crate) use rows::work;
