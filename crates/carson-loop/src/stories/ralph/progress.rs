//! How far a PRD is, for people: `progress.txt`, made anew, and `progress.log.md`, which only grows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::prd::{Prd, Story};
use crate::json_file::{Sync, write_bytes};

/// The text of `progress.txt`.
#[must_use]
pub fn snapshot(prd: &Prd, label: &str, now: &str) -> String {
    let count = |is: fn(&Story) -> bool| prd.stories.iter().filter(|story| is(story)).count();
    let (all, passed, skipped) = (
        prd.stories.len(),
        count(|one| one.passes),
        count(|one| one.skipped),
    );
    let mut text = format!(
        "# Ralph Audit Progress (Generated)\n\nSource of truth: `{label}` (`stories[].passes`).\n\
         This file is generated: `carson stories run --compat ralph` writes it.\n\nGenerated at (UTC): {now}\n\n\
         ## Runtime Snapshot\n\n- Stories passed: `{passed}/{all}`\n- Stories skipped: `{skipped}`\n\
         - Remaining: `{}`\n\n## Mode Breakdown\n\n",
        all - passed - skipped
    );
    for (mode, stories) in by_mode(prd) {
        let count = |is: fn(&Story) -> bool| stories.iter().filter(|story| is(story)).count();
        let (passed, skipped) = (count(|one| one.passes), count(|one| one.skipped));
        let total = stories.len();
        let remaining = total - passed - skipped;
        text += &format!(
            "- `{mode}`: total={total}, passed={passed}, skipped={skipped}, remaining={remaining}\n"
        );
    }
    text += "\n## Story Status\n\n";
    let mut stories: Vec<&Story> = prd.stories.iter().collect();
    stories.sort_by(|a, b| {
        a.priority
            .total_cmp(&b.priority)
            .then_with(|| a.id.cmp(&b.id))
    });
    for story in stories {
        text += &line(story);
    }
    text
}

fn by_mode(prd: &Prd) -> BTreeMap<&'static str, Vec<&Story>> {
    let mut modes: BTreeMap<&str, Vec<&Story>> = BTreeMap::new();
    for story in &prd.stories {
        modes.entry(story.mode.as_str()).or_default().push(story);
    }
    modes
}

fn line(story: &Story) -> String {
    let (mark, more) = match (story.passes, story.skipped) {
        (true, _) => ("x", ""),
        (false, true) => ("-", ", skipped"),
        (false, false) => (" ", ""),
    };
    let (id, mode, steps) = (&story.id, story.mode.as_str(), story.steps.len());
    format!(
        "- [{mark}] `{id}` (`{mode}`, priority={}, steps={steps}{more})\n",
        story.priority
    )
}

/// What `progress.log.md` begins with.
const LOG_HEAD: &str = "# Ralph Progress Log (Append-Only)\n\n## Codebase Patterns\n\n\
                        - Add reusable patterns here over time.\n\n## Entries\n";

/// Adds an entry to `progress.log.md`.
///
/// # Errors
/// What the disk says.
pub fn append(path: &Path, story: &Story, report: &str, now: &str) -> std::io::Result<()> {
    let mut text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => LOG_HEAD.to_owned(),
        Err(error) => return Err(error),
    };
    let (id, mode, title) = (&story.id, story.mode.as_str(), &story.title);
    text +=
        &format!("\n### {now} UTC | {id}\n- Mode: {mode}\n- Title: {title}\n- Report: {report}\n");
    write_bytes(path, text.as_bytes(), Sync::Now)
}

#[cfg(test)]
mod tests {
    use super::super::contract::Contract;
    use super::*;
    use crate::stories::json::Json;

    #[test]
    fn reads_so() {
        let prd = Json::parse(super::super::prd::tests::PRD).unwrap();
        let prd = Prd::read(prd, &Contract::default()).unwrap();
        let now = "2026-01-02T03:04:05Z";
        let prd = prd
            .passed("FIX-001", "audit/x.md", now)
            .skipped("FIX-002", "why", now);
        insta::assert_snapshot!(snapshot(&prd, "prd.json", now));
    }

    #[test]
    fn entries_are_added() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("progress.log.md");
        let prd = Json::parse(super::super::prd::tests::PRD).unwrap();
        let prd = Prd::read(prd, &Contract::default()).unwrap();
        for story in &prd.stories[..2] {
            append(&path, story, "audit/x.md", "2026-01-02T03:04:05Z").unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# Ralph Progress Log"));
        assert_eq!(
            text.matches("### 2026-01-02T03:04:05Z UTC | FIX-00")
                .count(),
            2
        );
    }
}
