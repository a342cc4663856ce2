//! The firing's thread in the chat, at every sink.
//!
//! Its root says who works on what from the moment the work is taken, and is changed in place when
//! the firing ends. A changed post notifies nobody, so what the operator has to know follows as a
//! reply; one that must be seen at once is shown in the channel too. A firing that took no work
//! has one post, if its end is worth any. All of it goes through the outbox.

use carson_core::Outcome;
use carson_core::breaker::Thresholds;
use carson_core::outcome::Severity;
use carson_core::work::WorkKey;
use carson_notify::Message;
use carson_store::{BlockedCall, NewPost, PostKind, Store, StoreError};
use chrono::{DateTime, Utc};

use crate::ctx::Ctx;
use crate::effects::OpenedPull;
use crate::forge_text::one_line;
use crate::reached::Taken;
use crate::record::Record;
use crate::saved::Saved;
use carson_checks::Word;
use carson_home::Draft;

/// Blocked calls that are told one by one.
const CALLS_MAX: usize = 5;

/// How the firing ended, as far as the chat is concerned.
pub(crate) struct End<'e> {
    pub outcome: Outcome,
    pub reason: &'e str,
    pub saved: &'e Saved,
    pub pull: Option<&'e OpenedPull>,
    pub thresholds: Option<Thresholds>,
    pub at: DateTime<Utc>,
}

/// Files the root. A chat that cannot be told is no reason to stop: the end is told anyway.
pub(crate) async fn begin(ctx: &Ctx<'_>, taken: &Taken<'_>) {
    let host = ctx.home.fleet.host.to_string();
    let message = Message {
        severity: None,
        title: title(ctx, Some(taken), None),
        fields: fields(ctx, Some(taken), [("Host", host)]),
        text: match taken.work.key {
            WorkKey::None => "began".to_owned(),
            _ => "took this work and is on it".to_owned(),
        },
        link: Some(taken.work.url.clone()).filter(|url| !url.is_empty()),
        role: Some(ctx.role.name.to_string()),
        outcome: None,
    };
    let draft = draft(ctx, PostKind::Root, &message, ctx.now());
    ctx.best_effort("the chat's root", ctx.home.file_for_all_sinks(&draft))
        .await;
}

/// What is to be filed together with the end; nothing for a quiet one.
pub(crate) async fn end(
    ctx: &Ctx<'_>,
    rec: &Record,
    taken: Option<&Taken<'_>>,
    end: &End<'_>,
) -> Result<Vec<NewPost>, StoreError> {
    if ctx.home.fleet.sinks.is_empty() {
        return Ok(Vec::new());
    }
    let threads = ctx.store().threads(ctx.id).await?;
    let loud = loudness(ctx, end).await?;
    let summary = summary(ctx, rec, taken, end, loud);
    let details = match loud {
        None => None,
        Some(loud) => {
            let calls = ctx.store().blocked_calls(ctx.id).await?;
            Some((loud, details(ctx, taken, end, loud, &calls)))
        }
    };
    let mut posts = Vec::new();
    for sink in &ctx.home.fleet.sinks {
        // One that was not there at the beginning has no thread.
        let begun = threads.contains(sink.name());
        let mut file = |kind, message| {
            let draft = draft(ctx, kind, message, end.at);
            posts.push(ctx.home.post_for(sink.name(), &draft));
        };
        if begun {
            file(PostKind::Update, &summary);
        }
        match &details {
            None => {}
            Some((_, details)) if !begun => file(PostKind::Root, details),
            Some((Severity::Alert, details)) => file(PostKind::Broadcast, details),
            Some((_, details)) => file(PostKind::Reply, details),
        }
    }
    Ok(posts)
}

/// How loud the end is; `None` needs nobody's attention. One wall is told once, and the failure
/// that opens the breaker is the one that must be seen.
async fn loudness(ctx: &Ctx<'_>, end: &End<'_>) -> Result<Option<Severity>, StoreError> {
    Ok(match end.outcome {
        Outcome::RateLimited | Outcome::Auth if !set_a_block(ctx).await? => None,
        Outcome::Skipped | Outcome::Silent => None,
        _ if opens_the_breaker(ctx.store(), ctx, end).await? => Some(Severity::Alert),
        outcome => outcome.severity(),
    })
}

async fn set_a_block(ctx: &Ctx<'_>) -> Result<bool, StoreError> {
    let ours = ctx.id.to_string();
    let blocks = ctx.store().block_rows().await?;
    Ok(blocks.iter().any(|block| block.set_by == ours))
}

