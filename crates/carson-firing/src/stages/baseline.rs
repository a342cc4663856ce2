//! The checks on the untouched base, before a session is paid.
//!
//! One that cannot be run there at all is the operator's to mend, whatever a session does. One that fails
//! may be what the work is about: the firing goes on, and knows how it failed before. Where sessions on this
//! very work left it failing in that way, none is paid again until it passes or fails in another way.

use carson_checks::{Baseline, BaselineEnd, FAILS, Word, fails_on_base};
use carson_config::Repo;
use carson_core::Event;
use carson_core::outcome::Severity;
use carson_core::settle::{Goal, Halt};
use carson_proc::{Exit, Finished};

use super::verify;
use crate::ctx::Ctx;
use crate::placed::{FailedBefore, Placed};
use crate::record::Record;
use crate::{clean_rooms, roles, thread_posts};
use carson_home::halt::OrBroken;

/// What a shell says of a command that it cannot run: it is no program, or there is none (POSIX.1-2024,
/// Shell Command Language, 2.8.2).
const CANNOT_RUN: [i32; 2] = [126, 127];

/// Whether a shell says so.
pub(super) fn cannot_be_run(done: &Finished) -> bool {
    matches!(done.exit, Exit::Code(code) if CANNOT_RUN.contains(&code))
}

/// Runs it, unless it was run on this base before.
pub(crate) async fn run<'r, 'h>(
    ctx: &Ctx<'h>,
    rec: &mut Record,
    mut placed: Placed<'r, 'h>,
) -> Result<Placed<'r, 'h>, Halt> {
    let repo = placed.taken.repo;
    let Some(run) = ctx.role.checks_line(repo) else {
        return Ok(placed);
    };
    if (roles::kind_of(ctx.role).goal)(ctx.role) != Goal::Commits {
        return Ok(placed);
    }
    let base = placed.place.worktree.base.clone();
    let known = Baseline::known(ctx.home, ctx.role, &repo.name).await;
    let known = known.filter(|known| known.is_of(&run, repo));
    let failed = known.as_ref().map(|known| &known.ended);
    let is_told = matches!(failed, Some(BaselineEnd::Failed(_)));
    let before = known.clone();
    let key = placed.taken.work.key;
    // What was not mended by a session may have been by a person, on this machine or elsewhere.
    let is_of_this =
        |known: &Baseline| known.base == base.as_str() && (ctx.by_hand || !known.is_unmended(key));
    let known = known.filter(is_of_this);
    match known.map(|known| (known.ended, known.said)) {
        Some((BaselineEnd::Passed, _)) => return Ok(placed),
        Some((BaselineEnd::Failed(how), said)) => {
            ctx.warns(&fails_on_base(&repo.name, &said));
            placed.failed_before = Some(FailedBefore { how, said });
            return Ok(placed);
        }
        // What could not be run may have been mended on this machine.
        Some((BaselineEnd::Unable(_), _)) | None => {}
    }
    if !placed.place.bench.stands() && !repo.setup.lines.is_empty() {
        // A room would need the setup once more.
        return Ok(placed);
    }
    let (ended, said) = on_base(ctx, rec, &mut placed).await?;
    let found = Baseline {
        base: base.into(),
        run,
        beside: carson_checks::beside(repo),
        ended: ended.clone(),
        said: said.clone(),
        unmended: before
            .filter(|before| before.ended == ended)
            .map(|before| before.unmended)
            .unwrap_or_default(),
    };
    let in_vain = !ctx.by_hand && found.is_unmended(key);
    let fails = matches!(ended, BaselineEnd::Failed(_));
    if fails {
        tell(ctx, &found, repo, is_told).await;
    }
    // Else the firing after this look would have nothing to tell.
    if !(fails && ctx.is_only_asked) {
        found.keep(ctx.home, ctx.role, &repo.name).await;
    }
    match ended {
        BaselineEnd::Failed(_) if in_vain => {
            let id = format!("role.{}.promise", ctx.role.name);
            let found = fails_on_base(&repo.name, &said);
            let why = format!(
                "{found}; so it did after a session's work, and no other was paid: {FAILS}"
            );
            return Err(carson_checks::refuse(&mut rec.checks, id, why));
        }
        BaselineEnd::Passed => {}
        BaselineEnd::Failed(how) => placed.failed_before = Some(FailedBefore { how, said }),
        BaselineEnd::Unable(why) => {
            let id = format!("role.{}.promise", ctx.role.name);
            return Err(carson_checks::refuse(&mut rec.checks, id, why));
        }
    }
    Ok(placed)
}

/// Notes that sessions have left it failing as it did before them.
pub(super) async fn note_unmended(ctx: &Ctx<'_>, placed: &Placed<'_, '_>, before: &FailedBefore) {
    let (repo, key) = (&placed.taken.repo.name, placed.taken.work.key);
    let known = Baseline::known(ctx.home, ctx.role, repo).await;
    let failed = BaselineEnd::Failed(before.how.clone());
    let Some(mut known) = known.filter(|known| known.ended == failed) else {
        return;
    };
    if !known.unmended.contains(&key) {
        known.unmended.push(key);
    }
    known.keep(ctx.home, ctx.role, repo).await;
}

/// Says that it fails, before anything is paid; in the chat unless that was said of an earlier base.
async fn tell(ctx: &Ctx<'_>, found: &Baseline, repo: &Repo, is_told: bool) {
    let mut text = fails_on_base(&repo.name, &found.said);
    if repo.setup.lines.is_empty() {
        let name = &repo.name;
        text.push_str(&format!(
            "\n(if it lacks what {name} depends on: no `setup` of [repos.{name}] installs it)"
        ));
    }
    ctx.warns(&text);
    if is_told || ctx.is_only_asked {
        return;
    }
    let word = Word {
        event: Event::CheckFailsOnBase {
            repo: repo.name.clone(),
            base: found.base.clone(),
            said: found.said.clone(),
        },
        severity: Severity::Warning,
        what: "works on a base that fails its check",
        text: format!("{text}\nIts sessions go on, and are paid: {FAILS}."),
    };
    ctx.best_effort("a word on the check", thread_posts::word(ctx, &word))
        .await;
}

async fn on_base(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
) -> Result<(BaselineEnd, String), Halt> {
    let ended = in_one_room(ctx, rec, placed).await;
    clean_rooms::make_way(ctx.home, &placed.place.bench).await;
    ended
}

/// All of them in the same one: the base is nobody's work.
async fn in_one_room(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
) -> Result<(BaselineEnd, String), Halt> {
    let base = placed.place.worktree.base.clone();
    let seen = placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    let room = clean_rooms::with_commit(ctx, rec, placed, &seen, &base).await?;
    for check in ctx.role.checks(placed.taken.repo) {
        let done = verify::run(ctx, rec, placed, check, &room).await?;
        if done.success() {
            continue;
        }
        let said = verify::described(ctx, check, &done);
        let short = verify::in_short(&said);
        verify::keep_output(ctx, rec, "base", &said);
        let ended = match cannot_be_run(&done) {
            true => BaselineEnd::Unable(format!(
                "the check cannot be run, and no session was paid: {short}"
            )),
            false => BaselineEnd::Failed(verify::fingerprint(&said, &room).to_string()),
        };
        return Ok((ended, short));
    }
    Ok((BaselineEnd::Passed, String::new()))
}
