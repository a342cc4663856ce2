//! A story of a plan in the repository becomes a pull request: the first that is open there and that nothing holds,
//! each within what it may change.
//!
//! What is done stands in the plan, at the base. Until a pull request has brought it there the rows tell who had a
//! story: firings of the same text are attempts at the same story, and whoever writes it anew lets it begin anew.

use carson_config::{Repo, Role};
use carson_core::settle::{Goal, Halt};
use carson_core::story::{StoryFact, StoryId};
use carson_core::text::{counted, instant};
use carson_core::work::WorkKey;
use carson_core::{Effect, Outcome};
use carson_forge::{ForgeError, PullState};
use carson_home::Home;
use carson_loop::stories::native::{Status, Story};
use carson_store::Firing as Row;

use super::candidates::{Candidate, Candidates};
use super::effects::{asked_for, open_pull};
use super::kind::{Closing, Kind, Look, Looking};
use super::repositories::{asked, check, forge_of, full, open_to};
use super::take::{Took, nothing, take};
use crate::ctx::Ctx;
use crate::plan_at::{PlanAt, StoryWork};
use crate::queue::rests_until;
use crate::reached::Taken;
use crate::record::Record;
use crate::review_queue::QueueError;

const LOOK: Look = |looking| Box::pin(look(looking));

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(pick(ctx, rec)),
    look: Some(LOOK),
    goal: |_| Goal::Commits,
    effects,
};

/// The pull request, and the end of the drafts in whose place it comes.
fn effects(closing: &Closing<'_, '_>) -> Vec<Effect> {
    let pull = open_pull(closing);
    let drafts = pull.is_some() && !closing.older.is_empty();
    let drafts = drafts.then(|| Effect::CloseDrafts {
        drafts: closing.older.clone(),
    });
    let pull = pull.into_iter().chain(drafts);
    pull.chain(asked_for(closing)).collect()
}

/// The check that a plan is right. It is asked where work is looked for.
pub(crate) fn plan_check(role: &Role) -> String {
    format!("role.{}.stories", role.name)
}

async fn pick<'h>(ctx: &Ctx<'h>, rec: &mut Record) -> Result<Taken<'h>, Halt> {
    let (mut held, mut amiss, mut busy) = (Vec::new(), None, None);
    for repo in open_to(ctx).await? {
        let forge = forge_of(ctx, rec, repo).await?;
        let looking = Looking {
            home: ctx.home,
            role: ctx.role,
            repo,
            forge: &forge,
            wanted: None,
            story: ctx.wanted.story,
            me: Some(ctx.id),
            by_hand: ctx.wanted.story.is_some(),
        };
        let looked = look(looking).await;
        let looked = asked(rec, repo, "looking for a story", looked)?;
        rec.checks.pass(format!("repo.{}.forge", repo.name));
        if let Some(why) = looked.amiss {
            amiss.get_or_insert(format!("{}: {why}", repo.name));
            continue;
        }
        rec.checks.pass(plan_check(ctx.role));
        held.extend(looked.held);
        let Some(found) = looked.ready else {
            continue;
        };
        if let Some(full) = full(ctx, rec, repo, &forge).await? {
            busy.get_or_insert(full.reason);
            continue;
        }
        check(ctx, rec, repo, &forge).await?;
        match take(ctx, (repo, forge), found).await? {
            Took::It(taken) => return Ok(*taken),
            Took::NotNow(one) => held.push(one),
        }
    }
    // A plan that nobody can read is somebody's to mend, and no session's fault.
    if let Some(why) = amiss {
        let id = plan_check(ctx.role);
        return Err(carson_checks::refuse(&mut rec.checks, id, why));
    }
    Err(match busy {
        Some(reason) => Halt::Skipped(reason),
        None => nothing(&held),
    })
}

/// The first story that may be taken, or the one that is wanted of them.
async fn look(looking: Looking<'_>) -> Result<Candidates, QueueError> {
    let mut found = Candidates::default();
    let Some(file) = looking.role.work.file.as_deref() else {
        return Ok(found);
    };
    let mirror = looking.home.mirror(looking.repo);
    let plan = match PlanAt::newest(&mirror, looking.repo, file).await {
        Ok(plan) => plan,
        Err(why) => {
            found.amiss = Some(why);
            return Ok(found);
        }
    };
    let mut is_there = looking.story.is_none();
    for story in plan.in_turn() {
        let id: StoryId = match story.id.parse() {
            Ok(id) if looking.story.is_none_or(|wanted| wanted == id) => id,
            _ => continue,
        };
        is_there = true;
        let key = WorkKey::Story(id);
        if story.status != Status::Open {
            if looking.story.is_some() {
                let status = story.status.as_str();
                found.hold(key, format!("{file} says that it is {status}, not open"));
            }
            continue;
        }
        let judged = stands(&looking, &plan, (key, story)).await;
        found.ready = found.judged(key, judged)?;
        if found.ready.is_some() {
            break;
        }
    }
    if let Some(wanted) = looking.story.filter(|_| !is_there) {
        found.hold(WorkKey::Story(wanted), format!("{file} has no such story"));
    }
    Ok(found)
}