async fn opens_the_breaker(
    store: &Store,
    ctx: &Ctx<'_>,
    end: &End<'_>,
) -> Result<bool, StoreError> {
    let before = store.breaker(&ctx.role.name).await?;
    let was_open = before.is_open();
    let claimed_at = ctx.claimed_at;
    let after = before.after_firing(claimed_at, end.outcome, end.reason, end.at, end.thresholds);
    Ok(after.is_open() && !was_open)
}

/// The root once the firing has ended.
fn summary(
    ctx: &Ctx<'_>,
    rec: &Record,
    taken: Option<&Taken<'_>>,
    end: &End<'_>,
    loud: Option<Severity>,
) -> Message {
    let tally = rec.tally();
    let mut more = vec![("Turns", tally.turns.to_string())];
    more.extend(
        tally
            .cost_usd
            .map(|cost| ("Cost", format!("{cost:.2} USD"))),
    );
    Message {
        severity: loud.or(Some(Severity::Info)),
        title: title(ctx, taken, Some(end.outcome)),
        fields: fields(ctx, taken, more),
        text: end.reason.to_owned(),
        link: end.pull.map(|pull| pull.url.clone()),
        role: Some(ctx.role.name.to_string()),
        outcome: Some(end.outcome.to_string()),
    }
}

/// What the operator needs to act on the end.
fn details(
    ctx: &Ctx<'_>,
    taken: Option<&Taken<'_>>,
    end: &End<'_>,
    loud: Severity,
    calls: &[BlockedCall],
) -> Message {
    let mut text = end.reason.to_owned();
    if loud == Severity::Alert && end.outcome != Outcome::Blocked {
        let role = &ctx.role.name;
        text.push_str(&format!(
            "\n`carson why {role}` says whether the role still fires."
        ));
    }
    if let Some(pull) = end.pull {
        let what = if pull.draft { "Draft" } else { "Pull request" };
        text.push_str(&format!("\n{what} #{}", pull.number));
    }
    if let Some(kept) = &end.saved.kept_ref {
        text.push_str(&format!(
            "\nKept in Carson's store (kept/ in its home) under {kept}"
        ));
    }
    if !calls.is_empty() {
        text.push_str(&format!("\nBlocked calls: {}", calls.len()));
    }
    for call in calls.iter().take(CALLS_MAX) {
        let what = one_line(&call.call);
        text.push_str(&format!("\n• {} ({}): {what}", call.rule, call.tool));
    }
    Message {
        severity: Some(loud),
        title: title(ctx, taken, Some(end.outcome)),
        fields: fields(ctx, taken, []),
        text,
        link: end.pull.map(|pull| pull.url.clone()),
        role: Some(ctx.role.name.to_string()),
        outcome: Some(end.outcome.to_string()),
    }
}

/// A word on the role that belongs to no thread.
pub(crate) async fn word(ctx: &Ctx<'_>, word: &Word) -> Result<(), StoreError> {
    ctx.event(&word.event).await;
    let host = ctx.home.fleet.host.to_string();
    let message = Message {
        severity: Some(word.severity),
        title: format!("{} {}", ctx.role.title, word.what),
        fields: vec![("Host".to_owned(), host)],
        text: word.text.clone(),
        link: None,
        role: Some(ctx.role.name.to_string()),
        outcome: None,
    };
    let now = ctx.home.clock.now();
    let draft = Draft {
        thread: None,
        ..draft(ctx, PostKind::Root, &message, now)
    };
    ctx.home.file_for_all_sinks(&draft).await
}

fn title(ctx: &Ctx<'_>, taken: Option<&Taken<'_>>, outcome: Option<Outcome>) -> String {
    let mut parts: Vec<String> = outcome.iter().map(Outcome::to_string).collect();
    parts.push(ctx.role.title.clone());
    if let Some(taken) = taken {
        let title = one_line(&taken.work.title);
        // A role without work has its own title there.
        if let Some(number) = taken.work.key.number() {
            parts.push(format!("#{number} {title}"));
        }
    }
    parts.join(" · ")
}

fn fields(
    ctx: &Ctx<'_>,
    taken: Option<&Taken<'_>>,
    more: impl IntoIterator<Item = (&'static str, String)>,
) -> Vec<(String, String)> {
    let firing_id = ("Firing", ctx.id.short());
    let repo = taken.map(|taken| ("Repository", taken.repo.name.to_string()));
    let all = [firing_id].into_iter().chain(repo).chain(more);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn draft<'m>(ctx: &Ctx<'_>, kind: PostKind, message: &'m Message, at: DateTime<Utc>) -> Draft<'m> {
    Draft {
        thread: Some(ctx.id),
        kind,
        message,
        at,
    }
}
