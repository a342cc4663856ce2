//! How much of a file the tests run, for roles that write tests: measured on the untouched base, to find the
//! file, and once more with the work, in a clean room each time. What is printed there is read by the inspector.
//!
//! The file is one that was changed lately, of which the tests run least. Where sessions have taken it as
//! often as they may, and its tests run no more of it, it is people's.

use std::collections::BTreeSet;
use std::time::Duration;

use carson_config::{CoverageSection, format_duration};
use carson_core::coverage::{Aimed, Covered, CoveredFile, Measured};
use carson_core::settle::Halt;
use carson_core::text::counted;
use carson_core::{Outcome, RepoName, Stage};
use carson_git::{Oid, Seen};
use carson_home::halt::OrBroken;
use carson_proc::inspector::{Bounds, Desk};
use carson_store::Filter;
use chrono::TimeDelta;
use tracing::info;

use super::{scope, verify};
use crate::clean_rooms::{self, Holds};
use crate::coverage_report::ReadCoverage;
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::reached::Aim;
use crate::record::Record;
use crate::room_command::RoomCommand;

/// Bytes of a report, from its head and from its tail: what is longer is not read.
const KEEP: usize = 4 << 20;
/// How long reading it may take.
const WITHIN: Duration = Duration::from_secs(60);
/// Bytes of the end of what it printed, where it failed.
const END: usize = 4 * 1024;
/// Firings of the role that are looked at.
const FIRINGS: u32 = 500;

/// Finds the file, for a role that writes tests.
pub(crate) async fn aim<'r, 'h>(
    ctx: &Ctx<'h>,
    rec: &mut Record,
    placed: Placed<'r, 'h>,
) -> Result<Placed<'r, 'h>, Halt> {
    let Some(asked) = &ctx.role.coverage else {
        return Ok(placed);
    };
    let base = placed.place.worktree.base.clone();
    let span = i64::try_from(asked.since.as_secs()).unwrap_or(i64::MAX);
    let since = ctx.now().timestamp().saturating_sub(span);
    let changed = placed.place.mirror.changed_since(&base, since).await;
    let mut changed = changed.or_broken("reading what was changed lately")?;
    changed.retain(|path| !asked.is_test(path));
    if changed.is_empty() {
        return Err(Halt::NothingNew(format!(
            "nothing but tests was changed in the last {}",
            format_duration(asked.since)
        )));
    }
    let id = format!("role.{}.coverage", ctx.role.name);
    let seen = placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    let report = match measure(ctx, rec, &placed, (&seen, &base), changed.clone()).await? {
        Ok(report) => report,
        Err(why) => {
            let why = format!("the coverage cannot be measured, and no session was paid: {why}");
            return Err(carson_checks::refuse(&mut rec.checks, id, why));
        }
    };
    rec.checks.pass(id);
    let tried = tried(ctx, asked, &placed.taken.repo.name).await?;
    let most = ctx.role.limits.max_work_attempts;
    let file = match lowest(report, &changed, asked, (&tried, most)) {
        Ok(file) => file,
        Err(why) => return Err(Halt::NothingNew(why)),
    };
    info!(firing.id = %ctx.id, file.path = file.path, file.percent = file.covered.percent(), "its tests run least of it");
    placed.place.aim = Some(Aim {
        told: told(&file, asked),
        file: file.path,
        before: file.covered,
        after: None,
    });
    Ok(placed)
}

/// What sessions are told of it.
fn told(file: &CoveredFile, asked: &CoverageSection) -> String {
    let Covered { hit, found } = file.covered;
    let missed = match file.missed_lines() {
        none if none.is_empty() => "the report does not say which".to_owned(),
        lines => lines,
    };
    format!(
        "file: {}\ncovered: {hit} of {found} lines ({} %)\nlines that no test runs: {missed}\nfiles that may \
         change: {}",
        file.path,
        file.covered.percent(),
        asked.tests.join(", ")
    )
}

