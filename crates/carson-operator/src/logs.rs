//! What a firing's process and its sessions printed.

use std::path::PathBuf;

use carson_core::FiringId;
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::papers::{PROMPT, read};
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// What did a firing print?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Logs {
    /// The firing: its id, or any part of it that no other has.
    pub id: String,
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
            log: read(&log_file).ok(),
            transcripts: transcripts?,
            log_file,
        })
    }
}
