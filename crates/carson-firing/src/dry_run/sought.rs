//! The work that a firing would take, and what it would meet before its first session.

use std::path::Path;

use carson_checks::{FAILS, Health, Machine, Scene, fails_on_base};
use carson_config::{Repo, Role, RoleKind, WorkFrom};
use carson_core::admission::SkipReason;
use carson_core::settle::{Facts, Halt, settle};
use carson_core::work::{Background, WorkKey};
use carson_core::{AccountName, Effect, FiringId, Stage, Work};
use carson_forge::{DO_NOT_PICKUP, Forge};
use carson_proc::Cancel;
use serde::Serialize;

use crate::admit::Wish;
use crate::asked_in_bench;
use crate::ctx::Ctx;
use crate::forge_text::one_line;
use crate::placed::Brief;
use crate::prompt::{self, Filling};
use crate::queue::{self, Held, HeldIssue, Unmended};
use crate::reached::Taken;
use crate::review_queue::{self, QueueError};
use crate::roles::candidates::HeldCandidate;
use crate::roles::hand_over::hand_over;
use crate::roles::look::candidates;
use crate::roles::repositories::Open;
use crate::roles::routine::next_repo;
use crate::roles::stories;
use crate::steps::Steps;
use carson_home::halt::Hinted;
use carson_home::{FiringRef, Home};

/// What a session would be told.
#[derive(Debug, Serialize)]
pub struct Told {
    /// Its stage.
    pub stage: Stage,
    /// The prompt, with what came from outside fenced as data.
    pub text: String,
}

/// An issue that would be given to people.
#[derive(Debug, Serialize)]
pub struct HandedOver {
    /// Repository.
    pub repo: String,
    /// Number.
    pub number: u64,
    /// Why.
    pub why: String,
}

/// A piece of work that is ready.
#[derive(Debug, Serialize)]
pub struct Candidate {
    /// Repository.
    pub repo: String,
    /// Number; a story has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// Name, of a story.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<String>,
    /// As people write it.
    #[serde(skip)]
    pub reference: String,
    /// Title, as one line.
    pub title: String,
}

