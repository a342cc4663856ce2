//! What keeps stories from being done, shown or checked.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::json_file::FileError;
use crate::lock::LockError;
use crate::stories::finding::Finding;
use crate::tree::{Missed, TreeError};

/// A verb on a plan of stories that did not do what it was asked, and why.
#[derive(Debug, Error)]
pub enum StoriesError {
    /// What stands in the file is no plan.
    #[error("{} is not right: {}", path.display(), listed(findings))]
    NotRight {
        /// The file.
        path: PathBuf,
        /// All that is wrong.
        findings: Vec<Finding>,
    },
    /// Nobody said what does a story.
    #[error("nothing says what does a story")]
    NoExecutor,
    /// What does a story could not be started: no story is to blame.
    #[error("{what} cannot be run: {said}")]
    Unable {
        /// What.
        what: String,
        /// What it printed.
        said: String,
    },
    /// The tree is not one that may be looked at and put back as a whole.
    #[error("{} is no tree to work in", root.display())]
    NoTree {
        /// Its top.
        root: PathBuf,
    },
    /// An attempt was killed with its run, and somebody has changed the plan, committed or switched branches since, perhaps
    /// it.
    #[error(
        "attempt {attempt} of {story} was killed, and the plan or the repository's refs are not what they were"
    )]
    Undecided {
        /// Its story.
        story: String,
        /// Its number.
        attempt: u32,
    },
    /// An attempt at a story of another plan of the tree was killed.
    #[error("attempt {attempt} of {story} of {plan} was killed, and is not undone yet")]
    OtherPlan {
        /// The plan.
        plan: String,
        /// Its story.
        story: String,
        /// Its number.
        attempt: u32,
    },
    /// An attempt was killed, and what was before it cannot be put back as a whole: a repository came or went.
    #[error(
        "attempt {attempt} of {story} was killed, and where it began in a repository there is none now, or the other way round"
    )]
    OtherAreas {
        /// Its story.
        story: String,
        /// Its number.
        attempt: u32,
    },
    /// Something could not be put back.
    #[error("attempt {attempt} of {story} was not undone: {what}")]
    NotUndone {
        /// Its story.
        story: String,
        /// Its number.
        attempt: u32,
        /// What.
        what: String,
    },
    /// Somebody took the files of the run away.
    #[error("{} was taken away during the run", path.display())]
    Gone {
        /// What.
        path: PathBuf,
    },
    /// Git did not answer.
    #[error("git {verb} failed: {said}")]
    Git {
        /// What was asked.
        verb: String,
        /// What it said.
        said: String,
    },
    /// A file of the run's own.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another run.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The disk.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl StoriesError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// Some of what an attempt changed cannot be put back.
    pub(super) fn not_undone(story: &str, attempt: u32, missed: &[Missed]) -> Self {
        const MOST: usize = 20;
        let told = missed.iter().take(MOST);
        let what = told.map(|one| format!("\n  {}: {}", one.path, one.why));
        Self::NotUndone {
            story: story.to_owned(),
            attempt,
            what: what.collect(),
        }
    }

    /// Whether what was asked, or what the plan says, is wrong.
    #[must_use]
    pub fn is_of_the_ask(&self) -> bool {
        matches!(
            self,
            Self::NotRight { .. }
                | Self::NoExecutor
                | Self::NoTree { .. }
                | Self::Undecided { .. }
                | Self::OtherPlan { .. }
                | Self::OtherAreas { .. }
        )
    }

    /// What to do.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NotRight { .. } => "`carson stories check --schema` says what may stand there".to_owned(),
            Self::NoExecutor => {
                "say it with --executor, CARSON_STORIES_EXECUTOR, or `executor` in the plan".to_owned()
            }
            Self::Unable { .. } => "the story is still open: mend the line, and run again".to_owned(),
            Self::NoTree { .. } => "name the top of the tree with --root".to_owned(),
            Self::Undecided { .. } => "`--interrupted keep` goes on from the files as they are; `--interrupted restore` puts \
                 files, refs and the plan back, and keeps them (.carson/stories/attempts/, refs/carson/stories/)"
                .to_owned(),
            Self::OtherPlan { plan, .. } => format!(
                "run that plan first (`carson stories run {plan}`); `--interrupted keep` goes on from the files as they are"
            ),
            Self::OtherAreas { .. } => "put the repository right by hand and run again, or go on from the files as they are: \
                 `--interrupted keep`"
                .to_owned(),
            Self::NotUndone { .. } => "what it changed is in the patch beside its output; put it right by hand, and run again"
                .to_owned(),
            Self::Gone { .. } => "run again: what was done is in the plan".to_owned(),
            Self::Git { .. } => "look at the repository with git fsck".to_owned(),
            Self::Lock(LockError::Io { .. }) => "look at what stands there".to_owned(),
            Self::Lock(_) => "wait for the other run, or end it".to_owned(),
            Self::File(_) => "look at the file: it is plain JSON".to_owned(),
            Self::Tree(error) => error.hint().to_owned(),
            Self::Io { .. } => "look at its permissions, and at the disk".to_owned(),
        }
    }
}

fn listed(findings: &[Finding]) -> String {
    let count = match findings.len() {
        1 => "1 finding".to_owned(),
        many => format!("{many} findings"),
    };
    let lines = findings.iter().map(|finding| format!("\n  {finding}"));
    count + &lines.collect::<String>()
}
