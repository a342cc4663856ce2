//! Test support for the whole of Carson.

pub mod model;
