//! Cases.
pub const BLOCK: &[&str] = &[];
pub const ALLOW: &[&str] = &[];
