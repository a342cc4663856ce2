//! Work that is no issue of a role's queue: what a role could take of it, and the one that a firing takes.

use carson_config::{Repo, Role};
use carson_core::settle::Halt;
use carson_core::work::{Background, WorkKey};
use carson_core::{Effect, Work};
use carson_forge::Forge;
use carson_git::Sides;
use carson_home::Home;
use carson_home::halt::{OrBroken, describe_error};
use tracing::info;

use super::kind::Looking;
use super::repositories::{asked, check, forge_of, open_to};
use super::{kind_of, review};
use crate::ctx::Ctx;
use crate::forge_text::one_line;
use crate::reached::Taken;
use crate::record::Record;
use crate::review_queue::QueueError;

/// Work that is not taken whose reasons a firing tells.
const TOLD: usize = 3;

/// What a role could take in a repository.
#[derive(Debug, Default)]
pub struct Candidates {
    /// The first that it may take; others are not looked at then.
    pub ready: Option<Candidate>,
    /// What it does not take, in its order.
    pub held: Vec<HeldCandidate>,
}

/// Work that a role may take.
#[derive(Debug)]
pub struct Candidate {
    /// Which.
    pub key: WorkKey,
    /// Its title, as its author wrote it.
    pub title: String,
    /// What else is said of it.
    pub body: String,
    /// Where a person finds it.
    pub url: String,
    /// The commit of a pull request that is to be judged.
    pub shown: Option<ShownPull>,
    /// What is to be done, where that needs no session.
    pub decided: Option<Vec<Effect>>,
}

/// A pull request as a session sees it.
#[derive(Clone, Debug)]
pub struct ShownPull {
    /// Its branch.
    pub branch: String,
    /// The branch that it is for.
    pub base: String,
    /// Its newest commit.
    pub head: String,
}

/// Work that is not taken.
#[derive(Clone, Debug)]
pub struct HeldCandidate {
    /// Which.
    pub key: WorkKey,
    /// Why.
    pub why: String,
}

impl Candidates {
    /// What is wrong with one alone holds up no other.
    pub(super) fn judged<T>(
        &mut self,
        key: WorkKey,
        judged: Result<Result<T, String>, QueueError>,
    ) -> Result<Option<T>, QueueError> {
        match judged {
            Ok(Ok(found)) => return Ok(Some(found)),
            Ok(Err(why)) => self.hold(key, why),
            Err(QueueError::Forge(error)) if error.is_of_one() => {
                self.hold(key, describe_error(&error));
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    pub(super) fn hold(&mut self, key: WorkKey, why: impl Into<String>) {
        let why = why.into();
        self.held.push(HeldCandidate { key, why });
    }
}

impl Candidate {
    /// The work as sessions have it.
    pub(crate) fn work(&self, home: &Home) -> Work {
        Work {
            key: self.key,
            title: one_line(&home.redactor.redact(&self.title)),
            body: self.body.clone(),
            url: self.url.clone(),
            attempts: 0,
            background: Background::default(),
        }
    }
}

/// Looks for work of a role that is no issue of its queue; `None` for a role that has only that.
///
/// # Errors
/// When the store or the forge does not answer.
pub async fn candidates(
    home: &Home,
    role: &Role,
    (repo, forge): (&Repo, &Forge),
    wanted: Option<u64>,
) -> Result<Option<Candidates>, QueueError> {
    let Some(look) = kind_of(role).look else {
        return Ok(None);
    };
    let looking = Looking {
        home,
        role,
        repo,
        forge,
        wanted,
    };
    look(looking).await.map(Some)
}

/// Takes the first that may be taken, in the first repository that has one.
pub(super) async fn pick<'h>(ctx: &Ctx<'h>, rec: &mut Record) -> Result<Taken<'h>, Halt> {
    let mut held = Vec::new();
    for repo in open_to(ctx).await? {
        let forge = forge_of(ctx, rec, repo).await?;
        let looked = candidates(ctx.home, ctx.role, (repo, &forge), ctx.wanted.work).await;
        let looked = asked(rec, repo, "looking for work", looked)?.unwrap_or_default();
        rec.checks.pass(format!("repo.{}.forge", repo.name));
        held.extend(looked.held);
        let Some(found) = looked.ready else {
            continue;
        };
        check(ctx, rec, repo, &forge).await?;
        match take(ctx, (repo, forge), found).await? {
            Took::It(taken) => return Ok(*taken),
            Took::NotNow(one) => held.push(one),
        }
    }
    Err(nothing(&held))
}

fn nothing(held: &[HeldCandidate]) -> Halt {
    if held.is_empty() {
        return Halt::NothingToDo;
    }
    let told = held.iter().take(TOLD);
    let told = told.map(|one| format!("{} is not taken: {}", one.key.reference(), one.why));
    let mut told = told.collect::<Vec<_>>().join("; ");
    if held.len() > TOLD {
        told.push_str(&format!("; {} more", held.len() - TOLD));
    }
    Halt::NothingReady(told)
}

enum Took<'h> {
    It(Box<Taken<'h>>),
    NotNow(HeldCandidate),
}

async fn take<'h>(
    ctx: &Ctx<'h>,
    (repo, forge): (&'h Repo, Forge),
    found: Candidate,
) -> Result<Took<'h>, Halt> {
    let not_now = |why: &str| {
        Ok(Took::NotNow(HeldCandidate {
            key: found.key,
            why: why.to_owned(),
        }))
    };
    let work = found.work(ctx.home);
    let free = ctx
        .store()
        .take_work(ctx.id, &repo.name, found.key, &work.title)
        .await;
    if !free.or_broken("taking the work")? {
        return not_now("another firing has it");
    }
    let mut taken = Taken::new(repo, forge, work);
    taken.decided.clone_from(&found.decided);
    if let (Some(shown), None) = (&found.shown, &found.decided) {
        let mirror = ctx.home.mirror(repo);
        let head = mirror.fetched(&shown.branch).await;
        let head = head.or_broken("finding the branch of the pull request")?;
        let Some(head) = head.filter(|head| head.as_str() == shown.head) else {
            return not_now("its branch moved a moment ago");
        };
        let base = mirror.resolve(&shown.base).await;
        let base = base.or_broken("finding its base branch")?;
        let sides = Sides { head, base };
        match mirror.diff(&sides).await {
            Ok(diff) if diff.len() <= review::DIFF_BYTES => taken.diff = Some(diff),
            _ => taken.decided = Some(vec![review::split(found.key, &shown.head, None)]),
        }
        taken.at = Some(sides.head);
    }
    info!(firing.id = %ctx.id, repo = %repo.name, work = %found.key, "work taken");
    Ok(Took::It(Box::new(taken)))
}
