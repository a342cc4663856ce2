//! A session of no firing: it reads one prompt in an empty directory, behind the walls of a session that only reads, and
//! says one thing.

use std::time::Duration;

use carson_config::Repo;
use carson_core::Stage;
use carson_core::settle::Halt;
use carson_core::work::WorkKey;
use carson_engine::{Access, Behind, Ended, Event, Hook, Session};

use super::limit;
use crate::ctx::Ctx;
use crate::hook_check;
use crate::record::Record;
use crate::sandboxed_run;
use carson_bench::bench::{Bench, MARKER};
use carson_bench::environment::Wanted;
use carson_bench::hook_command::guarded_hook;
use carson_bench::private_dir;
use carson_bench::proxy::Proxy;
use carson_bench::sign_in::Lent;
use carson_home::engines;
use carson_home::halt::OrBroken;

/// Turns that it has: to think, and to say it.
const TURNS: u32 = 2;
/// Bytes that it may print.
const OUTPUT: u64 = 4 * 1024 * 1024;
/// Time between SIGTERM and SIGKILL for what it may have left running.
const GRACE: Duration = Duration::from_secs(2);

/// What it said, and what it cost.
pub(crate) struct Said {
    pub text: String,
    pub cost_usd: Option<f64>,
}

/// Asks, and removes every trace of it.
///
/// # Errors
/// When it could not be asked, or did not end with words of its own in its time.
pub(crate) async fn ask(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    repo: &Repo,
    (prompt, system): (&str, &str),
) -> Result<Said, Halt> {
    let bench = Bench::of(ctx.home, ctx.id);
    let said = asked(ctx, rec, repo, &bench, (prompt, system)).await;
    rec.close_proxy(ctx).await;
    carson_proc::reap_marked(MARKER, &ctx.id.to_string(), GRACE).await;
    if bench.root.symlink_metadata().is_ok()
        && let Err(error) = bench.remove(ctx.home).await
    {
        ctx.warns(&format!(
            "the judge's directory stays, and `carson prune` removes it: {error}"
        ));
    }
    said
}

async fn asked(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    repo: &Repo,
    bench: &Bench,
    (prompt, system): (&str, &str),
) -> Result<Said, Halt> {
    bench
        .create(ctx.role)
        .or_broken("making the judge's bench")?;
    private_dir(&bench.tree()).or_broken("making the judge's directory")?;
    rec.open_proxy(ctx, &bench.root)?;
    let account = rec.required_account(ctx)?;
    let mirror = ctx.home.mirror(repo);
    let walls = sandboxed_run::walls(ctx, rec, &mirror, bench, Access::Read, "judge")?;
    let missing = || Halt::EngineFailed(format!("the {} CLI is not installed", account.engine));
    let engine = engines::engine_of(ctx.home, account).ok_or_else(missing)?;
    let env = bench.environment(&Wanted {
        home: ctx.home,
        id: ctx.id,
        role: ctx.role,
        account,
        repo: &repo.name,
        protected: &repo.protected,
        work: WorkKey::None,
        branch: "",
        attempt: 0,
        egress: rec.proxy.as_ref().map_or_else(Vec::new, Proxy::variables),
        toolchains: &rec.toolchains,
    });
    let dir = ctx.home.fleet.layout.transcripts(&ctx.id);
    private_dir(&dir).or_broken("making the transcript's folder")?;
    let transcript = dir.join("01-judge.jsonl");
    let command = guarded_hook(&ctx.home.program, ctx.home.path(), ctx.role.hook_failure);
    let first = hook_check::questions(ctx, &bench.seen_tree());
    let hook = Hook {
        command,
        settings_file: bench.hook_settings(),
    };
    let (cwd, wall_clock) = (bench.seen_tree(), ctx.remaining());
    let session = Session {
        stage: Stage::Review,
        access: Access::Read,
        prompt,
        cwd: &cwd,
        env,
        tools: &[],
        servers: None,
        skills: None,
        may_hold_skills: bench.may_hold_skills(),
        max_turns: TURNS,
        max_tool_calls: ctx.role.limits.tool_calls(TURNS),
        max_cost_usd: ctx.role.limits.max_cost_usd,
        wall_clock,
        silence: wall_clock,
        max_output: OUTPUT,
        transcript: &transcript,
        redactor: &ctx.home.redactor,
        confined: Some(Behind {
            profile: walls.profile(),
            first: &first,
        }),
        hook: Some(&hook),
        system,
        clock: &ctx.home.clock,
    };
    let lent = Lent::lend(ctx.home, account, ctx.role, bench).or_broken("copying the sign-in")?;
    let mut unseen = |_: &Event| {};
    let end = engine.run(&session, &ctx.cancel, &mut unseen).await;
    lent.take_back(&ctx.firing()).await;
    let end = end.map_err(|error| Halt::EngineFailed(error.to_string()))?;
    match &end.ended {
        Ended::Completed => Ok(Said {
            text: end.text,
            cost_usd: end.cost_usd,
        }),
        Ended::Limited(limit) => Err(limit::hit(ctx, account, limit, None).await),
        Ended::Unavailable { message, .. } => Err(Halt::Unavailable(message.clone())),
        Ended::MaxTurns => Err(Halt::OutOfTurns),
        Ended::TimedOut(_) => Err(Halt::TimedOut("it was stopped".to_owned())),
        other => Err(Halt::EngineFailed(format!(
            "its session ended otherwise: {other:?}"
        ))),
    }
}
