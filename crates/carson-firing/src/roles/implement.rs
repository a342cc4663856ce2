//! An issue becomes a pull request: the oldest that is ready, claimed on the forge so that all boxes
//! and people see it, worked on, and given back.

use carson_config::Repo;
use carson_core::effect::Release;
use carson_core::settle::{Goal, Halt, HeldWork, Settled};
use carson_core::work::WorkKey;
use carson_core::{Effect, Event, Outcome, Page, Work};
use carson_forge::{Claim, Claimed, Forge, IN_FLIGHT, Issue, Pull, Queue, Unread};
use tracing::{info, warn};

use super::hand_over::{HandOver, hand_over};
use super::kind::{Closing, Kind};
use super::repositories::{away, check, forge_of, open_to};
use crate::background;
use crate::ctx::Ctx;
use crate::forge_text;
use crate::labels::labels_after;
use crate::reached::Taken;
use crate::record::Record;
use crate::saved::without_a_pull;
use crate::stale_claims;
use carson_home::halt::{OrBroken, describe_error};

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(pick(ctx, rec)),
    goal: |_| Goal::Commits,
    effects,
};

/// Takes the first issue that is ready, in the first repository that has one.
async fn pick<'h>(ctx: &Ctx<'h>, rec: &mut Record) -> Result<Taken<'h>, Halt> {
    let Some(label) = ctx.role.work.label() else {
        return Err(Halt::NothingToDo);
    };
    let mut waiting = Waiting::default();
    for repo in open_to(ctx).await? {
        let forge = forge_of(ctx, rec, repo).await?;
        let queue = queue(ctx, rec, repo, &forge, label).await?;
        waiting.add_issues(repo, queue.for_people);
        if queue.ready.is_empty() {
            continue;
        }
        check(ctx, rec, repo, &forge).await?;
        for issue in queue.ready {
            let number = issue.number;
            let work = match take(ctx, repo, &forge, label, issue).await? {
                Took::It(work) => work,
                Took::Nothing => continue,
                Took::ForPeople => {
                    waiting.add_issues(repo, vec![number]);
                    continue;
                }
            };
            return Ok(Taken { repo, forge, work });
        }
    }
    Err(waiting.0.map_or(Halt::NothingToDo, Halt::WaitsForPeople))
}

/// The work that a firing saw and that waits for people.
#[derive(Default)]
struct Waiting(Option<HeldWork>);

