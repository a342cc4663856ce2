//! Why an ask has no answer.

use carson_config::{RouteError, shipped_roles};
use carson_core::{FiringId, HostName, RepoName, RoleName};
use carson_firing::dry_run::DryRunError;
use carson_firing::ended_pulls::PullError;
use carson_firing::one_forge::OneForge;
use carson_firing::prune::PruneError;
use carson_firing::review_queue::QueueError;
use carson_forge::{ForgeError, PullState};
use carson_git::GitError;
use carson_home::ForgeOpenError;
use carson_home::halt::Hinted;
use carson_proc::SpawnError;
use carson_store::StoreError;
use thiserror::Error;

/// An ask that is refused, or cannot be answered now.
#[derive(Debug, Error)]
pub enum Refusal {
    /// The JSON is not that of the ask.
    #[error("this is no ask of {verb:?}")]
    Unreadable {
        /// The verb.
        verb: &'static str,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The answer has no JSON.
    #[error("the answer is no JSON")]
    NoJson(#[source] serde_json::Error),
    /// No such thing is in the settings.
    #[error("there is no {what} {name:?}")]
    Unknown {
        /// What it would be: `role`.
        what: &'static str,
        /// What was typed.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// There are several repositories, and none was named.
    #[error("which repository?")]
    WhichRepo {
        /// What there is.
        known: Vec<String>,
    },
    /// Several roles work there, each on a label of its own, and none was named.
    #[error("which label?")]
    WhichLabel {
        /// What there is, and whose it is.
        known: Vec<String>,
    },
    /// A field of the ask does not hold.
    #[error("{field}: {problem}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The issue is not as it would have to be.
    #[error("issue #{number}: {problem}")]
    Issue {
        /// Its number.
        number: u64,
        /// What is in the way.
        problem: String,
    },
    /// The role has nothing to do with that repository.
    #[error("role {role} does not work in {repo}")]
    Elsewhere {
        /// The role.
        role: RoleName,
        /// The repository.
        repo: RepoName,
        /// Where it works.
        works_in: Vec<RepoName>,
    },
    /// Another host keeps issues of its own.
    #[error(transparent)]
    LocalForge(#[from] OneForge),
    /// The daemon of another home goes by this one's host.
    #[error("this home is a copy: the daemon of another one keeps the lease of the host {0}")]
    CopiedHome(HostName),
    /// An issue needs words.
    #[error("a title or a label is empty")]
    EmptyIssue,
    /// Nothing of an issue would change.
    #[error("nothing is to be changed")]
    NothingToChange(&'static str),
    /// The pull request is open no more.
    #[error("pull request #{number} is {}", format!("{state:?}").to_lowercase())]
    EndedPull {
        /// Its number.
        number: u64,
        /// Where it stands.
        state: PullState,
    },
    /// Unfinished work is not merged.
    #[error("pull request #{0} is a draft: unfinished work that was saved")]
    DraftPull(u64),
    /// It is merged; what follows of that could not be written.
    #[error("pull request #{number} is merged into {base}, and that could not be noted")]
    MergedUnnoted {
        /// Its number.
        number: u64,
        /// The branch that has it.
        base: String,
        /// Why.
        source: PullError,
    },
    /// What was asked of a pull request could not be done.
    #[error(transparent)]
    Pull(#[from] PullError),
    /// No row of that id.
    #[error("there is no firing {0:?}")]
    NoFiring(String),
    /// The digits are those of several.
    #[error("{text:?} names several: {}", .ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    ManyFirings {
        /// What was typed.
        text: String,
        /// All of them.
        ids: Vec<FiringId>,
    },
    /// No lesson of that id.
    #[error("there is no lesson {0:?}")]
    NoLesson(String),
    /// The digits are those of several.
    #[error("{text:?} names several: {}", .ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    ManyLessons {
        /// What was typed.
        text: String,
        /// Whose digits these are.
        ids: Vec<carson_core::lesson::LessonId>,
    },
    /// A lesson is not as it would have to be.
    #[error("{0}")]
    Lesson(String),
    /// There is nothing to stop.
    #[error("firing {} does not run here: {why}", .id.short())]
    NotRunning {
        /// The firing.
        id: FiringId,
        /// Why not.
        why: String,
    },
    /// What a firing does is not taken back while it does it.
    #[error("firing {} still runs", .id.short())]
    StillRuns {
        /// The firing.
        id: FiringId,
    },
    /// Something else goes on that would come between.
    #[error("not now: {0}")]
    Busy(&'static str),
    /// The bench cannot be given up.
    #[error("it stays: {0}")]
    BenchStays(String),
    /// There is no bench of that firing in this home.
    #[error("the bench of {} cannot be discarded here: {why}", .id.short())]
    NoBench {
        /// The firing.
        id: FiringId,
        /// Where it would be.
        why: String,
    },
    /// The database has no file.
    #[error("the database is a PostgreSQL server, which has means of its own")]
    NoFile,
    /// A file of the home cannot be read.
    #[error("{what} cannot be read")]
    File {
        /// Which.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The forge does not answer.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The forge cannot be opened.
    #[error(transparent)]
    ForgeOpen(#[from] ForgeOpenError),
    /// What a firing changed cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The look ahead cannot be had.
    #[error(transparent)]
    DryRun(#[from] DryRunError),
    /// What waits for review cannot be counted.
    #[error(transparent)]
    ReviewQueue(#[from] QueueError),
    /// The benches cannot be looked at.
    #[error(transparent)]
    Prune(#[from] PruneError),
    /// The firing's process cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// What a role uses cannot be written.
    #[error(transparent)]
    Route(#[from] RouteError),
}

impl Refusal {
    /// Whether the ask itself is wrong; else something is not there, refuses, or does not work.
    #[must_use]
    pub fn is_of_the_ask(&self) -> bool {
        matches!(
            self,
            Self::Unreadable { .. }
                | Self::Unknown { .. }
                | Self::WhichRepo { .. }
                | Self::WhichLabel { .. }
                | Self::Field { .. }
                | Self::Issue { .. }
                | Self::Elsewhere { .. }
                | Self::EmptyIssue
                | Self::NothingToChange(_)
                | Self::Route(RouteError::Refused(_) | RouteError::NoSection(_))
        )
    }

    /// What to do next; nothing where the sentence says it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unreadable { .. } => "look at the schema of the verb".to_owned(),
            Self::NoJson(_) => "this is a bug in Carson: report it".to_owned(),
            Self::Unknown { what, name, known } => unknown(what, name, known),
            Self::WhichRepo { known } => format!("add `repo` with one of: {}", known.join(", ")),
            Self::WhichLabel { known } => format!("say one of: {}", known.join(", ")),
            Self::Elsewhere { works_in, .. } => {
                let known: Vec<&str> = works_in.iter().map(RepoName::as_str).collect();
                format!("it works in: {}", known.join(", "))
            }
            Self::EmptyIssue => {
                "carson issue create \"What is to be done\" --label carson:ready".to_owned()
            }
            Self::NothingToChange(wanted) => format!("say {wanted}"),
            Self::EndedPull { .. } => "`carson pr list` lists those that are open".to_owned(),
            Self::MergedUnnoted { number, .. } => format!(
                "mend that, and type the same again (`carson pr merge {number}`): nothing is merged twice; a daemon \
                 notes it by itself"
            ),
            Self::DraftPull(_) => {
                "finish it on its branch and mark it as ready there, or close it: \
                 the issue's next firing begins anew"
                    .to_owned()
            }
            Self::Pull(error) => error.hint().to_owned(),
            Self::CopiedHome(_) => {
                "remove state/home-id in the copy, or give it a fleet.host of its own".to_owned()
            }
            Self::NoFiring(text) => match text.parse::<u64>() {
                Ok(number) => format!(
                    "`carson firings` lists them, by four letters of their ids or more; the issue or pull request of that number is issue-{number} or pr-{number} (`carson why issue-{number}`)"
                ),
                Err(_) => {
                    "`carson firings` lists them; four letters of an id are enough".to_owned()
                }
            },
            Self::NoFile => "pg_dump makes a backup, and pg_restore puts it back".to_owned(),
            Self::File { .. } => "check who may read CARSON_HOME".to_owned(),
            Self::Store(error) | Self::Prune(PruneError::Store(error)) => error.hint().to_owned(),
            Self::Forge(error) => error.hint().to_owned(),
            Self::ForgeOpen(error) => error.hint().to_owned(),
            Self::Git(error) => error.hint().to_owned(),
            Self::DryRun(error) => error.hint().to_owned(),
            Self::ReviewQueue(error) => error.hint().to_owned(),
            Self::Spawn(error) => error.hint().to_owned(),
            Self::Route(error) => error.hint().to_owned(),
            Self::Prune(PruneError::Benches { .. }) => "check who may read CARSON_HOME".to_owned(),
            Self::NotRunning { .. } => "`carson status` lists the firings that run".to_owned(),
            Self::StillRuns { id } => format!(
                "`carson stop {}` ends it; where its process is gone, `carson prune` does",
                id.short()
            ),
            Self::Busy(_) => "say it again in a moment".to_owned(),
            Self::NoLesson(_) => "`carson memory list` lists them".to_owned(),
            Self::ManyFirings { .. } | Self::ManyLessons { .. } => {
                "name one of them with more of its digits; its last eight are its own".to_owned()
            }
            Self::Field { .. }
            | Self::Issue { .. }
            | Self::BenchStays(_)
            | Self::NoBench { .. }
            | Self::LocalForge(_)
            | Self::Lesson(_) => {
                return None;
            }
        })
    }
}

/// What there is, and what makes a role that comes with Carson and is not there.
fn unknown(what: &str, name: &str, known: &[String]) -> String {
    let there = match known {
        [] => format!("there is no {what} at all"),
        known => format!("there are: {}", known.join(", ")),
    };
    let mut shipped = shipped_roles().iter().map(|role| role.name);
    // The one that was meant, or the first of all.
    let makes = shipped.find(|one| *one == name || known.is_empty());
    match (what, makes) {
        ("role", Some(makes)) => format!("{there}; `carson init --role {makes}` makes {makes}"),
        // Nobody writes those.
        ("alert", _) if known.is_empty() => "none was told in a day".to_owned(),
        (_, _) if known.is_empty() => {
            format!("{there}: write one into carson.toml (docs/CONFIG.md)")
        }
        _ => there,
    }
}
