//! What a firing's process and its sessions printed.

use std::path::PathBuf;

use carson_core::FiringId;
use carson_home::Home;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::papers::{PROMPT, read};
use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

/// What did a firing print?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Logs {
    /// The firing: its id, or any part of it that no other has.
    pub id: String,
    /// Only what was logged since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    pub since: Option<String>,
    /// The text of its transcripts too, and not only where they are.
    #[serde(default)]
    pub transcripts: bool,
}

/// What a firing printed.
#[derive(Debug, Serialize)]
pub struct Printed {
    /// The firing.
    pub id: FiringId,
    /// Its log; `None` where it is not here.
    pub log: Option<String>,
    /// Its transcripts.
    pub transcripts: Vec<Transcript>,
    /// Where the log is, or would be.
    #[serde(skip)]
    pub log_file: PathBuf,
}

/// What one session printed.
#[derive(Debug, Serialize)]
pub struct Transcript {
    /// Where it is.
    pub file: PathBuf,
    /// What it says, where that was asked for.
    pub text: Option<String>,
}

impl Ask for Logs {
    const NAME: &'static str = "logs";
    const WHAT: &'static str = "Show a firing's log, and where its transcripts are";
    const WHO: Who = Who::Operator;
    type Answer = Printed;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let since = since(home, self.since.as_deref())?;
        let row = names::firing(&home.store, &self.id).await?;
        let log_file = home.fleet.layout.firing_log(&row.id);
        let dir = home.fleet.layout.transcripts(&row.id);
        let mut files: Vec<PathBuf> = std::fs::read_dir(&dir)
            .map(|items| items.filter_map(|item| Some(item.ok()?.path())).collect())
            .unwrap_or_default();
        // `carson show --prompt` has those.
        files.retain(|file| !file.to_string_lossy().ends_with(PROMPT));
        files.sort();
        let transcript = |file: PathBuf| {
            let text = self.transcripts.then(|| read(&file)).transpose()?;
            Ok(Transcript { file, text })
        };
        let transcripts: Result<_, Refusal> = files.into_iter().map(transcript).collect();
        Ok(Printed {
            id: row.id,
            log: read(&log_file).ok().map(|log| match since {
                Some(since) => lines_since(&log, since),
                None => log,
            }),
            transcripts: transcripts?,
            log_file,
        })
    }
}

/// The lines of a log since then. One without a time of its own belongs to the one before it.
fn lines_since(log: &str, since: DateTime<Utc>) -> String {
    let mut is_late = false;
    let late = log.lines().filter(|line| {
        if let Some(at) = time_of(line) {
            is_late = at >= since;
        }
        is_late
    });
    late.collect::<Vec<_>>().join("\n")
}

/// The time of a line: its first word, or where the log is JSON its `timestamp`.
fn time_of(line: &str) -> Option<DateTime<Utc>> {
    let text = match line.split_once("\"timestamp\":\"") {
        Some((_, rest)) => rest.split('"').next(),
        None => line.split_whitespace().next(),
    };
    let at = DateTime::parse_from_rfc3339(text?).ok()?;
    Some(at.with_timezone(&Utc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_cut_at_a_time_with_what_belongs_to_its_lines() {
        let log = "2026-11-22T08:00:00.1Z  INFO old\nand its second line\n\
                   2026-11-23T08:00:00.1Z  INFO new\nand more\n\
                   {\"timestamp\":\"2026-11-22T09:00:00Z\",\"level\":\"INFO\"}\n";
        let since = "2026-11-23T00:00:00Z".parse().unwrap();
        assert_eq!(
            lines_since(log, since),
            "2026-11-23T08:00:00.1Z  INFO new\nand more"
        );
        let all = lines_since(log, DateTime::UNIX_EPOCH);
        assert_eq!(all.lines().count(), 5);
    }
}
