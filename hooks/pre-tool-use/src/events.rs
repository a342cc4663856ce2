//! The event file: one JSON line per block, per coarse answer and per failure of the hook itself.
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

/// What a coarse answer says of itself.
pub const COARSE: &str = "the call is too long or nested too deep to be followed; its words were judged by a coarse pass";

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

/// The line for a call that was too long to be walked as a whole and was let through.
pub fn coarse(call: &Call) -> String {
    let shown: String = call.summary().chars().take(MAX_CALL).collect();
    format!(
        r#"{{"event":"hook_coarse","reason":"{COARSE}","tool":"{}","call":"{}"}}"#,
        escape(&call.tool),
        escape(&shown),
    )
}

/// Appends one line.
///
/// # Errors
/// When the file cannot be opened or written.
pub fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}