/// A look that could not be had.
#[derive(Debug, thiserror::Error)]
pub enum DryRunError {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] carson_store::StoreError),
    /// The forge cannot be opened.
    #[error(transparent)]
    Open(#[from] carson_home::ForgeOpenError),
    /// The forge does not answer.
    #[error(transparent)]
    Forge(#[from] carson_forge::ForgeError),
    /// What waits for review cannot be counted.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

impl DryRunError {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> &str {
        match self {
            Self::Store(error) => error.hint(),
            Self::Open(error) => error.hint(),
            Self::Forge(error) => error.hint(),
            Self::Queue(error) => error.hint(),
        }
    }
}

/// The work, and what keeps a firing from it that admission does not know of.
#[derive(Default)]
pub(super) struct Sought<'h> {
    pub work: Option<(Candidate, Work)>,
    /// Where it is.
    pub place: Option<(&'h Repo, Forge)>,
    pub held_up: Option<SkipReason>,
    /// Issues that carry the role's label and are not taken.
    held: Vec<HeldIssue>,
    /// Why nothing of the source of its work can be known.
    amiss: Option<String>,
    /// Other work that is not taken.
    not_taken: Vec<HeldCandidate>,
    /// What would be done on the forge, where that needs no session.
    pub decided: Option<Vec<&'static str>>,
    pub handed_over: Vec<HandedOver>,
    pub warnings: Vec<String>,
    /// The file that tests would be written for, and what no test runs of it.
    aim: Option<String>,
}

impl<'h> Sought<'h> {
    /// Why nothing is done, where there is no work.
    pub(super) fn idle(&self) -> String {
        if let Some(HandedOver { number, why, .. }) = self.handed_over.first() {
            return format!("would give #{number} to people and do nothing else: {why}");
        }
        if let Some(why) = &self.amiss {
            return format!("would be skipped: {}", SkipReason::preflight(why));
        }
        if let Some(HeldCandidate { key, why }) = self.not_taken.first() {
            let work = key.reference();
            return format!("would fire and find nothing to do: {work} is not taken: {why}");
        }
        match self.held.first() {
            Some(HeldIssue {
                number,
                why: Held::ForPeople(label),
            }) if *label != DO_NOT_PICKUP => format!(
                "would fire and find nothing to do: #{number} waits for people (`carson retry {number}` \
                 gives it back)"
            ),
            Some(HeldIssue { number, why }) => {
                format!("would fire and find nothing to do: #{number} is held: {why}")
            }
            None => "would fire and find nothing to do".to_owned(),
        }
    }

    /// The work as a session would have it.
    fn work_of(&self, role: &Role) -> Option<Work> {
        match &self.work {
            Some((_, work)) => Some(work.clone()),
            None if role.work.from != WorkFrom::None => None,
            None => Some(Work {
                key: WorkKey::None,
                title: role.title.clone(),
                body: role.work.task.clone(),
                url: String::new(),
                attempts: 0,
                background: Background::default(),
            }),
        }
    }

    fn taken(&self, role: &Role) -> Option<Taken<'h>> {
        let (repo, forge) = self.place.as_ref()?;
        Some(Taken::new(repo, forge.clone(), self.work_of(role)?))
    }
}

/// Looks for the work that a firing would take, as it would.
pub(super) async fn candidate<'h>(
    home: &'h Home,
    role: &Role,
    wish: &Wish,
) -> Result<Sought<'h>, DryRunError> {
    let open = Open::of(home, role, wish.repo.as_ref()).await?;
    let mut sought = Sought {
        held_up: open.closed,
        ..Sought::default()
    };
    if role.work.from == WorkFrom::None {
        if let Some(repo) = next_repo(&home.store, role, open.repos).await? {
            let forge = home.forge(repo).await?;
            let full = review_queue::look(home, role, repo, &forge).await?;
            sought.held_up = full.map(|full| full.reason);
            sought.place = Some((repo, forge));
        }
        return Ok(sought);
    }
    for repo in open.repos {
        let forge = home.forge(repo).await?;
        let wanted = wish.work.and_then(WorkKey::number);
        if let Some(found) = candidates(home, role, (repo, &forge), wish.work).await? {
            sought.not_taken.extend(found.held);
            if let Some(why) = found.amiss {
                let why = home.redactor.redact(&why).into_owned();
                let said = format!("{}: {}: {why}", stories::plan_check(role), repo.name);
                sought.amiss.get_or_insert(said);
            }
            let Some(ready) = found.ready else {
                continue;
            };
            if role.kind == RoleKind::Stories
                && let Some(full) = review_queue::look(home, role, repo, &forge).await?
            {
                sought.held_up.get_or_insert(full.reason);
                continue;
            }
            sought.held_up = None;
            let work = ready.work(home);
            let decided = ready.decided.as_ref();
            sought.decided = decided.map(|all| all.iter().map(Effect::kind).collect());
            let candidate = candidate_of(repo, work.key, work.title.clone());
            sought.work = Some((candidate, work));
            sought.place = Some((repo, forge));
            return Ok(sought);
        }
        let mut looked = queue::look(home, role, repo, &forge).await?;
        if let Some(wanted) = wanted {
            looked.only(wanted);
        }
        sought.held.extend(looked.held_issues());
        let mut ready = looked.ready;
        if !ready.is_empty()
            && let Some(full) = review_queue::look(home, role, repo, &forge).await?
        {
            ready = full.lets_go_on(&home.store, role, repo, ready).await?;
            sought.held_up.get_or_insert(full.reason);
        }
        let unmended = Unmended::of(home, role, repo, home.clock.now()).await;
        ready.sort_by_key(|issue| unmended.has(issue.number));
        for issue in ready {
            let attempts = match forge.history(issue.number).await {
                Ok(history) => history.attempts,
                // A firing leaves it out, too.
                Err(error) if error.unread().is_some() => continue,
                Err(error) => return Err(error.into()),
            };
            let (number, is_named) = (issue.number, wish.work.is_some());
            let people =
                hand_over(home, role, (repo, &forge), (number, attempts), is_named).await?;
            if let Some(people) = people {
                sought.handed_over.push(HandedOver {
                    repo: repo.name.to_string(),
                    number,
                    why: people.told(number),
                });
                continue;
            }
            let key = WorkKey::Issue(issue.number);
            let title = one_line(&home.redactor.redact(&issue.title));
            let candidate = candidate_of(repo, key, title);
            sought.held_up = None;
            let work = Work {
                key,
                title: candidate.title.clone(),
                body: issue.body,
                url: issue.url,
                attempts: 0,
                background: Background::default(),
            };
            sought.work = Some((candidate, work));
            sought.place = Some((repo, forge));
            return Ok(sought);
        }
    }
    Ok(sought)
}

