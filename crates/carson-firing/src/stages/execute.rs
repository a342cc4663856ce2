//! The session in full trust, and the check that says whether it is done.
//!
//! Drive and stop are apart: the session changes files, Carson's own run of the promise decides, in a
//! clean room on what is committed. A failed promise is the next attempt's feedback, at most `max_attempts` times.

use carson_core::declared::Admitted;
use carson_core::settle::{Goal, Halt, PromiseFact};
use carson_core::{Sentinel, Stage};
use carson_git::Oid;
use carson_loop::feedback::cut;
use carson_loop::progress::{Stagnation, Verdict};

use super::baseline;
use super::confirm;
use super::coverage;
use super::outbox;
use super::progress::{Progress, warned};
use super::review::Agreed;
use super::scope;
use super::story;
use super::verify::{self, Check, Failure};
use crate::ctx::Ctx;
use crate::placed::{FailedBefore, Placed};
use crate::prompt::Filling;
use crate::record::Record;
use crate::roles;
use crate::said_last::no_sentinel;
use crate::session::{self, ExecuteEnd};

/// What a session hears whose changes are not in a commit that could be checked.
const NOTHING_COMMITTED: &str = "Nothing was committed on your branch. The check runs on a fresh \
    checkout of what is committed there, and that is what will be pushed: commit your work, all of it, on \
    that branch.";

/// What a session hears whose work changed nothing about a check that failed before it.
const AS_BEFORE: &str = "The check fails in the same way without your work, on the untouched base:";

/// What a session hears of a check that failed while its worktree had more than its commits.
const LEFT: &str = "The check saw only what is committed on your branch, and your worktree has changes or files \
    that are not: `git status` names them. Commit what belongs to the work.";

/// Tokens of a failed check that the next session hears.
const FEEDBACK: usize = 4_000;

/// The work is done as far as the session and the promise can tell.
pub(crate) struct Executed<'r, 'h> {
    pub placed: Placed<'r, 'h>,
    pub plan: Option<String>,
    pub done: Done,
}

/// What a session and the promise say.
pub(crate) struct Done {
    pub sentinel: Sentinel,
    pub promise: PromiseFact,
    /// The commit on which the promise passed.
    pub verified: Option<Oid>,
    /// What it asked Carson to do on the forge.
    pub declared: Admitted,
}

impl Done {
    fn unchecked(sentinel: Sentinel) -> Self {
        Self {
            sentinel,
            promise: PromiseFact::NotRun,
            verified: None,
            declared: Admitted::default(),
        }
    }
}

pub(crate) async fn run<'r, 'h>(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    agreed: Agreed<'r, 'h>,
) -> Result<Executed<'r, 'h>, Halt> {
    let Agreed { mut placed, plan } = agreed;
    if !ctx.has_stage(Stage::Execute) {
        // A role that only reads: what it said is its whole result.
        return Err(Halt::Planned(
            match (roles::kind_of(ctx.role).goal)(ctx.role) {
                Goal::Commits => Sentinel::Silent,
                Goal::Text | Goal::Effects => Sentinel::Ok(String::new()),
            },
        ));
    }
    let mends = placed.taken.mends.as_ref();
    let filling = Filling {
        plan: plan.clone(),
        findings: mends.map(|mends| mends.findings.clone()),
        ..Filling::default()
    };
    let max = ctx.role.limits.max_attempts.max(1);
    let done = attempts(ctx, rec, &mut placed, filling, max).await?;
    Ok(Executed { placed, plan, done })
}

/// Executes until the promise passes, the session gives up, or `max` attempts are used up.
pub(crate) async fn attempts(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    mut filling: Filling,
    max: u32,
) -> Result<Done, Halt> {
    let must_change = (roles::kind_of(ctx.role).goal)(ctx.role) == Goal::Commits;
    let mut progress = Progress::default();
    for attempt in 1..=max {
        filling.attempt = attempt;
        rec.count(ctx, |tally| tally.attempts += 1).await;
        let end = session::execute(ctx, rec, placed, &filling, must_change).await?;
        let said = match end {
            ExecuteEnd::Cut(halt) => Err(halt),
            ExecuteEnd::Said(text) => match Sentinel::parse(&text) {
                None => return Err(no_sentinel(Stage::Execute, &text)),
                Some(ok @ Sentinel::Ok(_)) => Ok(ok),
                Some(Sentinel::AlreadyDone(claim)) => {
                    return Err(confirm::done_before(ctx, rec, placed, claim).await?);
                }
                // Who finds nothing to mend may say in the threads why.
                Some(silent @ Sentinel::Silent) if ctx.role.grant.replies > 0 => {
                    let declared = outbox::admitted(ctx, placed).await?;
                    return Ok(Done {
                        declared,
                        ..Done::unchecked(silent)
                    });
                }
                // Anything but OK is the session's own decision to stop.
                Some(other) => return Ok(Done::unchecked(other)),
            },
        };
        let declared = outbox::admitted(ctx, placed).await?;
        if let (Some(said), true) = (outbox::feedback(ctx, &declared), attempt < max) {
            filling.feedback = Some(said);
            continue;
        }
        if attempt < max
            && let Some(said) = scope::feedback(ctx, placed).await?
        {
            filling.feedback = Some(said);
            continue;
        }
        if let Some(said) = story::feedback(placed, attempt == max).await? {
            filling.feedback = Some(said);
            continue;
        }
        let done = attempt_ends(ctx, rec, placed, (attempt, max), said, &mut progress).await?;
        match done {
            Next::Done(done) => {
                if attempt < max
                    && let Some(said) = coverage::feedback(ctx, rec, placed).await?
                {
                    filling.feedback = Some(said);
                    continue;
                }
                return Ok(Done { declared, ..done });
            }
            Next::Again(said) => filling.feedback = Some(said),
        }
    }
    Err(Halt::Exhausted("no attempt was allowed".into()))
}

