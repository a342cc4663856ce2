//! The exact text that a person decides about, and what names it.

use std::fmt::Write as _;

use carson_core::{Effect, RepoName};
use carson_store::EffectRow;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Bytes of a hash: whoever writes two texts must not find two with the same.
const HASH: usize = 20;

/// What people read of a plan: all of it. Whoever shows less says where the rest is.
pub(super) fn of_plan(effects: &[EffectRow]) -> String {
    let mut text = String::new();
    let filed = effects.iter().filter_map(|row| match &row.effect {
        Effect::FileIssue {
            title, body, repo, ..
        } => Some((title, body, repo)),
        _ => None,
    });
    for (n, (title, body, repo)) in filed.enumerate() {
        let place = repo.as_ref().map(|repo| format!(" (in {repo})"));
        let _ = writeln!(
            text,
            "{}. {}{}",
            n + 1,
            title.as_str(),
            place.unwrap_or_default()
        );
        for line in body.as_str().trim().lines() {
            let _ = writeln!(text, "   {line}");
        }
    }
    text.trim_end().to_owned()
}

/// Names a plan: all that would be filed, whole, and where.
pub(super) fn hash_of_plan(repo: &RepoName, issue: u64, effects: &[EffectRow]) -> String {
    let mut exact = format!("plan\0{repo}\0{issue}");
    for row in effects {
        if matches!(row.effect, Effect::FileIssue { .. }) {
            exact.push('\0');
            exact.push_str(&serde_json::to_string(&row.effect).unwrap_or_default());
        }
    }
    hash(&exact)
}

/// Names an issue that is to be made.
#[must_use]
pub fn of_issue(repo: &RepoName, title: &str) -> String {
    hash(&format!("issue\0{repo}\0{title}"))
}

fn hash(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash[..HASH]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The id of a new question. Whoever guessed one would still have to be trusted.
#[must_use]
pub fn new_id() -> String {
    Uuid::now_v7().simple().to_string()
}

/// What it is, in a few words.
pub(super) fn what(repo: &RepoName, issue: Option<u64>) -> String {
    match issue {
        Some(issue) => format!("the plan on {repo}#{issue}"),
        None => format!("a new issue in {repo}"),
    }
}
