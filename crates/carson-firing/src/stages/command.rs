//! A role's command in the place of sessions: it runs in the workspace, behind the same walls.
//!
//! Its exit code decides (DESIGN P4). When it fails, one issue says so, as long as it is open; when it
//! passes, that issue is closed. What it changed is committed there, under the same walls, if the role keeps
//! it, and checked as a session's work is.

use std::time::Duration;

use carson_config::CommandSection;
use carson_core::declared::{Admitted, holds_name};
use carson_core::settle::{Halt, PromiseFact};
use carson_core::text::counted;
use carson_core::{Effect, Page, Sentinel, Stage};
use carson_proc::Finished;
use chrono::TimeDelta;
use tracing::info;

use super::baseline;
use super::execute::{Done, Executed};
use super::verify::{self, Check, Failure};
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::roles::command::topic;
use crate::room_command::RoomCommand;
use carson_home::halt::OrBroken;

/// Bytes of what it printed, from its head and from its tail, that people read.
const KEPT: usize = 4 * 1024;
/// Bytes of its end that the issue has.
const TOLD: usize = 3_500;
/// Commits what it changed; nothing where it changed nothing.
const KEEP: &str =
    r#"git add --all && { git diff --cached --quiet || git commit --quiet --message "$1"; }"#;
/// Takes it away.
const DROP: &str = r#"git reset --quiet --hard "$1" && git clean -ffdq"#;

/// What a command leaves.
pub(crate) enum Ran<'r, 'h> {
    /// Commits, for the checks to judge.
    Changed(Box<Executed<'r, 'h>>),
    /// What people are told on the forge.
    Tells(Vec<Effect>),
}

pub(crate) async fn run<'r, 'h>(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    mut placed: Placed<'r, 'h>,
    command: &CommandSection,
) -> Result<Ran<'r, 'h>, Halt> {
    ctx.enter(Stage::Execute).await;
    let done = run_line(ctx, rec, &placed, command).await?;
    let said = verify::described_line(ctx, &command.run, &done);
    verify::keep_output(ctx, rec, "command", &said);
    let passed = done.success();
    info!(firing.id = %ctx.id, command.passed = passed, "command run");
    if baseline::cannot_be_run(&done) {
        // Nothing is known of what it looks at; the repository's people have nothing to mend.
        let id = format!("role.{}.command", ctx.role.name);
        let why = verify::in_short(&in_the_end(ctx, &done, &command.run));
        return Err(carson_checks::refuse(&mut rec.checks, id, why));
    }
    let kept = command.commit.as_deref().filter(|_| passed);
    tidy(ctx, rec, &mut placed, kept).await?;
    let topic = topic(&ctx.role.name);
    let open = placed.taken.forge.open_issue_about(&topic).await;
    let open = open.or_broken("looking for the issue about it")?;
    let open = open.map(|issue| issue.number);
    if !passed {
        return match open {
            Some(number) => Err(Halt::NothingNew(format!(
                "the command fails, as #{number} says"
            ))),
            None => Ok(Ran::Tells(vec![
                failed(ctx, &placed, topic, &in_the_end(ctx, &done, &command.run)).await?,
            ])),
        };
    }
    let closes = open.map_or_else(Vec::new, |number| closes(ctx, number));
    let seen = placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    if seen.facts().commits > 0 {
        let executed = changed(ctx, rec, placed, closes).await?;
        return Ok(Ran::Changed(Box::new(executed)));
    }
    match closes.is_empty() {
        true => Err(Halt::NothingNew("the command passes".to_owned())),
        false => Ok(Ran::Tells(closes)),
    }
}

async fn run_line(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    command: &CommandSection,
) -> Result<Finished, Halt> {
    let line = RoomCommand {
        line: &command.run,
        args: Vec::new(),
        told: &command.run,
        within: command
            .timeout
            .min(ctx.remaining().saturating_sub(reserve(ctx))),
        keep: KEPT,
    };
    line.run(ctx, rec, placed, &placed.place.bench).await
}

/// What is left of the firing's time for what comes after it.
fn reserve(ctx: &Ctx<'_>) -> Duration {
    (ctx.remaining() / 4).min(Duration::from_secs(60))
}

