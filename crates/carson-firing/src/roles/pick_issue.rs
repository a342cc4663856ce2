//! Picking an issue: the first of the role's queue that may be taken, held so that nobody else takes it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use carson_config::Repo;
use carson_core::settle::{Halt, HeldWork};
use carson_core::work::WorkKey;
use carson_core::{Event, Page, Work};
use carson_forge::{Claim, Claimed, Forge, Issue, NEEDS_HUMAN, PR_OPEN, Unread};
use chrono::TimeDelta;
use tracing::{info, warn};

use super::hand_over::{HandOver, hand_over};
use super::repositories::{asked, away, check, forge_of, full, open_to};
use crate::background;
use crate::ctx::Ctx;
use crate::forge_text;
use crate::queue::{self, Held, Looked, Unmended};
use crate::reached::{FirstTry, Taken};
use crate::record::Record;
use crate::second_try;
use crate::setup;
use crate::stale_claims;
use carson_home::halt::{OrBroken, describe_error};

/// How long it is not said again that an issue waits for another one.
const QUIET: TimeDelta = TimeDelta::hours(6);

/// Takes the first issue that is ready, in the first repository that has one.
pub(super) async fn pick<'h>(ctx: &Ctx<'h>, rec: &mut Record) -> Result<Taken<'h>, Halt> {
    let Some(label) = ctx.role.work.label() else {
        return Err(Halt::NothingToDo);
    };
    let spare = second_try::spare_of(ctx, rec).await;
    let spare = spare.or_broken("reading what is left of the usage windows")?;
    let mut waiting = Waiting::default();
    let (mut busy, mut all_held) = (None, 0);
    let mut tried = Vec::new();
    for repo in open_to(ctx).await? {
        let forge = forge_of(ctx, rec, repo).await?;
        let looked = look(ctx, rec, repo, &forge).await?;
        let people = looked.for_people.iter().map(|one| one.number);
        waiting.add_issues(repo, people.collect());
        for (issue, held) in looked.held {
            if note_held(ctx, repo, &forge, &issue, &held).await {
                waiting.add_issues(repo, vec![issue.number]);
            } else {
                all_held += 1;
            }
        }
        let mut ready = looked.ready;
        if ready.is_empty() {
            continue;
        }
        // Where people have enough to read nothing is begun anew.
        let mut spare = spare.as_ref();
        if let Some(full) = full(ctx, rec, repo, &forge).await? {
            spare = None;
            let goes_on = full.lets_go_on(ctx.store(), ctx.role, repo, ready).await;
            ready = goes_on.or_broken("looking for drafts to go on with")?;
            busy.get_or_insert(full.reason);
        }
        if ready.is_empty() {
            continue;
        }
        check(ctx, rec, repo, &forge).await?;
        setup::may_run(ctx, rec, repo).await?;
        let unmended = Unmended::of(ctx.home, ctx.role, repo, ctx.now()).await;
        // Whoever comes before them may mend what stands in their way.
        ready.sort_by_key(|issue| unmended.has(issue.number));
        let mut firsts = match spare {
            Some(spare) => second_try::first_tries(ctx, (repo, &forge), &ready, spare).await,
            None => Ok(BTreeMap::new()),
        }
        .or_broken("reading how the work was left")?;
        for issue in ready {
            let number = issue.number;
            let in_vain = !ctx.by_hand && unmended.held(number).is_some();
            if in_vain || rests(ctx, repo, number).await? {
                all_held += 1;
                continue;
            }
            if let Some(first) = firsts.remove(&number) {
                tried.push(Tried { repo, issue, first });
                continue;
            }
            let work = match take(ctx, rec, (repo, &forge), label, issue).await? {
                Took::It(work) => *work,
                Took::Nothing => continue,
                Took::ForPeople => {
                    waiting.add_issues(repo, vec![number]);
                    continue;
                }
            };
            return Ok(Taken::new(repo, forge, work));
        }
    }
    if let Some(taken) = try_again(ctx, rec, label, tried, &mut waiting).await? {
        return Ok(taken);
    }
    if let Some(reason) = busy {
        return Err(Halt::Skipped(reason));
    }
    Err(match (waiting.0, all_held) {
        (Some(people), _) => Halt::WaitsForPeople(people),
        (None, 0) => Halt::NothingToDo,
        (None, issues) => Halt::AllHeld {
            issues,
            role: ctx.role.name.clone(),
        },
    })
}