/// Whether another attempt follows.
enum Next {
    Done(Done),
    /// With what the next session hears.
    Again(String),
}

/// Asks the check, of a session that said `[OK]`, or was cut off.
async fn attempt_ends(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    (attempt, max): (u32, u32),
    said: Result<Sentinel, Halt>,
    progress: &mut Progress,
) -> Result<Next, Halt> {
    Ok(match verify::check(ctx, rec, placed).await? {
        // Nothing was checked: the session's own word is all there is.
        Check::NoPromise => Next::Done(Done::unchecked(said?)),
        Check::NothingCommitted if attempt < max && said.is_ok() => {
            Next::Again(NOTHING_COMMITTED.to_owned())
        }
        Check::NothingCommitted => Next::Done(Done::unchecked(said?)),
        Check::Passed(commit) => Next::Done(Done {
            promise: PromiseFact::Passed,
            verified: Some(commit),
            ..Done::unchecked(said.unwrap_or_else(|_| passes()))
        }),
        Check::Failed(failure) => {
            let verdict = progress.add(attempt, &failure);
            let stagnated = match &verdict {
                Verdict::Stagnated(found) => Some(found),
                _ => None,
            };
            if attempt == max || stagnated.is_some() {
                said?;
                return Err(given_up(ctx, placed, attempt, &failure, stagnated).await);
            }
            Next::Again(told(placed, &failure, &verdict))
        }
        Check::NotReady(output) if attempt == max => {
            said?;
            let how = output.lines().next().unwrap_or_default();
            let end = verify::in_short(&output);
            return Err(Halt::Exhausted(format!(
                "{how}, so the check was not run; its end: {end}"
            )));
        }
        Check::NotReady(output) => Next::Again(cut(&output, FEEDBACK)),
    })
}

/// What the next session hears of a check that failed.
fn told(placed: &Placed<'_, '_>, failure: &Failure, verdict: &Verdict) -> String {
    let mut text = String::new();
    if as_before(placed, failure).is_some() {
        text.push_str(AS_BEFORE);
        text.push('\n');
    }
    if let Verdict::Doubtful(found) = verdict {
        text.push_str(&warned(found));
        text.push('\n');
    }
    if failure.is_left {
        text.push_str(LEFT);
        text.push('\n');
    }
    text.push_str(&cut(&failure.said, FEEDBACK));
    text
}

/// Why no other attempt is made.
async fn given_up(
    ctx: &Ctx<'_>,
    placed: &Placed<'_, '_>,
    attempts: u32,
    failure: &Failure,
    stagnated: Option<&Stagnation>,
) -> Halt {
    let times = carson_core::text::counted(attempts, "time");
    let left = match failure.is_left {
        true => " without what was left uncommitted",
        false => "",
    };
    let why = format!(
        "the check failed {times}{left}; {}",
        verify::in_short(&failure.said)
    );
    if let Some(before) = as_before(placed, failure) {
        baseline::note_unmended(ctx, placed, before).await;
        return Halt::AsBefore(why);
    }
    match stagnated {
        Some(found) => Halt::Stagnated(format!("{found}; {why}")),
        None => Halt::Exhausted(why),
    }
}

/// How it failed before any work, if that is how it fails now.
fn as_before<'p>(placed: &'p Placed<'_, '_>, failure: &Failure) -> Option<&'p FailedBefore> {
    let before = placed.failed_before.as_ref();
    before.filter(|before| before.how == failure.print.to_string())
}

/// What a session says that was cut off, but left a promise that passes: it has done its work.
fn passes() -> Sentinel {
    Sentinel::Ok("the check passes".into())
}
