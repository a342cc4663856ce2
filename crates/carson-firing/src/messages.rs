//! What people read on the forge: pull requests and comments.

use carson_core::settle::Settled;
use carson_core::{Outcome, Work};

use crate::firing::{Firing, Taken};
use crate::quote;
use crate::saved::Saved;

/// Firings that are told one by one in the last comment.
const ATTEMPTS_MAX: usize = 10;
/// Longest title that is passed on.
const TITLE_MAX: usize = 200;

/// A title from outside as one line: no line breaks, no control or direction marks, bounded.
pub(crate) fn one_line(title: &str) -> String {
    let clean: String = title
        .chars()
        .map(|c| if is_hidden(c) { ' ' } else { c })
        .collect();
    let words: Vec<&str> = clean.split_whitespace().collect();
    words.join(" ").chars().take(TITLE_MAX).collect()
}

/// Control characters, and the marks that reorder text (Trojan Source, CVE-2021-42574).
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

pub(crate) fn pull_title(work: &Work) -> String {
    let title = one_line(&work.title);
    let number = work.key.number();
    if title.is_empty() {
        format!("Issue {number}")
    } else {
        format!("{title} (#{number})")
    }
}

pub(crate) fn pull_body(firing: &Firing<'_>, taken: &Taken<'_>, settled: &Settled) -> String {
    let mut body = format!(
        "Work on #{}.\n\n- role: {}\n- firing: {}\n- outcome: {}: {}\n",
        taken.work.key.number(),
        firing.role.name,
        firing.id,
        settled.outcome,
        settled.reason,
    );
    let tally = firing.tally();
    if tally.blocked_calls > 0 {
        body.push_str(&format!("- blocked tool calls: {}\n", tally.blocked_calls));
    }
    if settled.outcome != Outcome::Ok {
        body.push_str("\nThis is unfinished work that was saved; it is not ready to be read.\n");
    }
    body.push_str(&quote::last_words(firing));
    body
}

pub(crate) fn forge_note(firing: &Firing<'_>, settled: &Settled, saved: &Saved) -> String {
    let mut note = format!(
        "{} ended as {}: {}",
        firing.role.title, settled.outcome, settled.reason
    );
    if let Some(pull) = &saved.pull {
        note.push_str(&format!("\n\nPull request: {}", pull.url));
    }
    if let Some(kept) = &saved.kept_ref {
        note.push_str(&format!("\n\nKept in Carson's mirror under `{kept}`."));
    }
    for trouble in &saved.trouble {
        note.push_str(&format!("\n\nTrouble: {trouble}"));
    }
    // Beside finished work the pull request says it.
    if settled.outcome != Outcome::Ok {
        note.push('\n');
        note.push_str(&quote::last_words(firing));
    }
    note
}

pub(crate) fn out_of_attempts(attempts: u32, tried: &[String]) -> String {
    let mut text = format!(
        "{attempts} firings took this issue and none finished it. It needs a person: remove the \
         label `needs:human` to let the fleet try again."
    );
    if !tried.is_empty() {
        text.push_str("\n\nWhat was tried:\n");
        // The last ones say most.
        for line in tried.iter().rev().take(ATTEMPTS_MAX).rev() {
            text.push_str(&format!("\n- {line}"));
        }
    }
    text
}

/// One firing that took the issue, in a line.
pub(crate) fn attempt(row: &carson_store::Firing) -> String {
    let outcome = row
        .outcome
        .map_or("?".to_owned(), |outcome| outcome.to_string());
    let reason = one_line(row.reason.as_deref().unwrap_or_default());
    let mut line = format!("{} {outcome}: {reason}", row.id);
    for (what, place) in [
        ("pull request", &row.pr_url),
        ("branch", &row.branch),
        ("kept under", &row.salvage_ref),
    ] {
        if let Some(place) = place {
            line.push_str(&format!("; {what} `{place}`"));
        }
    }
    line
}

/// A pull request was closed: the work is not taken up again by itself.
pub(crate) fn refused(pull: &carson_forge::Pull) -> String {
    format!(
        "Pull request {} for this issue was closed without merging, which reads as a no. Remove \
         the label `needs:human` to let the fleet try once more.",
        pull.url
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_titles_become_one_harmless_line() {
        assert_eq!(one_line("a\nb\t c\u{202e}d\u{0}"), "a b c d");
        assert_eq!(one_line(&"x".repeat(10_000)).len(), TITLE_MAX);
        assert_eq!(one_line("$(rm -rf /)"), "$(rm -rf /)");
    }
}
