//! The firing's thread in the chat.
//!
//! Its root says who works on what from the moment the work is taken, and is changed in place when
//! the firing ends. A changed post notifies nobody, so what the operator has to know follows as a
//! reply; one that must be seen at once is shown in the channel too. A firing that took no work
//! has one post, if its end is worth any. All of it goes through the outbox.

use carson_core::Outcome;
use carson_core::breaker::Thresholds;
use carson_core::outcome::Severity;
use carson_notify::Message;
use carson_store::{BlockedCall, NewPost, PostKind, Store, StoreError};
use chrono::{DateTime, Utc};
use tracing::warn;
use uuid::Uuid;

use crate::firing::{Firing, Taken};
use crate::messages::one_line;
use crate::saved::Saved;

/// Blocked calls that are told one by one.
const CALLS_MAX: usize = 5;

/// How the firing ended, as far as the chat is concerned.
pub(crate) struct End<'e> {
    pub outcome: Outcome,
    pub reason: &'e str,
    pub saved: &'e Saved,
    pub thresholds: Thresholds,
    pub at: DateTime<Utc>,
}

/// Files the root. A chat that cannot be told is no reason to stop: the end is told anyway.
pub(crate) async fn begin(firing: &Firing<'_>, taken: &Taken<'_>) {
    if firing.house.fleet.slack.is_none() {
        return;
    }
    let host = firing.house.fleet.host.to_string();
    let message = Message {
        severity: None,
        title: title(firing, None),
        fields: fields(firing, [("Host", host)]),
        text: "took this work and is on it".to_owned(),
        link: Some(taken.work.url.clone()).filter(|url| !url.is_empty()),
    };
    let post = post(firing, PostKind::Root, message, firing.house.clock.now());
    if let Err(error) = firing.store().file_post(&post).await {
        warn!(firing.id = %firing.id, %error, "the chat could not be told of the work");
    }
}

/// What is to be filed together with the end; nothing for a quiet one.
pub(crate) async fn end(firing: &Firing<'_>, end: &End<'_>) -> Result<Vec<NewPost>, StoreError> {
    if firing.house.fleet.slack.is_none() {
        return Ok(Vec::new());
    }
    let begun = firing.store().has_thread(firing.id).await?;
    let loud = loudness(firing, end).await?;
    let mut posts = Vec::new();
    if begun {
        let message = summary(firing, end, loud);
        posts.push(post(firing, PostKind::Update, message, end.at));
    }
    if let Some(loud) = loud {
        let kind = match (begun, loud) {
            (false, _) => PostKind::Root,
            (true, Severity::Alert) => PostKind::Broadcast,
            (true, _) => PostKind::Reply,
        };
        let calls = firing.store().blocked_calls(firing.id).await?;
        posts.push(post(
            firing,
            kind,
            details(firing, end, loud, &calls),
            end.at,
        ));
    }
    Ok(posts)
}

/// How loud the end is; `None` needs nobody's attention. One wall is told once, and the failure
/// that opens the breaker is the one that must be seen.
async fn loudness(firing: &Firing<'_>, end: &End<'_>) -> Result<Option<Severity>, StoreError> {
    Ok(match end.outcome {
        Outcome::RateLimited if !set_a_block(firing).await? => None,
        Outcome::Skipped | Outcome::Silent => None,
        _ if opens_the_breaker(firing.store(), firing, end).await? => Some(Severity::Alert),
        outcome => outcome.severity(),
    })
}

async fn set_a_block(firing: &Firing<'_>) -> Result<bool, StoreError> {
    let ours = firing.id.to_string();
    let blocks = firing.store().block_rows().await?;
    Ok(blocks.iter().any(|block| block.set_by == ours))
}

async fn opens_the_breaker(
    store: &Store,
    firing: &Firing<'_>,
    end: &End<'_>,
) -> Result<bool, StoreError> {
    let before = store.breaker(&firing.role.name).await?;
    let was_open = before.is_open();
    let claimed_at = firing.claimed_at;
    let after = before.after_firing(claimed_at, end.outcome, end.reason, end.at, end.thresholds);
    Ok(after.is_open() && !was_open)
}

/// The root once the firing has ended.
fn summary(firing: &Firing<'_>, end: &End<'_>, loud: Option<Severity>) -> Message {
    let tally = firing.tally();
    let mut more = vec![("Turns", tally.turns.to_string())];
    more.extend(
        tally
            .cost_usd
            .map(|cost| ("Cost", format!("{cost:.2} USD"))),
    );
    Message {
        severity: loud.or(Some(Severity::Info)),
        title: title(firing, Some(end.outcome)),
        fields: fields(firing, more),
        text: end.reason.to_owned(),
        link: end.saved.pull.as_ref().map(|pull| pull.url.clone()),
    }
}

/// What the operator needs to act on the end.
fn details(firing: &Firing<'_>, end: &End<'_>, loud: Severity, calls: &[BlockedCall]) -> Message {
    let mut text = end.reason.to_owned();
    if loud == Severity::Alert && end.outcome != Outcome::Blocked {
        let role = &firing.role.name;
        text.push_str(&format!(
            "\n`carson why {role}` says whether the role still fires."
        ));
    }
    if let Some(pull) = &end.saved.pull {
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
        title: title(firing, Some(end.outcome)),
        fields: fields(firing, []),
        text,
        link: end.saved.pull.as_ref().map(|pull| pull.url.clone()),
    }
}

/// A word on the role that belongs to no thread.
pub(crate) fn word(firing: &Firing<'_>, severity: Severity, what: &str, text: &str) -> NewPost {
    let host = firing.house.fleet.host.to_string();
    let message = Message {
        severity: Some(severity),
        title: format!("{} {what}", firing.role.title),
        fields: vec![("Host".to_owned(), host)],
        text: text.to_owned(),
        link: None,
    };
    NewPost {
        thread: None,
        ..post(firing, PostKind::Root, message, firing.house.clock.now())
    }
}

fn title(firing: &Firing<'_>, outcome: Option<Outcome>) -> String {
    let mut parts: Vec<String> = outcome.iter().map(Outcome::to_string).collect();
    parts.push(firing.role.title.clone());
    if let Some(taken) = firing.taken() {
        let (number, title) = (taken.work.key.number(), one_line(&taken.work.title));
        parts.push(format!("#{number} {title}"));
    }
    parts.join(" · ")
}

fn fields(
    firing: &Firing<'_>,
    more: impl IntoIterator<Item = (&'static str, String)>,
) -> Vec<(String, String)> {
    let firing_id = ("Firing", firing.id.short());
    let repo = firing
        .taken()
        .map(|taken| ("Repository", taken.repo.name.to_string()));
    let all = [firing_id].into_iter().chain(repo).chain(more);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn post(firing: &Firing<'_>, kind: PostKind, message: Message, at: DateTime<Utc>) -> NewPost {
    let message = message.redacted(&firing.house.redactor);
    NewPost {
        id: Uuid::now_v7(),
        sink: "slack".to_owned(),
        thread: Some(firing.id),
        kind,
        body: serde_json::to_value(&message).unwrap_or_default(),
        created_at: at,
    }
}
