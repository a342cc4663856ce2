//! What a scripted session asks Carson to do on the forge.

use std::io::{Error, Result};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::part::Part;
use super::programs::program;

/// Writes the outbox. What Carson makes of it is decided as of any other session's.
pub(super) fn write(entries: &[Map<String, Value>], part: &Part, cwd: &Path) -> Result<()> {
    let file = part.outbox.as_ref().ok_or_else(|| {
        Error::other(
            "this session has no outbox: its role needs a [grant], and its stage is execute",
        )
    })?;
    let effects: Result<Vec<_>> = entries.iter().map(|one| whole(one, part, cwd)).collect();
    let outbox = json!({"version": 1, "effects": effects?});
    std::fs::write(file, outbox.to_string())
}

/// The entry on the session's own work, where it does not say another.
fn whole(entry: &Map<String, Value>, part: &Part, cwd: &Path) -> Result<Map<String, Value>> {
    let mut entry = entry.clone();
    let on = match entry.get("kind").and_then(Value::as_str) {
        Some("review") => "pull",
        Some("label" | "comment" | "close") => "issue",
        _ => return Ok(entry),
    };
    entry.entry(on).or_insert(part.issue.into());
    if on == "pull" && !entry.contains_key("head") {
        entry.insert("head".to_owned(), head(cwd)?.into());
    }
    Ok(entry)
}

/// The commit at which the worktree stands.
fn head(cwd: &Path) -> Result<String> {
    let done = program("git", cwd).args(["rev-parse", "HEAD"]).output()?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(Error::other(format!("git rev-parse HEAD: {}", said.trim())))
}