/// A story as work, or why it is none now.
async fn stands(
    looking: &Looking<'_>,
    plan: &PlanAt,
    (key, story): (WorkKey, &Story),
) -> Result<Result<Candidate, String>, QueueError> {
    let Looking { home, repo, .. } = looking;
    let mut work = match plan.work_of(story) {
        Ok(work) => work,
        Err(why) => return Ok(Err(why)),
    };
    let rows = home.store.firings_of(&repo.name, key).await?;
    // Who was fired for this very story holds it already.
    let others = rows.into_iter().filter(|row| Some(row.id) != looking.me);
    let rows: Vec<Row> = others.collect();
    work.firings = rows.len();
    let of_plan = rows.into_iter().filter(|row| reads(home, row, &work.file));
    let mut rows: Vec<Row> = of_plan.collect();
    if let Some(why) = offered(looking, &work, &rows).await? {
        return Ok(Err(why));
    }
    rows.retain(|row| work.is_of(fact(row)));
    if !looking.by_hand
        && let Some(why) = tried(looking, &work, &rows)
    {
        return Ok(Err(why));
    }
    Ok(Ok(Candidate {
        key,
        title: work.title.clone(),
        body: work.told.clone(),
        url: String::new(),
        shown: None,
        findings: None,
        decided: None,
        story: Some(Box::new(work)),
    }))
}

/// Whether a firing's role does the stories of this plan; of one that is gone nobody knows.
fn reads(home: &Home, row: &Row, file: &str) -> bool {
    let role = home.fleet.roles.get(&row.role);
    role.is_none_or(|role| role.work.file.as_deref() == Some(file))
}

/// Whether somebody works on it, or people have it to read.
async fn offered(
    looking: &Looking<'_>,
    work: &StoryWork,
    rows: &[Row],
) -> Result<Option<String>, QueueError> {
    if let Some(live) = rows.iter().find(|row| row.ended_at.is_none()) {
        let id = live.id.short();
        return Ok(Some(format!("firing {id} works on it")));
    }
    let Some((row, number)) = newest_pull(rows) else {
        return Ok(None);
    };
    let Some(number) = number else {
        return Ok(Some(format!(
            "the pull request of firing {} is still to be opened",
            row.id.short()
        )));
    };
    let pull = match looking.forge.pull(number).await {
        // Nobody can have said anything by what is not there any more.
        Err(ForgeError::NotFound { .. }) => return Ok(None),
        pull => pull?,
    };
    let (file, id) = (&work.file, work.id);
    let by_hand = format!(
        "`carson fire {} --story {id}` does it once more",
        looking.role.name
    );
    let is_this = work.is_of(fact(row)) && !looking.by_hand;
    Ok(match pull.state {
        PullState::Open if !pull.draft => {
            Some(format!("its pull request #{number} waits to be read"))
        }
        PullState::Merged if is_this => Some(format!(
            "its pull request #{number} was merged, and {file} still says that it is open: write what is so, or change \
             the story; {by_hand}"
        )),
        PullState::Closed if is_this => Some(format!(
            "its pull request #{number} was closed without merging: change the story; {by_hand}"
        )),
        _ => None,
    })
}

/// The newest firing that offered something, and its pull request; `None` in its place where the forge has still to
/// be told of it.
fn newest_pull(rows: &[Row]) -> Option<(&Row, Option<u64>)> {
    let offers = |row: &&Row| row.pr_number.is_some() || row.outcome == Some(Outcome::Ok);
    let row = rows.iter().rev().find(offers)?;
    Some((row, row.pr_number))
}

fn fact(row: &Row) -> Option<&StoryFact> {
    row.facts.as_ref()?.story.as_ref()
}

/// What firings of this very text came to, where that keeps it.
fn tried(looking: &Looking<'_>, work: &StoryWork, own: &[Row]) -> Option<String> {
    let (role, file, id) = (looking.role, &work.file, work.id);
    let by_hand = format!(
        "`carson fire {} --story {id}` takes it all the same",
        role.name
    );
    if own
        .iter()
        .any(|row| row.outcome == Some(Outcome::AlreadyDone))
    {
        return Some(format!(
            "two sessions found it done before: write `passing` into {file}, or change the story; {by_hand}"
        ));
    }
    let attempts = own.iter().filter(counts).count();
    let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
    if attempts >= role.limits.max_work_attempts {
        let firings = counted(attempts, "firing");
        return Some(format!(
            "{firings} took it and none finished it: change the story in {file}; {by_hand}"
        ));
    }
    let until = rests_until(own).filter(|until| *until > looking.home.clock.now())?;
    Some(format!(
        "it failed a moment ago and is tried again at {}",
        instant(until)
    ))
}

/// Whether it was an attempt. Who finds nothing to do has not done what the story says.
fn counts(row: &&Row) -> bool {
    let facts = row.facts.as_ref();
    let spares = facts.is_some_and(carson_core::settle::Facts::spares_the_work);
    match row.outcome {
        Some(Outcome::Silent) => row.sessions > 0,
        Some(outcome) => outcome.blames_the_work() && !spares,
        None => false,
    }
}

/// Takes up what was known of a story when its firing died.
pub(crate) async fn again(home: &Home, repo: &Repo, row: &Row) -> Option<StoryWork> {
    let id = row.work?.story()?;
    let base = row.base_sha.as_ref()?.parse().ok()?;
    let role = home.fleet.roles.get(&row.role);
    let file = fact(row)
        .map(|fact| fact.file.as_str())
        .or(role.and_then(|role| role.work.file.as_deref()))?;
    let plan = PlanAt::of(&home.mirror(repo), &base, file).await;
    let plan = plan
        .inspect_err(|why| tracing::warn!(firing.id = %row.id, why, "the plan of a dead firing"));
    let plan = plan.ok()?;
    plan.work_of(plan.story(id)?).ok()
}