/// Files that the role's firings took, each time with what was covered then.
async fn tried(
    ctx: &Ctx<'_>,
    asked: &CoverageSection,
    repo: &RepoName,
) -> Result<Vec<(String, Covered)>, Halt> {
    let since = TimeDelta::from_std(asked.since).ok();
    let filter = Filter {
        role: Some(ctx.role.name.clone()),
        since: since.and_then(|since| ctx.now().checked_sub_signed(since)),
        skipped: false,
        outcome: None,
        limit: FIRINGS,
    };
    let rows = ctx.store().firings(&filter).await;
    let rows = rows.or_broken("reading the role's firings")?;
    let spared = [Outcome::Skipped, Outcome::RateLimited, Outcome::Auth];
    let counts = |outcome: Outcome| !spared.contains(&outcome);
    let rows = rows.into_iter().filter(|row| {
        let facts = row.facts.as_ref();
        let says_nothing = facts.is_some_and(carson_core::settle::Facts::spares_the_work);
        row.repo.as_ref() == Some(repo) && row.outcome.is_some_and(counts) && !says_nothing
    });
    let aimed = rows.filter_map(|row| row.facts?.aimed);
    Ok(aimed.map(|aimed| (aimed.file, aimed.before)).collect())
}

/// Of the files that were changed the one that is covered least; why there is none.
fn lowest(
    report: Vec<CoveredFile>,
    changed: &BTreeSet<String>,
    asked: &CoverageSection,
    (tried, most): (&[(String, Covered)], u32),
) -> Result<CoveredFile, String> {
    let since = format_duration(asked.since);
    let mut files = report;
    files.retain(|file| changed.contains(&file.path));
    if files.is_empty() {
        let count = u64::try_from(changed.len()).unwrap_or(u64::MAX);
        let was = counted(count, "file");
        return Err(format!(
            "the coverage report has none of the {was} that changed in the last {since}"
        ));
    }
    files.retain(|file| !file.covered.is_enough(asked.enough));
    if files.is_empty() {
        return Err(format!(
            "every file of the coverage report that changed in the last {since} has {} % or more",
            asked.enough
        ));
    }
    let in_vain = |file: &CoveredFile| {
        let same = |(path, before): &&(String, Covered)| {
            *path == file.path && before.compare(file.covered).is_eq()
        };
        tried.iter().filter(same).count() >= most as usize
    };
    let first = files[0].path.clone();
    files.retain(|file| !in_vain(file));
    // Of those that are covered alike the first one.
    let lowest = files
        .into_iter()
        .min_by(|a, b| a.covered.compare(b.covered));
    lowest.ok_or_else(|| {
        format!(
            "{first} and all others below {} % were taken {most} times within {since}, and their tests run no \
             more of them",
            asked.enough
        )
    })
}

/// What it is with the work, once for each commit; of nothing but tests, else nobody asks.
pub(crate) async fn with_work(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
) -> Result<Measured, Halt> {
    let Some(asked) = &ctx.role.coverage else {
        return Ok(Measured::NotAsked);
    };
    let seen = placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    let Some(aim) = &placed.place.aim else {
        return Ok(Measured::NotAsked);
    };
    let tip = seen.tip();
    if let Some((_, measured)) = aim.after.as_ref().filter(|(commit, _)| commit == tip) {
        return Ok(measured.clone());
    }
    let strays = scope::outside(asked, placed.place, tip).await;
    if seen.facts().commits == 0 || !strays.is_empty() {
        return Ok(Measured::NotAsked);
    }
    ctx.enter(Stage::Verify).await;
    let file = aim.file.clone();
    let wanted = BTreeSet::from([file.clone()]);
    let measured = match measure(ctx, rec, placed, (&seen, tip), wanted).await? {
        Err(why) => Measured::Unable(why),
        Ok(report) => match report.into_iter().find(|one| one.path == file) {
            Some(one) => Measured::Covered(one.covered),
            None => Measured::Unable("the report does not have it any more".to_owned()),
        },
    };
    info!(firing.id = %ctx.id, covered = ?measured, "the coverage was measured with the work");
    if let Some(aim) = &mut placed.place.aim {
        aim.after = Some((tip.clone(), measured.clone()));
    }
    Ok(measured)
}

/// What a session hears whose tests run no more of the file.
pub(super) async fn feedback(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
) -> Result<Option<String>, Halt> {
    let after = with_work(ctx, rec, placed).await?;
    let Some(aim) = placed.place.aim.as_ref() else {
        return Ok(None);
    };
    if after == Measured::NotAsked {
        return Ok(None);
    }
    let aimed = Aimed {
        file: aim.file.clone(),
        before: aim.before,
        after,
    };
    Ok(aimed.risen().err().map(|why| {
        format!("Your tests pass, but {why}. It is measured on what is committed: commit tests that run more of it.")
    }))
}

