//! The work source gives exactly one piece of work, claimed on the forge, or nothing.

use carson_config::{Repo, WorkSource};
use carson_core::admission::SkipReason;
use carson_core::settle::{Halt, HeldWork};
use carson_core::work::WorkKey;
use carson_core::{Page, Stage, Work};
use carson_forge::{Claim, Claimed, Forge, Issue, Pull, PullState, Queue};
use tracing::info;

use super::preflight::Ready;
use super::{Brief, OrBroken, told};
use crate::chat;
use crate::checks;
use crate::claims;
use crate::firing::{Firing, Taken};
use crate::messages;
use crate::session;

/// The firing holds a piece of work.
pub(crate) struct Picked<'f, 'h> {
    pub taken: &'f Taken<'h>,
}

impl<'f> Picked<'f, '_> {
    pub(crate) fn brief(&self, firing: &'f Firing<'_>, branch: &'f str) -> Brief<'f> {
        Brief {
            repo: self.taken.repo,
            work: &self.taken.work,
            branch,
            limits: &firing.role.limits,
        }
    }
}

pub(crate) async fn run<'f, 'h>(
    firing: &'f Firing<'h>,
    _ready: Ready,
) -> Result<Picked<'f, 'h>, Halt> {
    firing.enter(Stage::Pick).await;
    let WorkSource::Issues { label } = &firing.role.work else {
        return Err(Halt::NothingToDo);
    };
    let mut waiting = Waiting::default();
    for repo in repositories(firing).await? {
        let forge = firing.house.forge(repo).await;
        let forge = forge.map_err(|error| away(firing, repo, told(&error)))?;
        let queue = queue(firing, repo, &forge, label).await?;
        waiting.note(repo, queue.for_people);
        if queue.ready.is_empty() {
            continue;
        }
        review_queue(firing, &forge).await?;
        checks::with_work(firing, session::account(firing)?, repo, &forge).await?;
        for issue in queue.ready {
            let number = issue.number;
            let (work, claim) = match take(firing, repo, &forge, label, issue).await? {
                Took::It(work, claim) => (work, claim),
                Took::Nothing => continue,
                Took::ForPeople => {
                    waiting.note(repo, vec![number]);
                    continue;
                }
            };
            let taken = firing.take(Taken {
                repo,
                forge,
                work,
                claim,
            });
            chat::begin(firing, taken).await;
            return Ok(Picked { taken });
        }
    }
    Err(waiting.0.map_or(Halt::NothingToDo, Halt::WaitsForPeople))
}

/// The work that a firing saw and that waits for people.
#[derive(Default)]
struct Waiting(Option<HeldWork>);

impl Waiting {
    fn note(&mut self, repo: &Repo, issues: Vec<u64>) {
        for first in issues {
            let held = self.0.get_or_insert_with(|| HeldWork {
                issues: 0,
                repo: repo.name.clone(),
                first,
            });
            held.issues += 1;
        }
    }
}

/// What became of one issue.
enum Took {
    /// It is ours.
    It(Work, Claim),
    /// It is somebody else's, or not ready any more.
    Nothing,
    /// It was given to people.
    ForPeople,
}

async fn repositories<'h>(firing: &Firing<'h>) -> Result<Vec<&'h Repo>, Halt> {
    let now = firing.house.clock.now();
    let paused = firing.store().paused_repos(now).await;
    let paused = paused.or_broken("reading the pauses")?;
    let wanted = firing.wanted.repo.as_ref();
    Ok(firing
        .role
        .repos
        .iter()
        .filter(|name| wanted.is_none_or(|wanted| wanted == *name) && !paused.contains(name))
        .filter_map(|name| firing.house.fleet.repos.get(name))
        .collect())
}

/// Nothing was taken yet: a forge that cannot be asked costs a slot, and counts against nobody.
fn away(firing: &Firing<'_>, repo: &Repo, why: String) -> Halt {
    checks::refuse(firing, format!("repo.{}.forge", repo.name), why)
}

async fn queue(
    firing: &Firing<'_>,
    repo: &Repo,
    forge: &Forge,
    label: &str,
) -> Result<Queue, Halt> {
    let queue = forge.queue(label).await;
    let mut queue = queue.map_err(|error| away(firing, repo, told(&error)))?;
    firing.checks.pass(format!("repo.{}.forge", repo.name));
    if let Some(wanted) = firing.wanted.work {
        queue.ready.retain(|issue| issue.number == wanted);
        queue.for_people.retain(|number| *number == wanted);
    }
    Ok(queue)
}

