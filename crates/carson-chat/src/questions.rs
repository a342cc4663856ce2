//! Questions that wait are asked in the chat, until it has them; and those that can be answered no more lose their
//! buttons, whoever decided them and by whichever way. Both are read from the rows, each time anew.

use std::time::Duration;

use carson_core::Event;
use carson_core::outcome::Severity;
use carson_home::{Home, Word};
use carson_notify::slack::spot;
use carson_notify::{Chat, PostError};
use carson_operator::plans::CANNOT_BE_ASKED;
use carson_store::{ApprovalRow, StoreError};
use chrono::{DateTime, TimeDelta, Utc};
use tracing::{info, warn};

use crate::newest::Newest;
use crate::post::{Post, Room, parts};

/// How often it is looked: two questions to the rows, each by an index that holds nothing where nothing waits.
const EVERY: Duration = Duration::from_secs(5);
/// The first wait after a failure; it doubles.
const FIRST: TimeDelta = TimeDelta::seconds(5);
/// The wait once the chat counts as one that cannot be asked: it is asked on.
const SELDOM: TimeDelta = TimeDelta::minutes(2);
/// How long a question waits for the post that begins its thread.
const HEAD: TimeDelta = TimeDelta::minutes(1);
/// A chat allows one post a second in a channel.
const PACE: Duration = Duration::from_millis(1_100);
/// The sink whose threads these are.
const SINK: &str = "slack";

/// What Slack says of a post that cannot be changed any more, such as one that somebody has deleted.
const NO_POST: [&str; 3] = [
    "message_not_found",
    "cant_update_message",
    "edit_window_closed",
];

/// Looks again and again.
pub(crate) async fn keep(newest: &Newest, chat: &Chat) {
    loop {
        let home = newest();
        let looked = async {
            ask(&home, chat).await?;
            strip(&home, chat).await
        };
        if let Err(error) = looked.await {
            warn!(%error, "what waits for an answer cannot be read");
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Asks what waits and is due.
pub(crate) async fn ask(home: &Home, chat: &Chat) -> Result<(), StoreError> {
    let now = home.clock.now();
    for row in home.store.open_approvals().await? {
        let waits = row.decision.is_none() && row.post.is_none() && now < row.expires_at;
        if waits && is_due(&row, now) {
            ask_one(home, chat, &row).await?;
        }
    }
    Ok(())
}

/// Takes the buttons off what can be answered no more and is due.
pub(crate) async fn strip(home: &Home, chat: &Chat) -> Result<(), StoreError> {
    let now = home.clock.now();
    for row in home.store.approvals_with_buttons(now).await? {
        if is_due(&row, now) {
            strip_one(home, chat, &row).await?;
        }
    }
    Ok(())
}

/// Takes the buttons off one; what fails is tried again.
pub(crate) async fn strip_one(
    home: &Home,
    chat: &Chat,
    row: &ApprovalRow,
) -> Result<(), StoreError> {
    let done = async { Room::open(chat)?.answered(row).await }.await;
    let now = home.clock.now();
    match done {
        Ok(()) => home.store.approval_is_bare(&row.id, now).await,
        Err(PostError::Permanent(why)) if NO_POST.contains(&why.as_str()) => {
            info!(repo = %row.repo, why, "the post of a question is there no more");
            home.store.approval_is_bare(&row.id, now).await
        }
        Err(error) => {
            let why = error.to_string();
            let failures = home.store.approval_not_asked(&row.id, &why, now).await?;
            warn!(repo = %row.repo, failures, why, "the buttons of a question stay where they are");
            Ok(())
        }
    }
}

/// Whether the chat is to be tried with it now.
fn is_due(row: &ApprovalRow, now: DateTime<Utc>) -> bool {
    let wait = match row.failures {
        0 => return true,
        few if few < CANNOT_BE_ASKED => FIRST * 2_i32.pow(few - 1),
        _ => SELDOM,
    };
    row.tried_at.is_none_or(|tried| tried + wait <= now)
}

async fn ask_one(home: &Home, chat: &Chat, row: &ApprovalRow) -> Result<(), StoreError> {
    let thread = match row.plan {
        Some((firing, _)) => home.store.thread_ts(SINK, firing).await?,
        None => None,
    };
    if thread.is_none() && row.head.is_none() && begins_soon(home, row).await? {
        return Ok(());
    }
    match asked(home, chat, row, thread).await? {
        Ok((channel, ts)) => {
            let now = home.clock.now();
            home.store
                .approval_asked(&row.id, (&channel, &ts), now)
                .await?;
            info!(repo = %row.repo, "a question is asked in the chat");
        }
        Err(error) => not_asked(home, row, &error.to_string()).await?,
    }
    Ok(())
}

/// Posts what comes before it, as far as that is not there yet, and the question behind it. Without a thread, the first
/// post begins one.
async fn asked(
    home: &Home,
    chat: &Chat,
    row: &ApprovalRow,
    thread: Option<String>,
) -> Result<Result<Post, PostError>, StoreError> {
    let room = match Room::open(chat) {
        Ok(room) => room,
        Err(error) => return Ok(Err(error)),
    };
    let mut thread = row.head.clone().or(thread);
    let mut before = parts(row);
    before.pop();
    for (n, blocks) in (1..).zip(before).skip(row.told as usize) {
        let place = (room.channel.as_str(), thread.as_deref().map(ts));
        match room.tell(row, blocks, place).await {
            Ok((channel, ts)) => drop(thread.get_or_insert(format!("{channel}:{ts}"))),
            Err(error) => return Ok(Err(error)),
        }
        home.store
            .approval_told(&row.id, n, thread.as_deref())
            .await?;
        tokio::time::sleep(PACE).await;
    }
    let place = (room.channel.as_str(), thread.as_deref().map(ts));
    Ok(room.ask(row, place).await)
}

fn ts(posted: &str) -> &str {
    spot(posted).1
}

/// Whether whoever wants it asked asks it now, or the thread of its firing is on its way to the chat: above its head
/// it would stand alone.
async fn begins_soon(home: &Home, row: &ApprovalRow) -> Result<bool, StoreError> {
    if home.clock.now() >= row.asked_at + HEAD {
        return Ok(false);
    }
    match row.plan {
        Some((firing, _)) => home.store.has_posts_for(SINK, firing).await,
        None => Ok(true),
    }
}

/// Never a yes, and never silence: after five times in a row it is told wherever else it can be.
async fn not_asked(home: &Home, row: &ApprovalRow, why: &str) -> Result<(), StoreError> {
    let now = home.clock.now();
    let failures = home.store.approval_not_asked(&row.id, why, now).await?;
    warn!(repo = %row.repo, failures, why, "a question cannot be asked in the chat");
    if failures != CANNOT_BE_ASKED {
        return Ok(());
    }
    let (what, decides) = match row.issue {
        Some(issue) => (
            format!("the plan on {}#{issue}", row.repo),
            format!("carson approve {issue} --repo {}", row.repo),
        ),
        None => (
            format!("a new issue in {}", row.repo),
            "carson plans".to_owned(),
        ),
    };
    let event = Event::ApprovalCannotBeAsked {
        what: what.clone(),
        why: why.to_owned(),
    };
    let firing = row.plan.map(|(firing, _)| firing);
    home.store.event(&event, None, firing, now).await?;
    let text = format!(
        "{what} waits, and the chat did not take the question: {why}. `{decides}` decides it."
    );
    let word = Word {
        severity: Severity::Error,
        title: "A question cannot be asked in the chat",
        text: &text,
        role: None,
    };
    home.file_word(&word).await
}