/// An issue that is ready, and has a first try.
struct Tried<'h> {
    repo: &'h Repo,
    issue: Issue,
    first: FirstTry,
}

/// Nobody has anything new: the hardest of these is done anew beside its first try, of which the sessions hear
/// nothing.
async fn try_again<'h>(
    ctx: &Ctx<'h>,
    rec: &mut Record,
    label: &str,
    mut tried: Vec<Tried<'h>>,
    waiting: &mut Waiting,
) -> Result<Option<Taken<'h>>, Halt> {
    tried.sort_by_key(|one| (Reverse(one.first.failed), one.issue.number));
    for Tried { repo, issue, first } in tried {
        let forge = forge_of(ctx, rec, repo).await?;
        let number = issue.number;
        let work = match take(ctx, rec, (repo, &forge), label, issue).await? {
            Took::It(work) => *work,
            Took::Nothing => continue,
            Took::ForPeople => {
                waiting.add_issues(repo, vec![number]);
                continue;
            }
        };
        // Whoever concludes it later must know.
        let noted = ctx.as_firing().set_second_try(first.pull).await;
        noted.or_broken("noting that it is a second try")?;
        info!(firing.id = %ctx.id, first = first.pull, "a second try");
        let mut taken = Taken::new(repo, forge, work);
        taken.work.background.attempts.clear();
        taken.first = Some(first);
        return Ok(Some(taken));
    }
    Ok(None)
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
    It(Box<Work>),
    /// It is somebody else's, or not ready any more.
    Nothing,
    /// It was given to people.
    ForPeople,
}

async fn look(ctx: &Ctx<'_>, rec: &mut Record, repo: &Repo, forge: &Forge) -> Result<Looked, Halt> {
    let looked = queue::look(ctx.home, ctx.role, repo, forge).await;
    let mut looked = looked.map_err(|error| away(rec, repo, describe_error(&error)))?;
    rec.checks.pass(format!("repo.{}.forge", repo.name));
    for unread in &looked.unread {
        note_unread(ctx, repo, unread).await;
    }
    for (number, on) in &looked.rings {
        let why = format!("it and #{on} wait for each other, which holds neither");
        note_waits(ctx, repo, *number, why).await;
    }
    if let Some(wanted) = ctx.wanted.work {
        looked.only(wanted);
    }
    Ok(looked)
}

/// Says what holds an issue, where people can change it; whether it waits for them from now on. What
/// cannot be said keeps nobody from the next issue.
async fn note_held(ctx: &Ctx<'_>, repo: &Repo, forge: &Forge, issue: &Issue, held: &Held) -> bool {
    match held {
        Held::Waits { .. } => {
            note_waits(ctx, repo, issue.number, held.to_string()).await;
            false
        }
        Held::Stranger { author, hash, told } => {
            let given = if *told {
                forge.set_labels(issue.number, &[NEEDS_HUMAN], &[]).await
            } else {
                let text = forge_text::stranger(author, hash);
                forge.hand_over(issue.number, ctx.id, &text).await
            };
            if let Err(error) = given {
                warn!(firing.id = %ctx.id, work.issue = issue.number, %error, "an issue by a stranger could not be given to people");
            }
            true
        }
        Held::Assigned(_)
        | Held::Lacks(_)
        | Held::ForPeople(_)
        | Held::Given(_)
        | Held::Failed { .. }
        | Held::FailsOnBase { .. } => false,
    }
}

