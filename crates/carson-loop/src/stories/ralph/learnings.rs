//! `learnings.md`, and what of it stands in `AGENTS.md`.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::json_file::{Sync, write_bytes};

/// Times and size of a file; nothing where there is none.
pub type Print = Option<(i64, i64, i64, i64, u64)>;

/// What the file system says of `learnings.md`: an entry changes it.
#[must_use]
pub fn print(path: &Path) -> Print {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
        found.size(),
    ))
}

/// Writes the latest note of `learnings.md` into `AGENTS.md`, unless it stands there or one of them is not there.
///
/// # Errors
/// What the disk says.
pub fn sync_agents(own: &Path) -> io::Result<()> {
    let (learnings, agents) = (own.join("learnings.md"), own.join("AGENTS.md"));
    if !learnings.is_file() || !agents.is_file() {
        return Ok(());
    }
    let learnings = fs::read_to_string(learnings)?;
    let latest = learnings.lines().rfind(|line| line.starts_with("- Note: "));
    let text = fs::read_to_string(&agents)?;
    let Some(note) = latest.filter(|note| !text.lines().any(|line| line == *note)) else {
        return Ok(());
    };
    write_bytes(&agents, with_note(&text, note).as_bytes(), Sync::Now)
}

const HEADING: &str = "## Learned Patterns";

fn with_note(text: &str, note: &str) -> String {
    if !text.lines().any(|line| line == HEADING) {
        return format!("{}\n\n{HEADING}\n\n{note}\n", text.trim_end_matches('\n'));
    }
    let lines = text.lines().map(|line| match line == HEADING {
        true => format!("{line}\n\n{note}\n"),
        false => format!("{line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_note_stands_once() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path();
        sync_agents(own).unwrap();
        assert!(!own.join("AGENTS.md").exists(), "it is not made");
        fs::write(own.join("AGENTS.md"), "# Agents\n").unwrap();
        fs::write(own.join("learnings.md"), "# L\n\n- Note: first\n").unwrap();
        for _ in 0..2 {
            sync_agents(own).unwrap();
        }
        let read = || fs::read_to_string(own.join("AGENTS.md")).unwrap();
        assert_eq!(read(), "# Agents\n\n## Learned Patterns\n\n- Note: first\n");
        let before = print(&own.join("learnings.md"));
        fs::write(
            own.join("learnings.md"),
            "# L\n\n- Note: first\n- Note: second\n",
        )
        .unwrap();
        assert_ne!(print(&own.join("learnings.md")), before);
        sync_agents(own).unwrap();
        assert_eq!(
            read(),
            "# Agents\n\n## Learned Patterns\n\n- Note: second\n\n- Note: first\n"
        );
        assert_eq!(print(&own.join("none.md")), None);
    }
}