/// People's review capacity is the fleet's real bottleneck.
async fn review_queue(firing: &Firing<'_>, forge: &Forge) -> Result<(), Halt> {
    let prefix = format!("carson/{}/", firing.role.name);
    let open = forge
        .open_pulls_of(&prefix)
        .await
        .or_broken("listing the pull requests")?;
    let ready = open.iter().filter(|pull| !pull.draft).count();
    let ready = u32::try_from(ready).unwrap_or(u32::MAX);
    if ready >= firing.role.limits.max_open_prs {
        return Err(Halt::Skipped(SkipReason::OpenPullRequests(ready)));
    }
    Ok(())
}

/// Claims one issue: first in the store (one box, one transaction), then on the forge (all boxes
/// and people see it).
async fn take(
    firing: &Firing<'_>,
    repo: &Repo,
    forge: &Forge,
    label: &str,
    issue: Issue,
) -> Result<Took, Halt> {
    let number = issue.number;
    let history = forge
        .history(number)
        .await
        .or_broken("reading the claims")?;
    let attempts = history.attempts;
    if attempts >= firing.role.limits.max_work_attempts {
        let tried = tried(firing, repo, number).await;
        let text = messages::out_of_attempts(attempts, &tried);
        forge
            .hand_over(number, firing.id, &text)
            .await
            .or_broken("giving the issue to people")?;
        return Ok(Took::ForPeople);
    }
    if let Some(pull) = refused(firing, repo, forge, number).await? {
        forge
            .hand_over(number, firing.id, &messages::refused(&pull))
            .await
            .or_broken("giving the issue to people")?;
        return Ok(Took::ForPeople);
    }
    // A dead firing's claim is the earlier one, and would win.
    claims::release_dead(firing.house, forge, number, &history.unreleased)
        .await
        .or_broken("releasing dead claims")?;
    let key = WorkKey::Issue(number);
    // From here on the title stands in rows, branches and messages.
    let title = messages::one_line(&firing.house.redactor.redact(&issue.title));
    let free = firing
        .store()
        .take_work(firing.id, &repo.name, key, &title)
        .await;
    if !free.or_broken("taking the work")? {
        return Ok(Took::Nothing);
    }
    let claim = Claim {
        firing: firing.id,
        role: firing.role.name.clone(),
        host: firing.house.fleet.host.clone(),
        at: firing.house.clock.now(),
    };
    match forge
        .claim(number, label, &claim)
        .await
        .or_broken("claiming the issue")?
    {
        Claimed::Won => {
            info!(firing.id = %firing.id, work.issue = number, "work claimed");
            let Issue { body, url, .. } = issue;
            let work = Work {
                key,
                title,
                body,
                url,
                attempts,
            };
            Ok(Took::It(work, claim))
        }
        Claimed::Lost { .. } | Claimed::Unseen | Claimed::NotReady => Ok(Took::Nothing),
    }
}

/// What this fleet's firings made of an issue. Those of other fleets stand in its comments.
async fn tried(firing: &Firing<'_>, repo: &Repo, number: u64) -> Vec<Page> {
    let rows = firing
        .store()
        .firings_of(&repo.name, WorkKey::Issue(number))
        .await;
    let rows = rows.unwrap_or_default();
    let redactor = &firing.house.redactor;
    let counted = rows.iter().filter(|row| row.outcome.is_some());
    counted
        .map(|row| messages::attempt(row).without(|text| redactor.redact(text).into_owned()))
        .collect()
}

/// A pull request for this issue that people closed without merging: their answer. It is said once;
/// whoever then takes the label away again, or names the issue in `carson fire`, means it.
async fn refused(
    firing: &Firing<'_>,
    repo: &Repo,
    forge: &Forge,
    number: u64,
) -> Result<Option<Pull>, Halt> {
    if firing.wanted.work.is_some() {
        return Ok(None);
    }
    let key = WorkKey::Issue(number);
    let rows = firing.store().firings_of(&repo.name, key).await;
    let rows = rows.or_broken("reading who worked on the issue")?;
    let Some(newest) = rows.iter().rev().find_map(|row| row.pr_number) else {
        return Ok(None);
    };
    let pull = forge
        .pull(newest)
        .await
        .or_broken("reading the last pull request")?;
    if pull.state != PullState::Closed {
        return Ok(None);
    }
    let now = firing.house.clock.now();
    let is_new = firing
        .store()
        .remember_refusal(&repo.name, key, newest, now)
        .await
        .or_broken("remembering the answer")?;
    Ok(is_new.then_some(pull))
}
