//! Nothing that holds a secret is pushed.
//!
//! Every commit of the branch is searched, not only what is left at its end: a secret that was
//! added and removed again is in the history that a push publishes.

use std::sync::{Arc, Mutex, PoisonError};

use carson_config::Repo;
use carson_git::{Brought, GitError, Part, matches};
use carson_redact::{KNOWN, Redactor, suspicious};
use serde_json::json;
use tracing::{error, warn};

use crate::firing::{Firing, Place};
use crate::messages::one_line;

/// What is searched of one branch.
const SEARCHED: u64 = 512 * 1024 * 1024;
/// Leaks that are told one by one.
const TOLD: usize = 5;
/// Leaks that are counted.
const COUNTED: usize = 1_000;

/// A secret in what was to be pushed. Its value is nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leak {
    /// The rule that saw it.
    pub rule: &'static str,
    /// The commit, short.
    pub commit: String,
    /// `the file x`, `a file's name` or `the message`.
    pub place: String,
}

/// What a search found.
#[derive(Debug, Default)]
struct Found {
    leaks: Vec<Leak>,
    /// Words of high entropy, and where the first one is: not enough to stop anybody.
    suspicious: u32,
    first: Option<Leak>,
}

/// Searches the branch.
pub(crate) async fn leaks(
    firing: &Firing<'_>,
    place: &Place,
    repo: &Repo,
) -> Result<Vec<Leak>, GitError> {
    let found = Arc::new(Mutex::new(Found::default()));
    let (into, redactor, repo) = (
        Arc::clone(&found),
        firing.house.redactor.clone(),
        repo.clone(),
    );
    let look = move |brought: &Brought<'_>| {
        let mut found = into.lock().unwrap_or_else(PoisonError::into_inner);
        found.look(brought, &redactor, &repo);
    };
    let outgoing = place.worktree.outgoing(SEARCHED, look).await?;
    let mut found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    if outgoing.cut {
        found.leaks.push(Leak {
            rule: "unchecked",
            commit: short(place.worktree.tip().await?.as_str()),
            place: format!("more than {} MB", SEARCHED / 1024 / 1024),
        });
    }
    // A secret of ours is the worst of them, and never a false alarm.
    found.leaks.sort_by_key(|leak| leak.rule != KNOWN);
    note(firing, &found).await;
    Ok(found.leaks)
}

async fn note(firing: &Firing<'_>, found: &Found) {
    for leak in found.leaks.iter().take(TOLD) {
        error!(firing.id = %firing.id, leak.rule, leak.commit, leak.place, "a secret is not pushed");
    }
    let Some(first) = &found.first else { return };
    warn!(firing.id = %firing.id, words = found.suspicious, first.commit, first.place, "something that is pushed may be a secret");
    let data = json!({"words": found.suspicious, "commit": first.commit, "place": first.place});
    firing.event("secret.suspected", &data).await;
}

impl Found {
    fn look(&mut self, brought: &Brought<'_>, redactor: &Redactor, repo: &Repo) {
        let file = match brought.part {
            Part::File(name) => name,
            Part::Message | Part::Name => "",
        };
        let leak = |rule| Leak {
            rule,
            commit: short(brought.commit.as_str()),
            place: match brought.part {
                Part::File(name) => {
                    format!("the file {}", one_line(&redactor.redact(name)))
                }
                Part::Name => "a file's name".to_owned(),
                Part::Message => "the message".to_owned(),
            },
        };
        let findings = redactor.find(brought.text);
        for finding in &findings {
            let value = &brought.text[finding.at.clone()];
            let moved = contains(brought.gone, value);
            let allowed = repo
                .allow_secrets
                .iter()
                .any(|allowed| allowed.rule == finding.rule && matches(&allowed.files, file));
            if (finding.rule == KNOWN || !(moved || allowed)) && self.leaks.len() < COUNTED {
                let leak = leak(finding.rule);
                // One file with ten keys is one thing to look at.
                if !self.leaks.contains(&leak) {
                    self.leaks.push(leak);
                }
            }
        }
        if findings.is_empty() && may_hold_words(file) {
            let words = suspicious_words(brought.text);
            self.suspicious = self.suspicious.saturating_add(words);
            if words > 0 && self.first.is_none() {
                self.first = Some(leak("entropy"));
            }
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

/// Lock files and pictures are made of such words.
fn may_hold_words(file: &str) -> bool {
    const MADE: [&str; 9] = [
        ".lock",
        "-lock.json",
        "-lock.yaml",
        "go.sum",
        ".svg",
        ".map",
        ".min.js",
        ".snap",
        ".csv",
    ];
    !file.is_empty() && !MADE.iter().any(|ending| file.ends_with(ending))
}

fn suspicious_words(text: &[u8]) -> u32 {
    if text.contains(&0) {
        return 0;
    }
    let text = String::from_utf8_lossy(text);
    let words = text.split(|c: char| c.is_whitespace() || "\"'`<>(){}[],;:".contains(c));
    let hash = |word: &&str| !(word.starts_with("sha256-") || word.starts_with("sha512-"));
    let count = words.filter(hash).filter(|word| suspicious(word)).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn short(commit: &str) -> String {
    commit.chars().take(10).collect()
}

/// Why nothing was pushed; `None` when nothing is in the way.
pub(crate) fn told(leaks: &[Leak]) -> Option<String> {
    if leaks.is_empty() {
        return None;
    }
    let one = |leak: &Leak| format!("{} in {} of commit {}", leak.rule, leak.place, leak.commit);
    let all: Vec<String> = leaks.iter().take(TOLD).map(one).collect();
    let more = match leaks.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "the work holds what looks like a secret, and nothing was pushed: {}{more}; a false alarm \
         goes into allow_secrets of the repository as RULE:FILE",
        all.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_names_where_and_which() {
        let leak = |at: usize| Leak {
            rule: "github",
            commit: "0123456789".into(),
            place: format!("the file {at}"),
        };
        assert_eq!(told(&[]), None);
        let said = told(&(0..7).map(leak).collect::<Vec<_>>()).unwrap();
        assert!(said.contains("github in the file 0 of commit 0123456789"));
        assert!(said.contains("the file 4") && !said.contains("the file 5"));
        assert!(said.contains("and 2 more"));
    }

    #[test]
    fn words_of_hashes_are_not_suspicious() {
        let key = "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV";
        assert_eq!(suspicious_words(format!("x = \"{key}\"").as_bytes()), 1);
        let hashes = format!("sha512-{key}== 3f8a1c9e5b7d2046a8c1e3f507294b6d8f0a2c4e \0");
        assert_eq!(suspicious_words(hashes.as_bytes()), 0);
        assert_eq!(
            suspicious_words(hashes.trim_end_matches('\0').as_bytes()),
            0
        );
        assert!(!may_hold_words("package-lock.json") && may_hold_words("src/lock.rs"));
    }
}