/// What the report of a commit says of these files; why there is none.
async fn measure(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    (seen, commit): (&Seen, &Oid),
    wanted: BTreeSet<String>,
) -> Result<Result<Vec<CoveredFile>, String>, Halt> {
    let Some(asked) = &ctx.role.coverage else {
        return Ok(Err("the role measures none".to_owned()));
    };
    let holds = Holds::only(commit);
    let room = match clean_rooms::ready(ctx, rec, placed, seen, holds).await? {
        Ok(room) => room,
        Err(said) => {
            verify::keep_output(ctx, rec, "coverage", &said);
            return Ok(Err(verify::in_short(&said)));
        }
    };
    let command = RoomCommand {
        line: &asked.run,
        args: Vec::new(),
        told: &asked.run,
        within: asked.timeout,
        keep: KEEP,
    };
    let done = command.run(ctx, rec, placed, &room).await?;
    let line = ctx.redacted(&asked.run);
    let clean = |text: &str| ctx.redacted(text);
    let (out, err) = (
        done.stdout.text_without(clean),
        done.stderr.text_without(clean),
    );
    let how = verify::how(&done);
    let said = format!("`{line}` {how}\n{}\n{}", end(&out), end(&err));
    verify::keep_output(ctx, rec, "coverage", &said);
    if !done.success() {
        return Ok(Err(verify::in_short(&said)));
    }
    if done.stdout.is_truncated() {
        let most = (2 * KEEP) >> 20;
        let why = format!("`{line}` printed more than the {most} MiB that are read of a report");
        return Ok(Err(why));
    }
    // As it calls itself, and as others see it.
    let roots = [room.seen_tree(), room.tree()].map(|root| root.to_string_lossy().into_owned());
    let question = ReadCoverage {
        text: done.stdout.text(),
        roots: roots.to_vec(),
        wanted,
    };
    let read = read(ctx, seen, question).await;
    Ok(read.map_err(|why| format!("what `{line}` printed is no report: {why}")))
}

async fn read(
    ctx: &Ctx<'_>,
    seen: &Seen,
    question: ReadCoverage,
) -> Result<Vec<CoveredFile>, String> {
    let own = seen.dir().ok_or("the bench is gone")?;
    let desk = Desk {
        own: own.to_owned(),
        ..Desk::default()
    };
    let bounds = Bounds {
        wall_clock: WITHIN,
        memory_mb: 1024,
        file_size_mb: 1,
        answer: 16 << 20,
    };
    let read = ctx.home.inspector.ask(&question, &desk, &bounds).await;
    read.map_err(|error| error.to_string())
}

fn end(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(END))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, hit: u32) -> CoveredFile {
        CoveredFile {
            path: path.to_owned(),
            covered: Covered { hit, found: 10 },
            missed: Vec::new(),
        }
    }

    fn chosen(
        files: &[(&str, u32)],
        changed: &[&str],
        tried: &[(&str, u32)],
    ) -> Result<String, String> {
        let report = files.iter().map(|(path, hit)| file(path, *hit)).collect();
        let changed = changed.iter().map(|path| (*path).to_owned()).collect();
        let tried: Vec<(String, Covered)> = tried
            .iter()
            .map(|(path, hit)| ((*path).to_owned(), file(path, *hit).covered))
            .collect();
        let asked = CoverageSection::default();
        lowest(report, &changed, &asked, (&tried, 2)).map(|file| file.path)
    }

    #[test]
    fn the_least_covered_of_the_changed_files_is_first_and_what_stays_so_is_left() {
        let files = [("a", 5), ("b", 2), ("c", 2), ("d", 0), ("e", 9)];
        let all = ["a", "b", "c", "e", "gone"];
        assert_eq!(chosen(&files, &all, &[]), Ok("b".to_owned()));
        assert_eq!(chosen(&files, &all, &[("b", 2)]), Ok("b".to_owned()));
        assert_eq!(chosen(&files, &all, &[("b", 2); 2]), Ok("c".to_owned()));
        // Somebody has tested more of it since.
        assert_eq!(chosen(&files, &all, &[("b", 1); 2]), Ok("b".to_owned()));
        let why =
            |changed: &[&str], tried: &[(&str, u32)]| chosen(&files, changed, tried).unwrap_err();
        assert!(why(&["e"], &[]).contains("has 90 % or more"));
        assert!(why(&["gone"], &[]).contains("none of the 1 file that changed"));
        assert!(why(&["d", "e"], &[("d", 0); 2]).contains("d and all others below 90 %"));
    }
}