impl Waiting {
    fn add_issues(&mut self, repo: &Repo, issues: Vec<u64>) {
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
    It(Work),
    /// It is somebody else's, or not ready any more.
    Nothing,
    /// It was given to people.
    ForPeople,
}

async fn queue(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    repo: &Repo,
    forge: &Forge,
    label: &str,
) -> Result<Queue, Halt> {
    let queue = forge.queue(label).await;
    let mut queue = queue.map_err(|error| away(rec, repo, describe_error(&error)))?;
    rec.checks.pass(format!("repo.{}.forge", repo.name));
    for unread in &queue.unread {
        note_unread(ctx, repo, unread).await;
    }
    if let Some(wanted) = ctx.wanted.work {
        queue.ready.retain(|issue| issue.number == wanted);
        queue.for_people.retain(|number| *number == wanted);
    }
    Ok(queue)
}

/// Claims one issue: first in the store (one box, one transaction), then on the forge (all boxes
/// and people see it).
async fn take(
    ctx: &Ctx<'_>,
    repo: &Repo,
    forge: &Forge,
    label: &str,
    issue: Issue,
) -> Result<Took, Halt> {
    let number = issue.number;
    let history = match forge.history(number).await {
        Err(error) => match error.unread() {
            Some(unread) => {
                note_unread(ctx, repo, &unread).await;
                return Ok(Took::Nothing);
            }
            None => return Err(error).or_broken("reading the claims"),
        },
        Ok(history) => history,
    };
    let attempts = history.attempts;
    let is_named = ctx.wanted.work.is_some();
    let people = hand_over(
        ctx.home,
        ctx.role,
        (repo, forge),
        (number, attempts),
        is_named,
    )
    .await;
    let text = match people.or_broken("looking whether the issue is for people")? {
        Some(HandOver::OutOfAttempts(attempts)) => {
            let tried = tried(ctx, repo, number).await;
            Some(forge_text::out_of_attempts(attempts, &tried))
        }
        Some(HandOver::Refused(pull)) => {
            let is_new = remember(ctx, repo, number, &pull).await?;
            is_new.then(|| forge_text::refused(&pull))
        }
        None => None,
    };
    if let Some(text) = text {
        let given = forge.hand_over(number, ctx.id, &text).await;
        given.or_broken("giving the issue to people")?;
        return Ok(Took::ForPeople);
    }
    // A dead firing's claim is the earlier one, and would win.
    stale_claims::release_dead(ctx.home, forge, number, &history.unreleased)
        .await
        .or_broken("releasing dead claims")?;
    let key = WorkKey::Issue(number);
    // From here on the title stands in rows, branches and messages.
    let title = forge_text::one_line(&ctx.home.redactor.redact(&issue.title));
    let free = ctx.store().take_work(ctx.id, &repo.name, key, &title).await;
    if !free.or_broken("taking the work")? {
        return Ok(Took::Nothing);
    }
    let said = &history.conversation;
    let background = background::of_work(ctx.store(), &repo.name, key, said).await;
    let background = background.or_broken("reading what was tried before")?;
    let claim = Claim {
        firing: ctx.id,
        role: ctx.role.name.clone(),
        host: ctx.home.fleet.host.clone(),
        at: ctx.home.clock.now(),
    };
    match forge
        .claim(number, label, &claim)
        .await
        .or_broken("claiming the issue")?
    {
        Claimed::Won => {
            info!(firing.id = %ctx.id, work.issue = number, "work claimed");
            let Issue { body, url, .. } = issue;
            let work = Work {
                key,
                title,
                body,
                url,
                attempts,
                background,
            };
            Ok(Took::It(work))
        }
        Claimed::Lost { .. } | Claimed::Unseen | Claimed::NotReady => Ok(Took::Nothing),
    }
}

/// An entry of the forge is not what it should be: that is said once, and the others are worked on.
async fn note_unread(ctx: &Ctx<'_>, repo: &Repo, unread: &Unread) {
    warn!(repo = %repo.name, place = unread.place, why = unread.why, "left out: it cannot be read");
    let event = Event::ForgeUnread {
        repo: repo.name.clone(),
        place: unread.place.clone(),
        why: ctx.redacted(&unread.why),
    };
    let noted = ctx.store().event_once(&event, ctx.id, ctx.now());
    ctx.best_effort(event.kind(), noted).await;
}

/// What this fleet's firings made of an issue. Those of other fleets stand in its comments.
async fn tried(ctx: &Ctx<'_>, repo: &Repo, number: u64) -> Vec<Page> {
    let rows = ctx
        .store()
        .firings_of(&repo.name, WorkKey::Issue(number))
        .await;
    let rows = rows.unwrap_or_default();
    let redactor = &ctx.home.redactor;
    let counted = rows.iter().filter(|row| row.outcome.is_some());
    counted
        .map(|row| forge_text::attempt(row).without(|text| redactor.redact(text).into_owned()))
        .collect()
}

/// Notes the no of people; whether nobody had.
async fn remember(ctx: &Ctx<'_>, repo: &Repo, number: u64, pull: &Pull) -> Result<bool, Halt> {
    let key = WorkKey::Issue(number);
    let noted = ctx
        .store()
        .remember_refusal(&repo.name, key, pull.number, ctx.now());
    noted.await.or_broken("remembering the answer")
}

/// The pull request, then the end of the claim; an issue whose work was done before is closed.
fn effects(closing: &Closing<'_, '_>) -> Vec<Effect> {
    let Some(issue) = closing.taken.work.key.number() else {
        return Vec::new();
    };
    let pull = super::effects::open_pull(closing);
    let release = |settled: &Settled| release(closing, settled);
    let outcome = closing.settled.outcome;
    let without_pull = pull.is_some() && outcome == Outcome::Ok;
    let without_pull = without_pull.then(|| release(&without_a_pull(closing.settled)));
    let ends = Effect::Release {
        issue,
        release: release(closing.settled),
        without_pull,
    };
    let close = (outcome == Outcome::AlreadyDone).then_some(Effect::CloseIssue { issue });
    // Last: nobody waits for it.
    let drafts = pull.is_some() && !closing.older.is_empty();
    let drafts = drafts.then(|| Effect::CloseDrafts {
        drafts: closing.older.clone(),
    });
    pull.into_iter()
        .chain([ends])
        .chain(close)
        .chain(drafts)
        .collect()
}

fn release(closing: &Closing<'_, '_>, settled: &Settled) -> Release {
    let ctx = closing.ctx;
    let spares = closing.facts.spares_the_work();
    let (add, counts) = labels_after(settled.outcome, spares, ctx.role.work.label());
    let note = forge_text::forge_note(ctx, closing.rec, settled, closing.saved);
    Release {
        outcome: settled.outcome.to_string(),
        note: note.without(|text| ctx.redacted(text)),
        attempt_counts: counts,
        add,
        remove: vec![IN_FLIGHT.to_owned()],
    }
}
