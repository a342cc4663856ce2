//! A provider that is down: no failure of a role, and no reason for all of them to ask again and again.
//!
//! Sessions that did not reach it are counted for their account, over all roles and hosts
//! (`carson_core::outage`). Enough of them in a row block the account, with one alert. When that block
//! is over one session asks whether the provider is back, and everybody else still waits.

use std::convert::Infallible;
use std::future::pending;

use carson_config::Account;
use carson_core::BlockKind;
use carson_core::outage::IN_A_ROW;
use carson_core::outcome::Severity;
use carson_core::settle::Halt;
use carson_engine::{Ended, Event};
use carson_home::Word;
use tokio::sync::Notify;
use tracing::{info, warn};

use crate::ctx::Ctx;
use crate::forge_text::one_line;

/// What the end of a session says of its provider.
enum Sign<'e> {
    /// It is down, as far as this session can tell: status and message.
    Down(Option<u16>, &'e str),
    /// It answers.
    Answers,
    /// Nothing.
    None,
}

/// Whether an event is an answer of the provider; what a CLI writes of a refusal is none.
pub(super) fn is_answer(event: &Event) -> bool {
    match event {
        Event::ToolCall { .. } => true,
        Event::Used { tokens_out, .. } => *tokens_out > 0,
        _ => false,
    }
}

/// Takes note of the first answer of a running session: whoever waits for that need not wait for its end.
pub(super) async fn hear_first(ctx: &Ctx<'_>, account: &Account, answered: &Notify) -> Infallible {
    answered.notified().await;
    answers(ctx, account).await;
    pending().await
}

/// Takes note of what a session's end says of its account's provider. What the firing halts with when
/// the account is blocked because the provider is down.
pub(super) async fn hear(ctx: &Ctx<'_>, account: &Account, ended: &Ended) -> Option<Halt> {
    match sign(ended) {
        Sign::None => None,
        Sign::Answers => {
            answers(ctx, account).await;
            None
        }
        Sign::Down(status, message) => is_down(ctx, account, status, message).await,
    }
}

fn sign(ended: &Ended) -> Sign<'_> {
    match ended {
        Ended::Unavailable {
            status,
            message,
            outage: true,
            ..
        } => Sign::Down(*status, message),
        // A limit is an answer, too.
        Ended::Completed
        | Ended::MaxTurns
        | Ended::MaxToolCalls
        | Ended::Circled(_)
        | Ended::MaxCost
        | Ended::Limited(_)
        | Ended::Refused { .. }
        | Ended::ApiError {
            status: Some(_), ..
        } => Sign::Answers,
        _ => Sign::None,
    }
}

async fn is_down(
    ctx: &Ctx<'_>,
    account: &Account,
    status: Option<u16>,
    message: &str,
) -> Option<Halt> {
    let status = status.map_or_else(String::new, |status| format!("{status} "));
    let said = one_line(&ctx.redacted(message));
    let why = format!(
        "outage: {IN_A_ROW} sessions in a row did not reach its provider, the last one: {status}{said}"
    );
    let (name, now) = (&account.name, ctx.now());
    let noted = ctx.store().note_unreached(name, ctx.id, &why, now).await;
    let until = noted.unwrap_or_else(|error| {
        warn!(firing.id = %ctx.id, account = %name, %error, "an outage could not be counted");
        None
    })?;
    warn!(firing.id = %ctx.id, account = %name, %until, "the provider is down: the account is blocked");
    Some(Halt::RateLimited {
        account: name.clone(),
        until: Some(until),
        kind: Some(BlockKind::Outage),
        why,
    })
}

async fn answers(ctx: &Ctx<'_>, account: &Account) {
    let name = &account.name;
    let noted = ctx.store().note_reached(name, ctx.now()).await;
    let was_down = noted.unwrap_or_else(|error| {
        warn!(firing.id = %ctx.id, account = %name, %error, "the end of an outage could not be noted");
        false
    });
    if !was_down {
        return;
    }
    info!(firing.id = %ctx.id, account = %name, "the provider answers again");
    let title = format!("Account {name} is free");
    let word = Word {
        severity: Severity::Info,
        title: &title,
        text: "Its provider answers again.",
        role: None,
    };
    ctx.best_effort("the end of an outage", ctx.home.file_word(&word))
        .await;
}
