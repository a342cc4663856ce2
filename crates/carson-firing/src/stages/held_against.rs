//! A second try is held against the first one: by the checks, then by a session that sees both.
//!
//! The first one stays unless the second is better: where nobody can say so, it stays.

use std::sync::Arc;

use carson_core::settle::{Halt, Held, SecondTry};
use carson_core::{Choice, Stage};
use carson_forge::{ForgeError, Pull, PullState};
use carson_git::{GitError, Oid, Seen, Shown, Sides};
use carson_home::halt::OrBroken;
use tracing::info;

use super::execute::Executed;
use super::facts::Findings;
use super::verify::{described, in_short, keep_output, run as run_check};
use crate::clean_rooms::{self, Holds};
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::prompt::Filling;
use crate::record::Record;
use crate::session::{self, Ask};

/// Most bytes of each change that a session compares.
const DIFF: usize = 300 * 1024;

pub(crate) async fn run(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    executed: &mut Executed<'_, '_>,
    mut found: Findings,
) -> Result<Findings, Halt> {
    let first = executed.placed.taken.first.as_ref();
    let Some(first) = first.map(|first| first.pull) else {
        return Ok(found);
    };
    if !found.is_finished() {
        return Ok(found);
    }
    ctx.enter(Stage::DiffReview).await;
    let end = held(ctx, rec, &mut executed.placed, first).await?;
    info!(firing.id = %ctx.id, first, ?end, "the second try is held against the first");
    found.second = Some(SecondTry { first, end });
    Ok(found)
}

async fn held(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    first: u64,
) -> Result<Held, Halt> {
    let lost = |why: &str| Ok(Held::Lost(why.to_owned()));
    let won = |why: &str| Ok(Held::Won(why.to_owned()));
    let seen = placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    if seen.facts().commits == 0 {
        return lost("the second changes nothing");
    }
    let pull = match still_open(placed.taken.forge.pull(first).await) {
        Ok(pull) => pull,
        Err(why) => return lost(why),
    };
    let tip = placed.place.mirror.fetched(&pull.head).await;
    let Some(tip) = tip.or_broken("finding the first try")? else {
        return lost("its branch is gone");
    };
    let sides = Sides {
        head: tip.clone(),
        base: placed.place.worktree.base.clone(),
    };
    let theirs = match placed.place.mirror.diff(&sides).await {
        Err(GitError::TooMuch { .. }) => return won("the first is more than anybody reads"),
        diff => diff.or_broken("reading the first try")?,
    };
    if theirs.trim().is_empty() {
        return won("the first changes nothing");
    }
    if let Some(why) = fails(ctx, rec, placed, (&seen, &tip)).await? {
        return Ok(Held::Won(format!("the first {why}")));
    }
    let ours = seen.shown().map(|shown: &Shown| shown.text.clone());
    match ours.filter(|ours| ours.len() <= DIFF && theirs.len() <= DIFF) {
        Some(ours) => compared(ctx, rec, placed, (&seen, ours, theirs)).await,
        None => lost("nobody could compare them"),
    }
}

/// The draft, where people have neither taken it up nor ended it since.
fn still_open(pull: Result<Pull, ForgeError>) -> Result<Pull, &'static str> {
    match pull {
        Err(_) => Err("nobody could look at it"),
        Ok(pull) if pull.state != PullState::Open => Err("people ended it meanwhile"),
        Ok(pull) if !pull.draft => Err("people took it up meanwhile"),
        Ok(pull) => Ok(pull),
    }
}

/// Why the first try does not pass the checks that the second one passed.
async fn fails(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    (seen, tip): (&Seen, &Oid),
) -> Result<Option<String>, Halt> {
    let repo = placed.taken.repo;
    for check in ctx.role.checks(repo) {
        let ready = clean_rooms::ready(ctx, rec, placed, seen, Holds::only(tip)).await?;
        let room = match ready {
            Ok(room) => room,
            Err(said) => {
                keep_output(ctx, rec, "first-try", &said);
                return Ok(Some("cannot be set up".to_owned()));
            }
        };
        let done = run_check(ctx, rec, placed, check, &room).await?;
        let said = described(ctx, check, &done);
        keep_output(ctx, rec, "first-try", &said);
        if !done.success() {
            return Ok(Some(format!("fails the check: {}", in_short(&said))));
        }
    }
    Ok(None)
}

/// A session says which one, and knows of neither whose it is.
async fn compared(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    (seen, ours, theirs): (&Arc<Seen>, String, String),
) -> Result<Held, Halt> {
    // By the random end of the firing's id.
    let ours_first = ctx.id.place() < 0.5;
    let filling = Filling {
        two: Some(match ours_first {
            true => (ours, theirs),
            false => (theirs, ours),
        }),
        ..Filling::default()
    };
    let base = placed.place.worktree.base.clone();
    let room = clean_rooms::with_commit(ctx, rec, placed, seen, &base).await?;
    let ask = Ask {
        stage: Stage::DiffReview,
        bench: &room,
        filling: &filling,
        must_change: false,
    };
    let text = session::read_only(ctx, rec, placed, ask).await?;
    let is_ours = Choice::parse(&text).map(|choice| (choice == Choice::First) == ours_first);
    Ok(match is_ours {
        Some(true) => Held::Won("a session that saw both takes it for the better one".to_owned()),
        Some(false) => {
            Held::Lost("a session that saw both takes that for the better one".to_owned())
        }
        None => Held::Lost("the session that saw both did not say which is better".to_owned()),
    })
}