async fn note_waits(ctx: &Ctx<'_>, repo: &Repo, issue: u64, why: String) {
    let event = Event::WorkHeld {
        repo: repo.name.clone(),
        issue,
        why: ctx.redacted(&why),
    };
    let noted = ctx
        .store()
        .event_once(&event, ctx.id, ctx.now(), Some(QUIET));
    ctx.best_effort(event.kind(), noted).await;
}

/// Whether it failed a moment ago. Who fires by hand does not wait.
async fn rests(ctx: &Ctx<'_>, repo: &Repo, number: u64) -> Result<bool, Halt> {
    if ctx.by_hand {
        return Ok(false);
    }
    let rests = queue::resting(ctx.store(), repo, number, ctx.now()).await;
    Ok(rests.or_broken("reading how it ended before")?.is_some())
}

/// Claims one issue: first in the store (one box, one transaction), then on the forge (all boxes
/// and people see it).
async fn take(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    (repo, forge): (&Repo, &Forge),
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
            None => return asked(rec, repo, "reading the claims", Err(error)),
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
    let mut no = None;
    let people = asked(rec, repo, "looking whether the issue is for people", people)?;
    let text = match people {
        Some(HandOver::OutOfAttempts(attempts)) => {
            let tried = tried(ctx, repo, number).await;
            Some(forge_text::out_of_attempts(attempts, &tried))
        }
        Some(HandOver::Refused(pull)) => {
            no = Some(pull.number);
            Some(forge_text::refused(&pull))
        }
        Some(HandOver::Offered(_)) => {
            let mended = forge.set_labels(number, &[PR_OPEN], &[label]).await;
            asked(rec, repo, "mending the labels", mended)?;
            return Ok(Took::Nothing);
        }
        None => None,
    };
    if let Some(text) = text {
        let given = forge.hand_over(number, ctx.id, &text).await;
        asked(rec, repo, "giving the issue to people", given)?;
        // Only now: a forge that did not take it is to be told again.
        if let Some(pull) = no {
            remember(ctx, repo, number, pull).await?;
        }
        return Ok(Took::ForPeople);
    }
    // A dead firing's claim is the earlier one, and would win.
    let dead = stale_claims::release_dead(ctx.home, forge, number, &history.unreleased).await;
    asked(rec, repo, "releasing dead claims", dead)?;
    let key = WorkKey::Issue(number);
    // From here on the title stands in rows, branches and messages.
    let title = forge_text::one_line(&ctx.home.redactor.redact(&issue.title));
    let free = ctx.as_firing().take_work(&repo.name, key, &title).await;
    if !free.or_broken("taking the work")? {
        return Ok(Took::Nothing);
    }
    let said = history.conversation(&repo.trust);
    let background = background::of_work(ctx.store(), &repo.name, key, &said).await;
    let background = background.or_broken("reading what was tried before")?;
    let claim = Claim {
        firing: ctx.id,
        role: ctx.role.name.clone(),
        host: ctx.home.fleet.host.clone(),
        at: ctx.home.clock.now(),
    };
    let acts = ctx.as_firing().acts().await;
    acts.or_broken("looking whether another host has the firing")?;
    let claimed = forge.claim(number, label, &claim).await;
    match asked(rec, repo, "claiming the issue", claimed)? {
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
            Ok(Took::It(Box::new(work)))
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
    let noted = ctx.store().event_once(&event, ctx.id, ctx.now(), None);
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

/// Notes the no of people, which is said once.
async fn remember(ctx: &Ctx<'_>, repo: &Repo, number: u64, pull: u64) -> Result<(), Halt> {
    let key = WorkKey::Issue(number);
    let noted = ctx
        .store()
        .remember_refusal(&repo.name, key, pull, ctx.now());
    noted.await.or_broken("remembering the answer").map(|_| ())
}
