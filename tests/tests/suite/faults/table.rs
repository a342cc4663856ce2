// The table of `mod.rs`.

/// Rows that no test holds yet.
const OPEN: [&str; 0] = [];

const TABLE: &[Fault] = &[];
