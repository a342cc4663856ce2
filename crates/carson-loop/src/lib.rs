//! Attempts until a check passes; stories.
pub mod stories;