fn candidate_of(repo: &Repo, key: WorkKey, title: String) -> Candidate {
    Candidate {
        repo: repo.name.to_string(),
        number: key.number(),
        story: key.story().map(|id| id.to_string()),
        reference: key.reference(),
        title,
    }
}

/// What preflight would stop it with, asked as a firing asks.
pub(super) async fn preflight(
    home: &Home,
    role: &Role,
    account: Option<&AccountName>,
    sought: &Sought<'_>,
) -> Option<String> {
    let account = account.and_then(|account| home.fleet.accounts.get(account));
    let firing = FiringRef {
        home,
        role,
        id: FiringId::new(),
        epoch: carson_store::Epoch::FIRST,
    };
    let mut findings = carson_checks::Findings::default();
    let mut asked = carson_checks::always(&firing, &mut findings, account).await;
    if let (Ok(()), Some((repo, forge))) = (&asked, &sought.place) {
        asked = carson_checks::with_work(&firing, &mut findings, account, repo, forge).await;
    }
    match asked {
        Ok(()) => None,
        Err(Halt::Skipped(reason)) => Some(format!("would be skipped: {reason}")),
        Err(_) => Some("would be stopped by its preflight".to_owned()),
    }
}

/// What it would be stopped with in its workspace, before its first session.
pub(super) async fn in_the_bench(
    home: &Home,
    role: &Role,
    account: &AccountName,
    sought: &mut Sought<'_>,
    (cancel, steps): (Cancel, Steps),
) -> Option<String> {
    let machine = Machine::new(home.clock.clone());
    let scene = Scene::examined(home, &machine, None);
    let hook = carson_checks::some_of(&scene, &["hook.answers"]).await;
    if let Some(wrong) = hook.iter().find(|one| one.health == Health::Error) {
        let remedy = wrong.remedy.as_deref().unwrap_or_default();
        let said = format!("{}: {}; {remedy}", wrong.id, wrong.found);
        return Some(format!(
            "would be skipped: {}",
            SkipReason::preflight(&said)
        ));
    }
    let taken = sought.taken(role)?;
    let ctx = Ctx::asking(home, role, (cancel, steps));
    let repo = &taken.repo.name;
    match asked_in_bench::ask(&ctx, account.clone(), &taken).await {
        Ok(asked) => {
            sought.aim = asked.aim;
            if let Some(before) = asked.failed_before {
                let found = fails_on_base(repo, &before.said);
                sought.warnings.push(format!("{found}; {FAILS}"));
            }
            None
        }
        Err(Halt::Skipped(reason)) => Some(format!("would be skipped: {reason}")),
        Err(halt) => {
            let facts = Facts {
                halt: Some(halt),
                ..Facts::default()
            };
            let settled = settle(&facts);
            Some(format!(
                "would end as {}: {}",
                settled.outcome, settled.reason
            ))
        }
    }
}

/// What its first session would be told.
pub(super) fn told(
    home: &Home,
    role: &Role,
    repo: Option<&Repo>,
    sought: &Sought<'_>,
) -> Option<Told> {
    let mut stages = role.stages.iter().copied();
    let stage = stages.find(|stage| [Stage::Plan, Stage::Execute].contains(stage))?;
    let repo = sought.place.as_ref().map(|(repo, _)| *repo).or(repo)?;
    let work = sought.work_of(role)?;
    let brief = Brief {
        repo,
        work: &work,
        branch: "carson/…",
        outbox: Path::new("$CARSON_OUTBOX"),
        diff: None,
        aim: sought.aim.as_deref(),
        goes_on: false,
        guidance: "",
        lessons: "",
        proposals: None,
        limits: &role.limits,
    };
    let filling = Filling {
        attempt: 1,
        ..Filling::default()
    };
    let text = prompt::render(role, stage, &brief, &filling).ok()?;
    let text = home.redactor.redact(&text).into_owned();
    Some(Told { stage, text })
}
