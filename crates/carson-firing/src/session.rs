//! The only place that runs an agent CLI.
//!
//! Before every session the account's block flag is read again; after it, what it used and what
//! was denied goes to the row. A provider limit sets the flag before anything else happens, so
//! that no other firing walks into the same wall.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_config::Account;
use carson_core::admission::{SkipReason, admit_account};
use carson_core::settle::Halt;
use carson_core::{EngineKind, Stage};
use carson_engine::{Access, Ended, Engine, Event, Hook, Session, SessionEnd};
use carson_store::Stopped;
use tracing::{info, warn};

use crate::bench::{Bench, guarded_hook};
use crate::confine::{self, Walls};
use crate::egress;
use crate::environment::Wanted;
use crate::failover;
use crate::firing::Firing;
use crate::hook_events::HookEvents;
use crate::household::Household;
use crate::limit::{self, Seen};
use crate::money;
use crate::prompt::{self, Filling};
use crate::retry;
use crate::sign_in::Lent;
use crate::stages::OrBroken;
use crate::stages::workspace::Placed;
use crate::usage;

/// Most blocked calls of one session that are noted; more say nothing new.
const MAX_NOTED: usize = 50;

/// How often somebody looks whether the worktree is still there.
const WATCHED_EVERY: Duration = Duration::from_secs(1);

/// How an execute session ended, when it did not end the firing.
pub(crate) enum ExecuteEnd {
    /// With a final text.
    Said(String),
    /// At its turn ceiling.
    OutOfTurns,
}

/// Runs a plan, review, revise or diff-review session: read-only, its final text is the answer.
pub(crate) async fn read_only(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    bench: &Bench,
    stage: Stage,
    filling: &Filling,
) -> Result<String, Halt> {
    let end = run(firing, placed, bench, stage, filling).await?;
    match end.ended {
        Ended::MaxTurns => Err(Halt::OutOfTurns),
        _ => Ok(end.text),
    }
}

/// Runs an execute session: full trust, behind the hook.
pub(crate) async fn execute(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    filling: &Filling,
) -> Result<ExecuteEnd, Halt> {
    let bench = &placed.place.bench;
    let end = run(firing, placed, bench, Stage::Execute, filling).await;
    // Whatever was known of the worktree is old.
    placed.place.forget();
    let end = end?;
    Ok(match end.ended {
        Ended::MaxTurns => ExecuteEnd::OutOfTurns,
        _ => ExecuteEnd::Said(end.text),
    })
}

/// The complete environment of a session, or of the promise, that works in this bench or room.
pub(crate) fn environment(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    bench: &Bench,
    attempt: u32,
) -> Result<Vec<(OsString, OsString)>, Halt> {
    let account = account(firing)?;
    Ok(bench.environment(&Wanted {
        house: firing.house,
        id: firing.id,
        role: firing.role,
        account,
        repo: &placed.taken.repo.name,
        protected: &placed.taken.repo.protected,
        work: placed.taken.work.key.number(),
        branch: placed.brief.branch,
        attempt,
        egress: firing.way_out.variables(),
    }))
}

pub(crate) fn account<'h>(firing: &Firing<'h>) -> Result<&'h Account, Halt> {
    firing
        .account()
        .ok_or_else(|| Halt::Broken("the role's account is gone".into()))
}

async fn run(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    bench: &Bench,
    stage: Stage,
    filling: &Filling,
) -> Result<SessionEnd, Halt> {
    firing.enter(stage).await;
    let prompt = prompt::render(firing.role, stage, &placed.brief, filling)
        .map_err(|error| Halt::Broken(error.to_string()))?;
    let hook = guarded_hook(&firing.house.program, firing.role.hook_failure);
    let before = firing.tally().sessions;
    loop {
        may_start(firing).await?;
        let account = account(firing)?;
        let walls = confine::walls(firing, placed, bench, access(stage), stage.as_str())?;
        let mut watch = Watch::default();
        let started = start(
            firing,
            placed,
            bench,
            stage,
            filling.attempt,
            account,
            &prompt,
            &hook,
            &walls,
            &mut watch,
        );
        let end = started.await?;
        let events = HookEvents::take(firing, bench).await;
        confine::note(firing, &walls, end.exit, &end.said).await?;
        note(firing, placed, stage, account, &watch, &end).await;
        limit::note_windows(firing, account, watch.windows).await;
        egress::record(firing).await;
        let told = account.engine != EngineKind::Command;
        events.report(firing, placed, &hook, told).await;
        if retry::again(firing, placed, stage, &end.ended, watch.calls).await? {
            continue;
        }
        match judge(firing, account, stage, end).await {
            // Only the first session of a firing moves on: later ones would lose what was done.
            Err(Halt::RateLimited { .. })
                if before == 0 && failover::moves_on(firing, placed, account).await =>
            {
                // Another account may have another provider, and a key of its own.
                egress::end(firing).await;
                egress::begin(firing, self::account(firing)?, &placed.place.bench.root)?;
            }
            judged => return judged,
        }
    }
}

