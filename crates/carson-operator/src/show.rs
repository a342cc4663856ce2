//! The papers of a firing: what its sessions were told, what they said and did, and what they changed.

use std::path::Path;

use carson_core::FiringId;
use carson_engine::{Said, readable};
use carson_home::Home;
use carson_store::Firing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::papers::{PROMPT, TRANSCRIPT, read};
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// What was a firing told, what did it say, and what did it change?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// The firing: its id, or any part of it that no other has.
    pub firing: String,
    /// What its sessions were told.
    #[serde(default)]
    pub prompt: bool,
    /// What it changed: from the base that it began with to what was pushed or kept.
    #[serde(default)]
    pub diff: bool,
    /// What its sessions said, called and were answered.
    #[serde(default)]
    pub transcript: bool,
}

/// What was asked for.
#[derive(Debug, Serialize)]
pub struct Papers {
    /// The firing.
    pub id: FiringId,
    /// What each session was told; where that was asked for.
    pub prompts: Vec<Prompt>,
    /// What was changed, where that was asked for and is still there.
    pub diff: Option<String>,
    /// What each session said; where that was asked for.
    pub transcripts: Vec<Transcript>,
}

/// What one session was told.
#[derive(Debug, Serialize)]
pub struct Prompt {
    /// The session: its number and stage.
    pub session: String,
    /// The prompt.
    pub text: String,
}

/// What one session said.
#[derive(Debug, Serialize)]
pub struct Transcript {
    /// The session: its number and stage.
    pub session: String,
    /// In its order.
    pub said: Vec<Said>,
}

impl Ask for Show {
    const NAME: &'static str = "show";
    const WHAT: &'static str = "Show what a firing was told, what it said, and what it changed";
    const WHO: Who = Who::Operator;
    type Answer = Papers;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let row = names::firing(&home.store, &self.firing).await?;
        let dir = home.fleet.layout.transcripts(&row.id);
        let prompts = match self.prompt {
            true => papers(&dir, PROMPT)?,
            false => Vec::new(),
        };
        let transcripts = match self.transcript {
            true => papers(&dir, TRANSCRIPT)?,
            false => Vec::new(),
        };
        let diff = match self.diff {
            true => diff(home, &row).await?,
            false => None,
        };
        let redacted = |text: &str| home.redactor.redact(text).into_owned();
        Ok(Papers {
            id: row.id,
            prompts: prompts
                .into_iter()
                .map(|(session, text)| Prompt {
                    session,
                    text: redacted(&text),
                })
                .collect(),
            diff: diff.map(|diff| redacted(&diff)),
            transcripts: transcripts
                .into_iter()
                .map(|(session, text)| Transcript {
                    session,
                    said: readable(&redacted(&text)),
                })
                .collect(),
        })
    }
}

/// The files of this kind, by the session they are of.
fn papers(dir: &Path, kind: &str) -> Result<Vec<(String, String)>, Refusal> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let named = files.filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        Some((name.strip_suffix(kind)?.to_owned(), file.path()))
    });
    let read = named.map(|(session, path)| Ok((session, read(&path)?)));
    let mut all: Vec<_> = read.collect::<Result<_, Refusal>>()?;
    all.sort();
    Ok(all)
}

/// From the base to what was pushed or, where nothing was, to what is kept.
async fn diff(home: &Home, row: &Firing) -> Result<Option<String>, Refusal> {
    let repo = row
        .repo
        .as_ref()
        .and_then(|name| home.fleet.repos.get(name));
    let (Some(repo), Some(base)) = (repo, &row.base_sha) else {
        return Ok(None);
    };
    let kept = home.mirror(repo).kept();
    let branch = row.branch.as_ref().map(|name| format!("refs/heads/{name}"));
    let mut tip = row.pushed_sha.clone();
    for name in row.salvage_ref.iter().chain(&branch) {
        if tip.is_none() {
            tip = kept.at(name).await?.map(|oid| oid.to_string());
        }
    }
    match tip {
        Some(tip) => Ok(kept.diff(base, &tip).await?),
        None => Ok(None),
    }
}