/// Commits what it changed, or takes it away.
async fn tidy(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    message: Option<&str>,
) -> Result<(), Halt> {
    let (line, arg) = match message {
        Some(message) => (KEEP, message),
        None => (DROP, placed.place.worktree.base.as_str()),
    };
    let command = RoomCommand {
        line,
        args: vec![arg.to_owned()],
        told: "git",
        within: ctx.remaining(),
        keep: KEPT,
    };
    let bench = &placed.place.bench;
    let done = command.run(ctx, rec, placed, bench).await?;
    placed.place.forget();
    if done.success() {
        return Ok(());
    }
    let said = verify::described_line(ctx, "git", &done);
    let why = format!(
        "what the command changed could not be tidied up: {}",
        verify::in_short(&said)
    );
    Err(Halt::Broken(why))
}

/// How it ended, and the end of what it printed.
fn in_the_end(ctx: &Ctx<'_>, done: &Finished, line: &str) -> String {
    let said = verify::printed(ctx, done);
    let said = said.trim();
    let from = said.ceil_char_boundary(said.len().saturating_sub(TOLD));
    let how = ctx.redacted(&format!("`{line}` {}", verify::how(done)));
    match from {
        0 => format!("{how}\n{said}"),
        _ => format!("{how}\n…{}", &said[from..]),
    }
}

/// One issue, unless there were enough today.
async fn failed(
    ctx: &Ctx<'_>,
    placed: &Placed<'_, '_>,
    topic: String,
    said: &str,
) -> Result<Effect, Halt> {
    let grant = &ctx.role.grant;
    let day_ago = ctx.now() - TimeDelta::hours(24);
    let filed = ctx.store().filed_since(&ctx.role.name, day_ago).await;
    let filed = filed.or_broken("counting the role's issues")?;
    let most = grant.issues_per_day * grant.issues.min(1);
    if filed >= most {
        let why = format!(
            "the command fails, and nothing new is said: the role's grant allows {} in 24 hours",
            counted(most, "issue")
        );
        return Err(Halt::NothingNew(why));
    }
    let scrub = &placed.taken.repo.scrub;
    let said = match holds_name(said, scrub) {
        true => "It is not told here: it has a name that never leaves (`scrub`).",
        false => said,
    };
    let body = Page::from("What `")
        .names(&ctx.role.name)
        .says("` runs does not pass on ")
        .names(&placed.place.worktree.base)
        .says(":\n\n")
        .quotes_all(said)
        .says("\nThis issue is closed when it passes again.\n\n- role: ")
        .names(&ctx.role.name)
        .says("\n- firing: ")
        .names(ctx.id)
        .says("\n");
    let label = Some(&grant.issue_label).filter(|label| !label.is_empty());
    Ok(Effect::FileIssue {
        topic: Some(topic),
        repo: None,
        after: Vec::new(),
        title: Page::default().title(&ctx.role.title).says(" fails"),
        body,
        labels: label.into_iter().cloned().collect(),
    })
}

/// It passes again.
fn closes(ctx: &Ctx<'_>, number: u64) -> Vec<Effect> {
    let body = Page::from("It passes again (firing ")
        .names(ctx.id)
        .says(").");
    vec![
        Effect::Comment { on: number, body },
        Effect::CloseIssue { issue: number },
    ]
}

async fn changed<'r, 'h>(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    mut placed: Placed<'r, 'h>,
    closes: Vec<Effect>,
) -> Result<Executed<'r, 'h>, Halt> {
    let (promise, verified) = match verify::check(ctx, rec, &mut placed).await? {
        Check::Passed(commit) => (PromiseFact::Passed, Some(commit)),
        Check::NoPromise | Check::NothingCommitted => (PromiseFact::NotRun, None),
        Check::Failed(Failure { said, .. }) | Check::NotReady(said) => {
            let why = format!("the check failed; {}", verify::in_short(&said));
            return Err(Halt::Exhausted(why));
        }
    };
    let done = Done {
        sentinel: Sentinel::Ok(String::new()),
        promise,
        verified,
        declared: Admitted {
            effects: closes,
            ..Admitted::default()
        },
    };
    Ok(Executed {
        placed,
        plan: None,
        done,
    })
}
