//! The plan of stories of a repository, as a commit of its base has it; and a story of it as work.
//!
//! It is read from the commit and nowhere else: no worktree, no branch of a session. Whoever wrote it is a stranger:
//! it is read within a bound, checked as `carson stories check` checks it, and what it says is told on one line.

use std::path::Path;
use std::time::Duration;

use carson_config::{Promise, Repo};
use carson_core::story::{StoryFact, StoryId};
use carson_core::untrusted;
use carson_git::{FileAt, Mirror, Oid};
use carson_home::halt::describe_error;
use carson_loop::stories::Finding;
use carson_loop::stories::native::{
    self, Allowed, POLICY_BYTES, Plan, Status, Story, Touched, Violation, checked, document,
    makes_the_plan, marked, policy_text,
};

/// Bytes of a plan that are read.
const LONGEST: usize = 1 << 20;
/// Letters of what is wrong with it.
const LETTERS: usize = 600;
/// Findings that are told one by one.
const TOLD: usize = 3;
/// How long a promise may take, and how often it must hold, where the plan does not say.
const VERIFY_TIMEOUT: u32 = 300;
const VERIFY_RUNS: u32 = 1;

/// A plan of a commit.
pub(crate) struct PlanAt {
    base: Oid,
    file: String,
    text: String,
    plan: Plan,
    policy: Option<String>,
}

/// A story as a firing works on it.
#[derive(Clone, Debug)]
pub(crate) struct StoryWork {
    /// The commit whose plan has it, where the work begins.
    pub base: Oid,
    /// The plan's file.
    pub file: String,
    /// Its name.
    pub id: StoryId,
    /// What it is about.
    pub title: String,
    /// What sessions are told of it.
    pub told: String,
    /// What must exit 0, once for each time that it must hold.
    pub promises: Vec<Promise>,
    /// The plan's text once it passes.
    pub passing: String,
    /// Firings of it that there were, so that nobody takes what another one had a moment ago.
    pub firings: usize,
    allowed: Allowed,
    text_hash: String,
    prompt_hash: String,
}

impl PlanAt {
    /// That of the newest commit of the base.
    ///
    /// Fails with what is wrong, for people.
    pub(crate) async fn newest(mirror: &Mirror, repo: &Repo, file: &str) -> Result<Self, String> {
        let asked = |error| format!("the repository cannot be read: {}", describe_error(&error));
        mirror.refresh().await.map_err(asked)?;
        let base = mirror.resolve(&repo.base).await.map_err(asked)?;
        Self::of(mirror, &base, file).await
    }

    /// That of this commit.
    ///
    /// Fails with what is wrong, for people.
    pub(crate) async fn of(mirror: &Mirror, base: &Oid, file: &str) -> Result<Self, String> {
        let at = |why: &str| {
            let commit: String = base.as_str().chars().take(10).collect();
            untrusted::one_line(&format!("{file} of commit {commit}: {why}"), LETTERS)
        };
        let text = read(mirror, base, file, LONGEST)
            .await
            .map_err(|why| at(&why))?;
        let plan = document(text.as_bytes()).map_err(|finding| vec![finding]);
        let plan = plan.and_then(|document| checked(&document));
        let plan = plan.map_err(|findings| at(&listed(&findings)))?;
        let made = makes_the_plan(&plan, Path::new(file));
        if !made.is_empty() {
            return Err(at(&listed(&made)));
        }
        let policy = match &plan.policy {
            None => None,
            Some(policy) => {
                let read = read(mirror, base, policy, POLICY_BYTES).await;
                let read = read.and_then(|text| policy_text(text.into_bytes()));
                Some(read.map_err(|why| at(&format!("/policy: {policy}: {why}")))?)
            }
        };
        Ok(Self {
            base: base.clone(),
            file: file.to_owned(),
            text,
            plan,
            policy,
        })
    }

    /// Its stories, in the order in which they are done.
    pub(crate) fn in_turn(&self) -> Vec<&Story> {
        native::in_turn(&self.plan)
    }

    /// The story of this name.
    pub(crate) fn story(&self, id: StoryId) -> Option<&Story> {
        self.plan
            .stories
            .iter()
            .find(|story| story.id == id.as_str())
    }

    /// One of its stories as work.
    ///
    /// Fails with what is wrong with it, for people.
    pub(crate) fn work_of(&self, story: &Story) -> Result<StoryWork, String> {
        let passing = marked(&self.text, &self.plan, &story.id, Status::Passing);
        let prompt = native::prompt(story, self.policy.as_deref());
        let timeout = self.plan.verify_timeout_seconds.unwrap_or(VERIFY_TIMEOUT);
        let promise = story.promise.as_ref().map(|run| Promise {
            run: run.clone(),
            timeout: Duration::from_secs(timeout.into()),
        });
        let runs = self.plan.verify_runs.unwrap_or(VERIFY_RUNS);
        Ok(StoryWork {
            base: self.base.clone(),
            file: self.file.clone(),
            id: story.id.parse()?,
            title: story.title.clone(),
            promises: (0..runs).filter_map(|_| promise.clone()).collect(),
            passing: passing.ok_or("its status cannot be written into the plan")?,
            firings: 0,
            allowed: Allowed::of(story).map_err(|bad| bad.to_string())?,
            text_hash: native::prompt(story, None).hash.to_string(),
            prompt_hash: prompt.hash.to_string(),
            told: prompt.text,
        })
    }
}

impl StoryWork {
    /// Whether a firing with these facts worked on this story as it stands now; one that left none may have.
    pub(crate) fn is_of(&self, fact: Option<&StoryFact>) -> bool {
        fact.is_none_or(|fact| fact.text_hash == self.text_hash)
    }

    /// What work with these changes kept to.
    pub(crate) fn held_against(&self, touched: &[Touched]) -> StoryFact {
        let strays = self.allowed.strays(&self.file, touched);
        let missing = self.allowed.missing(touched);
        StoryFact {
            outside: strays.iter().map(told).collect(),
            missing: missing
                .iter()
                .map(|path| untrusted::one_line(&path.display().to_string(), LETTERS))
                .collect(),
            ..self.unmeasured()
        }
    }

    /// The same of work whose changes nobody knows.
    pub(crate) fn unmeasured(&self) -> StoryFact {
        StoryFact {
            file: self.file.clone(),
            text_hash: self.text_hash.clone(),
            prompt_hash: self.prompt_hash.clone(),
            outside: Vec::new(),
            missing: Vec::new(),
        }
    }
}

fn told(violation: &Violation) -> String {
    untrusted::one_line(&violation.to_string(), LETTERS)
}

fn listed(findings: &[Finding]) -> String {
    let told = findings.iter().take(TOLD).map(ToString::to_string);
    let told = told.collect::<Vec<_>>().join("; ");
    match findings.len().saturating_sub(TOLD) {
        0 => told,
        more => format!("{told}; {more} more (`carson stories check` says all)"),
    }
}

async fn read(mirror: &Mirror, base: &Oid, file: &str, most: usize) -> Result<String, String> {
    match mirror.file_at(base, file, most).await {
        Ok(FileAt::Bytes(bytes)) => {
            String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())
        }
        Ok(FileAt::Nothing) => Err("there is no such file".to_owned()),
        Ok(FileAt::NoFile) => Err("it is no regular file".to_owned()),
        Ok(FileAt::TooLong(bytes)) => Err(format!(
            "it has {bytes} bytes, and no more than {most} are read"
        )),
        Err(error) => Err(describe_error(&error)),
    }
}