/// What is kept of a session's events.
#[derive(Default)]
struct Watch {
    calls: u32,
    model: Option<String>,
    windows: Vec<Seen>,
}

impl Watch {
    fn see(&mut self, event: &Event) {
        match event {
            Event::ToolCall { .. } => self.calls += 1,
            Event::Started { model } => self.model.clone_from(model),
            Event::LimitWarning {
                window,
                utilization: Some(utilization),
                resets_at,
            } => self.windows.push(Seen {
                name: window.clone(),
                utilization: *utilization,
                resets_at: *resets_at,
            }),
            _ => {}
        }
    }
}

/// The stops that are checked before every session.
async fn may_start(firing: &Firing<'_>) -> Result<(), Halt> {
    if firing.cancel.is_cancelled() {
        return Err(Halt::Cancelled);
    }
    if firing.remaining().is_zero() {
        return Err(Halt::TimedOut("the wall clock ran out".into()));
    }
    if money::left(firing).await?.is_some_and(|left| left <= 0.0) {
        // Before the first session it is others who spent it: the work has nothing to do with it.
        return Err(match firing.tally().sessions {
            0 => Halt::Skipped(SkipReason::Budget("others spent it meanwhile".into())),
            _ => Halt::OutOfMoney,
        });
    }
    let account = &account(firing)?.name;
    let blocks = firing
        .store()
        .blocks()
        .await
        .or_broken("reading the block flags")?;
    let now = firing.house.clock.now();
    match admit_account(std::slice::from_ref(account), &blocks, now) {
        Ok(_) => Ok(()),
        Err(reason) if firing.tally().sessions == 0 => Err(Halt::Skipped(reason)),
        Err(_) => {
            let until = blocks.iter().find(|block| block.account == *account);
            Err(Halt::RateLimited {
                account: account.clone(),
                until: until.and_then(|block| block.until),
                why: until.map(|block| block.reason.clone()).unwrap_or_default(),
            })
        }
    }
}

/// Only the execute stage writes.
fn access(stage: Stage) -> Access {
    if stage == Stage::Execute {
        Access::Write
    } else {
        Access::Read
    }
}

#[expect(clippy::too_many_arguments, reason = "what one session is made of")]
async fn start(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    bench: &Bench,
    stage: Stage,
    attempt: u32,
    account: &Account,
    prompt: &str,
    hook: &str,
    walls: &Walls,
    watch: &mut Watch,
) -> Result<SessionEnd, Halt> {
    let engine = engine(firing, account)?;
    let role = firing.role;
    let tree = bench.tree();
    let access = access(stage);
    let transcript = transcript(firing, stage).or_broken("making the transcript's folder")?;
    let hook = Hook {
        command: hook.to_owned(),
        settings_file: bench.hook_settings(),
    };
    let money = money::left(firing).await?;
    let lent = Lent::lend(firing.house, account, role, bench);
    let mut lent = lent.or_broken("copying the sign-in")?;
    let mut env = environment(firing, placed, bench, attempt)?;
    let run = 1 + firing
        .tally()
        .stages
        .iter()
        .filter(|done| **done == stage)
        .count();
    env.push(("CARSON_STAGE_RUN".into(), run.to_string().into()));
    let session = Session {
        stage,
        access,
        prompt,
        cwd: &tree,
        env,
        tools: if access == Access::Write {
            &role.tools.write
        } else {
            &role.tools.read
        },
        max_turns: placed.brief.max_turns(stage),
        max_cost_usd: money.map(|left| left.max(0.0)),
        wall_clock: firing.remaining(),
        silence: role.limits.silence,
        max_output: role.limits.max_output_mb * 1024 * 1024,
        transcript: &transcript,
        redactor: &firing.house.redactor,
        confined: Some(walls.profile()),
        hook: Some(&hook),
        system: &prompt::system(role),
        clock: &firing.house.clock,
    };
    firing
        .count(|tally| {
            tally.sessions += 1;
            tally.stages.push(stage);
        })
        .await;
    let mut seen = |event: &Event| {
        tracing::debug!(firing.id = %firing.id, ?event, "session event");
        watch.see(event);
    };
    let end = tokio::select! {
        end = engine.run(&session, &firing.cancel, &mut seen) => {
            end.map_err(|error| Halt::EngineFailed(error.to_string()))
        }
        // The session ends with this future.
        () = lost(&tree) => Err(Halt::EngineFailed(format!(
            "the worktree was taken away while the {stage} session ran; what it had committed is kept"
        ))),
        never = lent.keep_in_step(firing) => match never {},
    };
    lent.take_back(firing).await;
    end
}

/// Comes to an end when the worktree is gone: nothing that is done then can be saved.
async fn lost(tree: &Path) {
    while tree.symlink_metadata().is_ok() {
        tokio::time::sleep(WATCHED_EVERY).await;
    }
}

