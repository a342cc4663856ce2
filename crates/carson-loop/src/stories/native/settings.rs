//! What a run goes by: a flag is stronger than a variable, a variable than the plan, the plan than the default.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::StoriesError;
use super::place::Place;
use super::policy::{self, policy_text};
use super::written::{Mode, Plan};
use crate::words::Words;

/// What was asked for, by flags and variables.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// How many stories are taken.
    pub stories: Option<u64>,
    /// Only stories of this mode.
    pub mode: Option<Mode>,
    /// The file that every prompt ends with.
    pub policy: Option<PathBuf>,
    /// What does a story: a line for `sh`.
    pub executor: Option<String>,
    /// Attempts of each story.
    pub max_attempts: Option<u32>,
    /// Seconds of each attempt.
    pub timeout: Option<u32>,
    /// How often a promise must hold.
    pub verify_runs: Option<u32>,
    /// Seconds of each run of a promise.
    pub verify_timeout: Option<u32>,
    /// The first story that fails ends the run.
    pub fail_fast: bool,
    /// What becomes of the files of an attempt that was killed with its run.
    pub interrupted: Option<Interrupted>,
}

/// What becomes of the files of an attempt that was killed with its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// They stay as they are.
    Keep,
    /// The tree becomes what it was before.
    Restore,
}

/// What a run goes by.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many stories are taken at most.
    pub stories: u64,
    /// Only stories of this mode.
    pub mode: Option<Mode>,
    /// The text that every prompt ends with.
    pub policy: Option<String>,
    /// What does a story, before its prompt's file has been filled in.
    pub executor: String,
    /// Attempts of each story.
    pub max_attempts: u32,
    /// The time of each attempt.
    pub timeout: Duration,
    /// How often a promise must hold.
    pub verify_runs: u32,
    /// The time of each run of a promise.
    pub verify_timeout: Duration,
    /// The first story that fails ends the run.
    pub fail_fast: bool,
}

impl Settings {
    /// Of what was asked, and what the plan says.
    ///
    /// # Errors
    /// When nothing says what does a story, or the policy cannot be read.
    pub fn of(asked: &Asked, plan: &Plan, place: &Place) -> Result<Self, StoriesError> {
        let executor = asked.executor.as_ref().or(plan.executor.as_ref());
        let executor = executor.filter(|line| Words::line(line).is_ok());
        let seconds = |asked: Option<u32>, plan: Option<u32>, usual: u32| {
            Duration::from_secs(asked.or(plan).unwrap_or(usual).into())
        };
        let policy = match (&asked.policy, &plan.policy) {
            (Some(path), _) => Some(said(path)?),
            (None, Some(named)) => Some(of_plan(place, named)?),
            (None, None) => None,
        };
        Ok(Self {
            stories: asked.stories.unwrap_or(u64::MAX),
            mode: asked.mode,
            policy,
            executor: executor.ok_or(StoriesError::NoExecutor)?.clone(),
            max_attempts: asked.max_attempts.or(plan.max_attempts).unwrap_or(3),
            timeout: seconds(asked.timeout, plan.timeout_seconds, 900),
            verify_runs: asked.verify_runs.or(plan.verify_runs).unwrap_or(1),
            verify_timeout: seconds(asked.verify_timeout, plan.verify_timeout_seconds, 300),
            fail_fast: asked.fail_fast,
        })
    }
}

/// The policy that whoever runs it names: a text, wherever it is.
fn said(path: &Path) -> Result<String, StoriesError> {
    let bytes = fs::read(path).map_err(StoriesError::io(path))?;
    let wrong = |why| StoriesError::io(path)(io::Error::new(io::ErrorKind::InvalidData, why));
    policy_text(bytes).map_err(wrong)
}

fn of_plan(place: &Place, named: &str) -> Result<String, StoriesError> {
    policy::of_plan(&place.root, named).map_err(|finding| StoriesError::NotRight {
        path: place.plan.clone(),
        findings: vec![finding],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stories::json::Json;
    use crate::stories::native::check::checked;

    fn plan(more: &str) -> Plan {
        let text = format!(
            r#"{{"version": 1, "project": "p", {more}
            "stories": [{{"id": "S", "priority": 1, "title": "t", "prompt": "p", "scope": ["a"]}}]}}"#
        );
        checked(&Json::parse(&text).unwrap()).unwrap()
    }

    #[test]
    fn what_was_asked_is_stronger_than_the_plan_and_that_than_the_default() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place {
            root: dir.path().to_owned(),
            plan: dir.path().join("stories.json"),
        };
        let of = |asked: Asked, more: &str| Settings::of(&asked, &plan(more), &place);
        assert!(matches!(
            of(Asked::default(), ""),
            Err(StoriesError::NoExecutor)
        ));
        let blank = Asked {
            executor: Some(" ".into()),
            ..Asked::default()
        };
        assert!(matches!(of(blank, ""), Err(StoriesError::NoExecutor)));
        let usual = of(Asked::default(), r#""executor": "e","#).unwrap();
        assert_eq!(
            (usual.stories, usual.max_attempts, usual.verify_runs),
            (u64::MAX, 3, 1)
        );
        assert_eq!(
            (usual.timeout.as_secs(), usual.verify_timeout.as_secs()),
            (900, 300)
        );
        std::fs::write(dir.path().join("P.md"), "of the plan").unwrap();
        let written = r#""executor": "e", "policy": "P.md", "max_attempts": 2, "timeout_seconds": 5, "verify_runs": 4,
            "verify_timeout_seconds": 6,"#;
        let planned = of(Asked::default(), written).unwrap();
        assert_eq!((planned.max_attempts, planned.verify_runs), (2, 4));
        assert_eq!(
            (planned.timeout.as_secs(), planned.verify_timeout.as_secs()),
            (5, 6)
        );
        assert_eq!(planned.policy.as_deref(), Some("of the plan"));
        std::fs::write(dir.path().join("Q.md"), "asked").unwrap();
        let asked = Asked {
            stories: Some(1),
            policy: Some(dir.path().join("Q.md")),
            executor: Some("f".into()),
            max_attempts: Some(9),
            timeout: Some(8),
            verify_runs: Some(7),
            verify_timeout: Some(9),
            ..Asked::default()
        };
        let asked = of(asked, written).unwrap();
        assert_eq!(
            (asked.stories, asked.max_attempts, asked.verify_runs),
            (1, 9, 7)
        );
        assert_eq!(
            (asked.executor.as_str(), asked.policy.as_deref()),
            ("f", Some("asked"))
        );
        assert_eq!(
            (asked.timeout.as_secs(), asked.verify_timeout.as_secs()),
            (8, 9)
        );
        let none = Asked {
            policy: Some("/no/such".into()),
            ..Asked::default()
        };
        assert!(of(none, written).is_err());
    }
}
