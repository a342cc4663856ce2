//! The firing's thread in the chat, at every sink.
//!
//! Its root says who works on what from the moment the work is taken, and is changed in place when
//! the firing ends. A changed post notifies nobody, so what else the operator has to know follows as a
//! reply; one that must be seen at once is shown in the channel too. A firing that took no work
//! has one post, if its end is worth any. All of it goes through the outbox.
//!
//! What stops a role or an account is told once, apart from the firing that met it (`state_posts.rs`).
//! A role whose last firing failed is in that state already: its next ones begin no thread, and one
//! that fails again is told by nothing but the breaker, when it opens. `carson firings` has them all.

use carson_core::Outcome;
use carson_core::admission::Spent;
use carson_core::outcome::Severity;
use carson_core::work::WorkKey;
use carson_notify::Message;
use carson_store::{BlockedCall, NewPost, PostKind, StoreError};
use chrono::{DateTime, Utc};

use crate::ctx::Ctx;
use crate::forge_text::one_line;
use crate::reached::Taken;
use crate::record::Record;
use crate::state_posts::{Changes, End};
use carson_checks::Word;
use carson_home::Draft;

/// Blocked calls that are told one by one.
const CALLS_MAX: usize = 5;

/// Files the root. A chat that cannot be told is no reason to stop: the end is told anyway.
pub(crate) async fn begin(ctx: &Ctx<'_>, taken: &Taken<'_>) {
    if ctx.home.fleet.sinks.is_empty() {
        return;
    }
    // A database that does not answer is told as if all were well.
    let before = ctx.store().breaker(&ctx.role.name).await;
    if before.is_ok_and(|before| before.streak > 0) {
        return;
    }
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
    let changes = Changes::by(ctx, end).await?;
    let loud = changes.loudness(end.outcome);
    let summary = summary(ctx, rec, taken, end, loud);
    let calls = ctx.store().blocked_calls(ctx.id).await?;
    let more = more(end, &calls);
    let words = changes.words(ctx);
    let mut posts = Vec::new();
    for sink in &ctx.home.fleet.sinks {
        let mut file = |draft: Draft<'_>| posts.push(ctx.home.post_for(sink.name(), &draft));
        // One that was not there at the beginning has no thread.
        let begun = threads.contains(sink.name());
        if begun {
            file(draft(ctx, PostKind::Update, &summary, end.at));
        }
        let kind = match loud {
            None => None,
            Some(_) if !begun => (!changes.say_it(end.outcome)).then_some(PostKind::Root),
            Some(Severity::Error) => Some(PostKind::Broadcast),
            // The root has all that there is.
            Some(_) => (!more.is_empty()).then_some(PostKind::Reply),
        };
        if let Some((kind, loud)) = kind.zip(loud) {
            let text = match kind {
                PostKind::Reply => more.trim_start().to_owned(),
                _ => format!("{}{more}", summary.text),
            };
            let details = details(ctx, taken, end, loud, text);
            file(draft(ctx, kind, &details, end.at));
        }
        for word in &words {
            file(Draft {
                thread: None,
                ..draft(ctx, PostKind::Root, word, end.at)
            });
        }
    }
    Ok(posts)
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
    let spent = tally.cost_usd.map(|usd| Spent {
        usd,
        estimated: tally.cost_estimated,
    });
    more.extend(spent.map(|spent| ("Cost", spent.to_string())));
    Message {
        severity: loud.or(Some(Severity::Info)),
        title: title(ctx, taken, Some(end.outcome)),
        fields: fields(ctx, taken, more),
        text: end.reason.to_owned() + &pull_line(end),
        link: end.pull.map(|pull| pull.url.clone()),
        role: Some(ctx.role.name.to_string()),
        outcome: Some(end.outcome.to_string()),
    }
}

fn pull_line(end: &End<'_>) -> String {
    end.pull.map_or_else(String::new, |pull| {
        let what = if pull.draft { "Draft" } else { "Pull request" };
        format!("\n{what} #{}", pull.number)
    })
}

/// What the operator needs to act on the end, beside what the root says.
fn more(end: &End<'_>, calls: &[BlockedCall]) -> String {
    let mut text = String::new();
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
    text
}

/// A post on the end that is none of the root.
fn details(
    ctx: &Ctx<'_>,
    taken: Option<&Taken<'_>>,
    end: &End<'_>,
    loud: Severity,
    text: String,
) -> Message {
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
    let title = format!("{} {}", ctx.role.title, word.what);
    let word = carson_home::Word {
        severity: word.severity,
        title: &title,
        text: &word.text,
        role: Some(&ctx.role.name),
    };
    ctx.home.file_word(&word).await
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