pub(crate) fn engine(firing: &Firing<'_>, account: &Account) -> Result<Engine, Halt> {
    let missing = || Halt::EngineFailed(format!("the {} CLI is not installed", account.engine));
    engine_of(firing.house, account).ok_or_else(missing)
}

/// The account's CLI, when it is installed.
pub(crate) fn engine_of(house: &Household, account: &Account) -> Option<Engine> {
    Some(engine_at(house.engine_program(account)?, account))
}

/// The account's CLI as if it were installed there.
pub(crate) fn engine_at(program: PathBuf, account: &Account) -> Engine {
    Engine {
        kind: account.engine,
        program,
        args: account.args.clone(),
        model: account.model.clone(),
        script: account.script.clone(),
        limits: account.limits.as_deref().and_then(|name| name.parse().ok()),
    }
}

/// One file a session, numbered in their order.
fn transcript(firing: &Firing<'_>, stage: Stage) -> std::io::Result<PathBuf> {
    let dir = firing.house.fleet.home.transcripts(&firing.id);
    crate::bench::private_dir(&dir)?;
    Ok(dir.join(format!("{:02}-{stage}.jsonl", firing.tally().sessions + 1)))
}

async fn note(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    stage: Stage,
    account: &Account,
    watch: &Watch,
    end: &SessionEnd,
) {
    info!(firing.id = %firing.id, session.ended = ?end.ended, session.turns = end.turns, "session ended");
    // What the CLI's own tool rules refused is part of a session's normal life; what the hook
    // stopped is not.
    let blocked = end.denied.iter().filter(|denied| denied.by_hook).count();
    let blocked = u32::try_from(blocked).unwrap_or(u32::MAX);
    let model = watch.model.as_deref().or(account.model.as_deref());
    let used = usage::of(firing, placed, stage, model, end).await;
    firing
        .count(|tally| {
            tally.turns = tally.turns.saturating_add(used.turns);
            tally.tokens_in = tally.tokens_in.saturating_add(used.tokens_in);
            tally.tokens_out = tally.tokens_out.saturating_add(used.tokens_out);
            tally.blocked_calls += blocked;
            if !end.text.trim().is_empty() {
                tally.last_words.insert(stage, end.text.clone());
            }
            if let Some(cost) = used.cost_usd {
                tally.cost_estimated |= end.cost_usd.is_none();
                tally.cost_usd = Some(tally.cost_usd.unwrap_or(0.0) + cost);
            }
        })
        .await;
    if end.leaked > 0 {
        left_behind(firing, stage, end.leaked).await;
    }
    let stopped = end.denied.iter().take(MAX_NOTED).map(|denied| Stopped {
        rule: denied.reason.clone(),
        tool: denied.tool.clone(),
        call: denied.call.clone(),
    });
    note_stopped(firing, stopped.collect()).await;
}

/// Notes tool calls that were stopped, as many as anybody reads.
pub(crate) async fn note_stopped(firing: &Firing<'_>, stopped: Vec<Stopped>) {
    let now = firing.house.clock.now();
    let noted = firing
        .store()
        .add_blocked_calls(firing.id, &stopped, now)
        .await;
    if let Err(error) = noted {
        warn!(firing.id = %firing.id, %error, "blocked calls could not be noted");
    }
}

/// Says in the record that a session did not clean up behind itself; what was left is dead.
async fn left_behind(firing: &Firing<'_>, stage: Stage, leaked: u32) {
    let data = serde_json::json!({"stage": stage, "processes": leaked});
    firing.event("session.left_behind", &data).await;
}

async fn judge(
    firing: &Firing<'_>,
    account: &Account,
    stage: Stage,
    end: SessionEnd,
) -> Result<SessionEnd, Halt> {
    match &end.ended {
        Ended::Completed | Ended::MaxTurns => Ok(end),
        Ended::MaxCost => Err(Halt::OutOfMoney),
        Ended::Limited(limit) => Err(limit::hit(firing, account, limit).await),
        Ended::TimedOut(reason) => Err(Halt::TimedOut(format!(
            "the {stage} session was stopped: {reason:?}"
        ))),
        Ended::OutputCap => Err(Halt::EngineFailed(format!(
            "the {stage} session printed more than {} MB",
            firing.role.limits.max_output_mb
        ))),
        Ended::Cancelled => Err(Halt::Cancelled),
        Ended::Unavailable {
            status, message, ..
        } => {
            let status = status.map_or(String::new(), |status| format!("{status} "));
            Err(Halt::Unavailable(format!("{stage}: {status}{message}")))
        }
        Ended::ApiError { status, message } => {
            let status = status.map_or(String::new(), |status| format!("{status} "));
            Err(Halt::EngineFailed(format!("{stage}: {status}{message}")))
        }
        Ended::Crashed { exit, message } => Err(Halt::EngineFailed(format!(
            "{stage}: the CLI ended with {exit:?}: {message}"
        ))),
    }
}
