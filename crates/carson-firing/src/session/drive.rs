//! Runs a prepared session to its end, and watches it.

use std::cell::RefCell;
use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;

use carson_config::Account;
use carson_core::repetition::Circle;
use carson_core::settle::Halt;
use carson_engine::{Access, Ended, Event, SessionEnd, estimate};
use carson_proc::Cancel;
use tokio::sync::Notify;

use super::hook_events::HookEvents;
use super::limit::Seen;
use super::outage;
use super::prepare::Prepared;
use super::stillness;
use crate::ctx::Ctx;
use crate::hook_check;
use crate::placed::Placed;
use crate::record::Record;
use crate::sandboxed_run::Walls;
use carson_bench::sign_in::Lent;
use carson_home::halt::OrBroken;

/// How often somebody looks whether the worktree is still there.
const WATCHED_EVERY: Duration = Duration::from_secs(1);

/// A session that ran.
pub(super) struct Ran<'h> {
    pub account: &'h Account,
    /// The model that was asked for, if one was.
    pub model: Option<String>,
    pub walls: Walls,
    pub hook: hook_check::Program,
    pub watch: Watch,
    pub hook_events: HookEvents,
    pub end: SessionEnd,
}

/// What is kept of a session's events.
#[derive(Default)]
pub(super) struct Watch {
    pub calls: u32,
    pub model: Option<String>,
    pub windows: Vec<Seen>,
}

impl Watch {
    fn observe(&mut self, event: &Event) {
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

/// Runs it. What is known of the worktree is forgotten before a session that writes begins: it may be
/// dropped at any moment, and nobody looks while it runs.
pub(super) async fn drive<'h>(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    prepared: Prepared<'h>,
) -> Result<Ran<'h>, Halt> {
    if prepared.access == Access::Write {
        placed.place.forget();
    }
    let stage = prepared.stage;
    let lent = Lent::lend(ctx.home, prepared.account, ctx.role, &prepared.bench);
    let mut lent = lent.or_broken("copying the sign-in")?;
    rec.count(ctx, |tally| {
        tally.sessions += 1;
        tally.used_of(&prepared.account.name).sessions += 1;
        tally.stages.push(stage);
    })
    .await;
    let firing = ctx.firing();
    if let Err(error) = prepared.keep_prompt(ctx) {
        tracing::warn!(firing.id = %ctx.id, %error, "the prompt could not be kept");
    }
    let session = prepared.session(ctx);
    let mut watch = Watch::default();
    let answered = Notify::new();
    let before = (rec.tally().turns, rec.tally().cost_usd);
    let (count, calls) = tokio::sync::watch::channel(0_u32);
    let mut seen = |event: &Event| {
        tracing::debug!(firing.id = %ctx.id, ?event, "session event");
        watch.observe(event);
        if outage::is_answer(event) {
            answered.notify_one();
        }
        if let Event::ToolCall { name, call } = event {
            count.send_replace(watch.calls);
            ctx.calls(name, call);
        }
        if let Event::Used {
            turns,
            tokens_in,
            tokens_out,
        } = event
        {
            let cost = estimate(watch.model.as_deref(), *tokens_in, *tokens_out);
            let cost = cost.map(|cost| before.1.unwrap_or(0.0) + cost).or(before.1);
            ctx.used(before.0.saturating_add(*turns), cost, true);
        }
    };
    let worktree = placed.place.worktree.clone();
    let still = stillness::circle(prepared.access, &worktree, calls);
    let (stop, circled) = (Cancel::new(), RefCell::new(None));
    let end = tokio::select! {
        end = prepared.engine.run(&session, &stop, &mut seen) => {
            end.map_err(|error| Halt::EngineFailed(error.to_string()))
        }
        // The session ends with this future.
        () = lost(&prepared.tree) => Err(Halt::EngineFailed(format!(
            "the worktree was taken away while the {stage} session ran; what it had committed is kept"
        ))),
        never = lent.keep_in_step(&firing) => match never {},
        never = stopped(ctx, &stop) => match never {},
        never = circles(still, &circled, &stop) => match never {},
        never = outage::hear_first(ctx, prepared.account, &answered) => match never {},
    };
    lent.take_back(&firing).await;
    if let Err(error) = prepared.bench.take_back() {
        tracing::warn!(firing.id = %ctx.id, %error, "what the session was granted stays in the bench until that goes");
    }
    let mut end = end?;
    if end.ended == Ended::Cancelled
        && let Some(circle) = circled.into_inner()
    {
        end.ended = Ended::Circled(circle);
    }
    if let Err(halt) = hook_check::note(ctx, rec, &end) {
        // It never began.
        rec.count(ctx, |tally| {
            tally.sessions -= 1;
            let used = tally.used_of(&prepared.account.name);
            used.sessions = used.sessions.saturating_sub(1);
            tally.stages.pop();
        })
        .await;
        return Err(halt);
    }
    Ok(Ran {
        end,
        hook_events: HookEvents::take(ctx, &prepared.bench).await,
        account: prepared.account,
        model: prepared.engine.model,
        walls: prepared.walls,
        hook: prepared.hook_program,
        watch,
    })
}

/// Passes on that somebody asks the firing to stop.
async fn stopped(ctx: &Ctx<'_>, stop: &Cancel) -> Infallible {
    ctx.cancel.cancelled().await;
    stop.cancel();
    std::future::pending().await
}

/// Stops the session when it goes in circles, and remembers how.
async fn circles(
    circle: impl Future<Output = Circle>,
    circled: &RefCell<Option<Circle>>,
    stop: &Cancel,
) -> Infallible {
    let circle = circle.await;
    // Whoever asked before has stopped it.
    if !stop.is_cancelled() {
        circled.replace(Some(circle));
        stop.cancel();
    }
    std::future::pending().await
}

/// Comes to an end when the worktree is gone: nothing that is done then can be saved.
async fn lost(tree: &Path) {
    while tree.symlink_metadata().is_ok() {
        tokio::time::sleep(WATCHED_EVERY).await;
    }
}
