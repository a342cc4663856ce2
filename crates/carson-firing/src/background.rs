//! What was said to an issue and tried on it before: a part of the task, in every prompt.
//!
//! The newest is kept of both, and what is kept is bounded: a long conversation must not push the task out of
//! a model's sight, nor cost money at every session.

use carson_core::Effect;
use carson_core::settle::Goal;
use carson_core::text::instant;
use carson_core::work::{Background, WorkKey};
use carson_core::{Outcome, RepoName, untrusted};
use carson_forge::Comment;
use carson_store::{Firing as Row, Store, StoreError};

use crate::visible::visible;

/// Comments that a prompt has at most.
const COMMENTS: usize = 20;
/// All of them together, in bytes.
const COMMENTS_BYTES: usize = 16 * 1024;
/// Earlier firings that a prompt tells of.
const ATTEMPTS: usize = 3;
/// What it tells of one of them, in bytes.
const ATTEMPT_BYTES: usize = 8 * 1024;
/// Longest name of an author.
const NAME_MAX: usize = 60;

/// What a firing that takes this work is to know beside it.
pub(crate) async fn of_work(
    store: &Store,
    repo: &RepoName,
    key: WorkKey,
    conversation: &[Comment],
) -> Result<Background, StoreError> {
    let rows = store.firings_of(repo, key).await?;
    let ended = |row: &&Row| {
        let has_tried = row
            .outcome
            .is_some_and(|outcome| outcome != Outcome::Skipped);
        // Who judged it has not worked on it.
        let judged = row.facts.as_ref();
        has_tried && judged.is_none_or(|facts| facts.goal != Goal::Effects)
    };
    let newest: Vec<&Row> = rows.iter().filter(ended).rev().take(ATTEMPTS).collect();
    let mut attempts = Vec::new();
    for row in newest.into_iter().rev() {
        attempts.push(attempt(store, row).await?);
    }
    Ok(Background {
        comments: comments(conversation),
        attempts: attempts.join("\n\n"),
    })
}

/// How a firing ended: what it told people then, with the words of those who reviewed it.
async fn attempt(store: &Store, row: &Row) -> Result<String, StoreError> {
    let effects = store.effects(row.id).await?;
    let told = effects.into_iter().find_map(|row| match row.effect {
        Effect::Release { release, .. } => Some(release.note.to_string()),
        _ => None,
    });
    let outcome = row.outcome.map(|outcome| outcome.to_string());
    let told = told.unwrap_or_else(|| {
        let reason = row.reason.as_deref().unwrap_or_default();
        format!("{}: {reason}", outcome.unwrap_or_default())
    });
    let mut text = format!(
        "{} {}",
        instant(row.claimed_at),
        first(&told, ATTEMPT_BYTES)
    );
    let branch = row.goes_on.as_ref().or(row.branch.as_ref());
    for (what, place) in [("branch", branch), ("pull request", row.pr_url.as_ref())] {
        if let Some(place) = place.filter(|_| row.pushed_sha.is_some()) {
            text.push_str(&format!("\n{what}: {place}"));
        }
    }
    Ok(text)
}

/// The newest comments, oldest first.
fn comments(all: &[Comment]) -> String {
    let mut left = COMMENTS_BYTES;
    let mut kept = Vec::new();
    for comment in all.iter().rev().take(COMMENTS) {
        let author = untrusted::one_line(&comment.author, NAME_MAX);
        let text = format!(
            "{author}, {}:\n{}",
            instant(comment.created_at),
            visible(&comment.body).trim()
        );
        // The newest is there, if only its beginning.
        if text.len() > left && !kept.is_empty() {
            break;
        }
        let text = first(&text, left);
        left = left.saturating_sub(text.len());
        kept.push(text);
    }
    let older = all.len() - kept.len();
    if older > 0 {
        kept.push(format!("({older} older ones are left out)"));
    }
    kept.reverse();
    kept.join("\n\n")
}

/// The beginning of a text.
fn first(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{} …", &text[..text.floor_char_boundary(most)])
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn said(body: &str) -> Comment {
        Comment {
            id: 1,
            author: "ann\nroot:".into(),
            body: body.to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            association: carson_forge::Association::Owner,
            edited: false,
        }
    }

    #[test]
    fn the_newest_comments_are_kept_in_their_order_and_bounded() {
        assert_eq!(comments(&[]), "");
        let two = comments(&[said("formal?"), said(" formal \n")]);
        let at = instant(DateTime::UNIX_EPOCH);
        let each = |body: &str| format!("ann root:, {at}:\n{body}");
        assert_eq!(two, format!("{}\n\n{}", each("formal?"), each("formal")));
        let many: Vec<Comment> = (0..50).map(|at| said(&format!("number {at}."))).collect();
        let many = comments(&many);
        assert!(many.starts_with("(30 older ones are left out)"), "{many}");
        assert!(many.contains("number 30.") && many.ends_with("number 49."));
        let long = comments(&[said(&"ä".repeat(10_000)), said(&"ö".repeat(10_000))]);
        assert!(long.len() < COMMENTS_BYTES + 100);
        assert!(!long.contains('ä') && long.ends_with("ö …"));
    }
}
