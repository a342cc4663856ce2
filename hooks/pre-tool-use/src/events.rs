//! The event file: one JSON line per block and per failure of the hook itself.
//!
//! Carson reads it while the firing runs. A line is appended with one write, so that hooks of
//! parallel calls do not mix their lines.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use crate::call::Call;
use crate::context::Failure;
use crate::decision::Block;
use crate::json::escape;

/// Longest part of a call that is kept, in characters.
const MAX_CALL: usize = 300;

/// The line for a refused call.
pub fn blocked(call: &Call, block: &Block) -> String {
    let shown: String = call.summary().chars().take(MAX_CALL).collect();
    format!(
        r#"{{"event":"blocked","rule":"{}","tool":"{}","reason":"{}","call":"{}"}}"#,
        block.rule.id,
        escape(&call.tool),
        escape(&block.what),
        escape(&shown),
    )
}

/// The line for a call that the hook could not judge.
pub fn failed(failure: Failure, why: &str) -> String {
    let event = match failure {
        Failure::Open => "hook_failed_open",
        Failure::Closed => "hook_failed_closed",
    };
    format!(r#"{{"event":"{event}","reason":"{}"}}"#, escape(why))
}

/// Appends one line.
///
/// # Errors
/// When the file cannot be opened or written.
pub fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}
