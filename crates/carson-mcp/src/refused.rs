//! Why a call is not answered as it was asked.

use std::path::PathBuf;
use std::time::Duration;

use carson_config::McpGrant;
use carson_loop::error::LoopError;
use carson_operator::Refusal;
use thiserror::Error;
use tokio::task::JoinError;

/// A call that is refused, or cannot be answered now.
#[derive(Debug, Error)]
pub enum Refused {
    /// The server was not given what the tool needs.
    #[error("this server has not the grant {:?}, so it changes and runs nothing of that kind", .0.as_str())]
    NotGranted(McpGrant),
    /// It was given it, and for other directories.
    #[error(
        "the grant \"loop\" of this server is for other directories than {root:?}, so it changes and runs nothing there"
    )]
    NotGrantedThere {
        /// The tree of the loop.
        root: PathBuf,
        /// Those that it is for.
        granted: Vec<PathBuf>,
    },
    /// The arguments are not those of the tool.
    #[error("these are no arguments of {tool}: {source}")]
    Arguments {
        /// The tool.
        tool: &'static str,
        /// What is wrong with them.
        source: serde_json::Error,
    },
    /// One argument does not hold.
    #[error("{name}: {problem}")]
    Argument {
        /// Its name.
        name: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no fleet, or it cannot be opened.
    #[error("{why}")]
    NoFleet {
        /// Why.
        why: String,
        /// What to do.
        hints: Vec<String>,
    },
    /// The server does not work in that directory.
    #[error("directory: {asked:?} is no directory that this server works in")]
    Elsewhere {
        /// What was asked for.
        asked: String,
        /// Where it works.
        works_in: Vec<String>,
    },
    /// The server works in several directories, or in none.
    #[error("directory: say in which one")]
    WhichDirectory {
        /// Where it works.
        works_in: Vec<String>,
    },
    /// Too many issues were filed.
    #[error("this server has filed {most} issues in the last {}", hours(.within))]
    TooManyIssues {
        /// The most that it files.
        most: usize,
        /// In that time.
        within: Duration,
    },
    /// Too many calls are answered at this moment.
    #[error("{0} calls are answered at this moment, and that is the most")]
    TooManyCalls(usize),
    /// It took too long.
    #[error("it was not answered within {} s", .0.as_secs())]
    TooSlow(Duration),
    /// The answer has no JSON.
    #[error("the answer is no JSON")]
    NoJson(#[source] serde_json::Error),
    /// A file of a loop is a link, whose end is none of the loop's, or a pipe, at which nobody may be.
    #[error("{file:?} is a link, or no file at all, and a loop's files are its own")]
    NoFile {
        /// The file.
        file: PathBuf,
    },
    /// Something in it panicked.
    #[error("it broke")]
    Broke(#[source] JoinError),
    /// The operator's verb refuses.
    #[error(transparent)]
    Verb(#[from] Refusal),
    /// The loop refuses.
    #[error(transparent)]
    Loop(#[from] LoopError),
}

/// What a person does without any grant: they see the command first.
const BY_HAND: &str = "the commands of a loop are those that its directory says (loop_status shows them); a person who has read \
     them can run them there: `carson loop test`, `carson loop run`";

fn hours(span: &Duration) -> String {
    match span.as_secs() / 3_600 {
        1 => "hour".to_owned(),
        hours => format!("{hours} hours"),
    }
}

impl Refused {
    /// What to do next; nothing where the sentence says it.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        let works_in = |places: &[String]| {
            match places {
            [] => "it works in no directory: whoever starts it names some (`carson mcp --root DIR`, `roots` in [mcp])"
                .to_owned(),
            places => format!("it works in: {}", places.join(", ")),
        }
        };
        match self {
            Self::NotGranted(grant) => {
                let mut hints = vec![format!(
                    "whoever starts the server grants it: `carson mcp --grant {0}`, or grant = [{0:?}] in [mcp] of carson.toml. \
                     Ask them; nothing that a client says changes it",
                    grant.as_str()
                )];
                hints.extend((*grant == McpGrant::Loop).then(|| BY_HAND.to_owned()));
                hints
            }
            Self::NotGrantedThere { granted, .. } => {
                let granted = granted.iter().map(|dir| dir.display().to_string());
                let granted = granted.collect::<Vec<_>>().join(", ");
                vec![
                    format!(
                        "it is for what is in {granted}: where a --root is named, the directory that the server was \
                         started in is granted only if one of them holds it. Ask whoever starts it"
                    ),
                    BY_HAND.to_owned(),
                ]
            }
            Self::Arguments { tool, .. } => vec![format!("look at the schema of {tool}")],
            Self::NoFleet { hints, .. } => hints.clone(),
            Self::Elsewhere {
                works_in: places, ..
            }
            | Self::WhichDirectory { works_in: places } => vec![works_in(places)],
            Self::TooManyIssues { .. } | Self::TooManyCalls(_) => {
                vec!["try again later".to_owned()]
            }
            Self::NoJson(_) | Self::Broke(_) => {
                vec!["this is a bug in Carson: report it".to_owned()]
            }
            Self::NoFile { .. } => vec!["take it away".to_owned()],
            Self::Verb(refusal) => refusal.hint().into_iter().collect(),
            Self::Loop(error) => of_loop(error),
            Self::Argument { .. } | Self::TooSlow(_) => Vec::new(),
        }
    }
}

/// Hints of a loop are for who types; here they are arguments.
fn of_loop(error: &LoopError) -> Vec<String> {
    let said = match error {
        LoopError::Ended { .. } => {
            "`more` of loop_start gives it so many more attempts; `fresh` begins anew and keeps those so far"
        }
        LoopError::Edited { .. } => "`keep_mine` leaves those files as they are",
        LoopError::NotRunning { .. } => "loop_status says how it stands",
        LoopError::NoWalls { .. } => {
            let granted = "without such walls it runs only where it is granted: `carson mcp --grant loop`. Ask whoever \
                           starts the server";
            return vec![granted.to_owned(), BY_HAND.to_owned()];
        }
        error => return error.hint().into_iter().collect(),
    };
    vec![said.to_owned()]
}
