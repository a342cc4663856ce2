//! Structured comments: their first line is for us, the rest for people.

use carson_core::{FiringId, HostName, RoleName};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

use crate::pull_words::NewReview;
use crate::words::{Comment, Issue};

/// A claim older than this is dead: no firing may last so long.
const STALE: TimeDelta = TimeDelta::hours(24);

/// How every first line begins.
const OPENING: &str = "<!-- carson:";

/// Who takes a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The firing.
    pub firing: FiringId,
    /// Its role.
    pub role: RoleName,
    /// Its host.
    pub host: HostName,
    /// When.
    pub at: DateTime<Utc>,
}

impl Claim {
    /// Whether it is older than any firing can be.
    #[must_use]
    pub fn is_stale(&self, now: DateTime<Utc>) -> bool {
        now - self.at >= STALE
    }
}

/// A structured comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Claim(Claim),
    Release {
        firing: FiringId,
        counts: bool,
    },
    /// The issue was given to people: what came before does not count any more.
    HandOver,
}

pub(crate) fn claim_text(claim: &Claim) -> String {
    format!(
        "{OPENING}claim firing={} role={} host={} at={} -->\n{} on {} takes this.",
        claim.firing,
        claim.role,
        claim.host,
        claim.at.to_rfc3339_opts(SecondsFormat::Micros, true),
        claim.role,
        claim.host,
    )
}

pub(crate) fn release_text(claim: &Claim, outcome: &str, counts: bool, note: &str) -> String {
    let outcome: String = outcome
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    format!(
        "{OPENING}release firing={} outcome={outcome} counts={counts} -->\n{}",
        claim.firing,
        defused(note)
    )
}

pub(crate) fn hand_over_text(firing: FiringId, note: &str) -> String {
    format!("{OPENING}hand-over firing={firing} -->\n{}", defused(note))
}

/// The first line of what is made once.
pub(crate) fn note_line(key: &str) -> String {
    format!("{OPENING}note key={} -->", spelled(key))
}

/// A key as a mark has it: letters, digits and `-` as they are, and of all else its number, so that
/// two keys never look alike and none ends the mark.
fn spelled(key: &str) -> String {
    let spell = |c: char| match c.is_ascii_alphanumeric() || c == '-' {
        true => c.to_string(),
        false => format!("_{:x}_", u32::from(c)),
    };
    key.chars().map(spell).collect()
}

pub(crate) fn note_text(key: &str, body: &str) -> String {
    format!("{}\n{}", note_line(key), defused(body))
}

impl Issue {
    /// The line by which the fleet finds an issue that it made.
    fn our_mark(&self) -> Option<&str> {
        let first = self.body.lines().next();
        first.filter(|line| line.starts_with(&format!("{OPENING}note key=")))
    }

    /// Whether the fleet made it. Anybody can write what looks like its mark.
    #[must_use]
    pub fn is_made_by(&self, me: &str) -> bool {
        self.author.eq_ignore_ascii_case(me) && self.our_mark().is_some()
    }

    /// Its text without that line.
    #[must_use]
    pub fn text_below_our_mark(&self) -> &str {
        match self.our_mark() {
            Some(mark) => self.body[mark.len()..].trim_start(),
            None => &self.body,
        }
    }

    /// This text below the line by which the fleet finds an issue that it made, where there is one.
    #[must_use]
    pub fn with_our_mark(&self, body: &str) -> String {
        match self.our_mark() {
            Some(mark) if !body.starts_with(mark) => format!("{mark}\n{body}"),
            _ => body.to_owned(),
        }
    }
}

/// The first line of a review of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReviewMark<'b> {
    key: &'b str,
    pub head: &'b str,
    pub ship: bool,
}

impl<'b> ReviewMark<'b> {
    /// Reads it. What is not to the letter what [`review_text`] writes is none.
    pub fn read(body: &'b str) -> Option<Self> {
        let words: Vec<&str> = inner(body)?.split(' ').collect();
        let &["review", key, head, ship] = &words[..] else {
            return None;
        };
        Some(Self {
            key: key.strip_prefix("key=")?,
            head: head.strip_prefix("head=").filter(|head| is_commit(head))?,
            ship: match ship {
                "ship=yes" => true,
                "ship=no" => false,
                _ => return None,
            },
        })
    }

    pub fn is_of(&self, key: &str) -> bool {
        self.key == spelled(key)
    }
}

/// The text of a review, whose head is a commit.
pub(crate) fn review_text(key: &str, review: &NewReview) -> String {
    let NewReview { head, ship, body } = review;
    let ship = if *ship { "yes" } else { "no" };
    format!(
        "{OPENING}review key={} head={head} ship={ship} -->\n{}",
        spelled(key),
        defused(body)
    )
}

/// Whether this is the whole name of a commit, of SHA-1 or SHA-256: a shorter one could mean another
/// commit later.
pub(crate) fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The text with every line that could pass for one of ours made visible.
pub(crate) fn defused(text: &str) -> String {
    text.replace(OPENING, "&lt;!-- carson:")
}

/// Whether it looks like a structured comment, whoever wrote it.
pub(crate) fn is_mark(comment: &Comment) -> bool {
    is_marked(&comment.body)
}

/// Whether a text begins as one of ours does, whoever wrote it.
pub(crate) fn is_marked(text: &str) -> bool {
    text.trim_start().starts_with(OPENING)
}

/// Whether a forge has the text that we gave it: it may have its own way with the space in it, and lines that could
/// pass for ours were made visible.
#[must_use]
pub fn is_same_text(stands: &str, given: &str) -> bool {
    let (stands, given) = (defused(stands), defused(given));
    stands.split_whitespace().eq(given.split_whitespace())
}

/// What stands in the structured first line of a text.
fn inner(body: &str) -> Option<&str> {
    let line = body.lines().next()?.trim();
    line.strip_prefix(OPENING)?.strip_suffix(" -->")
}

/// Whether a text is one that this firing wrote: a claim, its end, a note, a review.
pub(crate) fn is_of_firing(body: &str, firing: FiringId) -> bool {
    let Some(inner) = inner(body) else {
        return false;
    };
    let id = firing.to_string();
    let mut words = inner.split(' ');
    let value = match words.next() {
        Some("claim" | "release" | "hand-over") => {
            words.find_map(|word| word.strip_prefix("firing="))
        }
        Some("note" | "review") => words.find_map(|word| word.strip_prefix("key=")),
        _ => None,
    };
    value.is_some_and(|value| value == id || value.starts_with(&format!("{id}-")))
}

/// Reads the structured first line of a comment.
pub(crate) fn read(comment: &Comment) -> Option<Mark> {
    let inner = inner(&comment.body)?;
    let mut words = inner.split_whitespace();
    let kind = words.next()?;
    let value = |name: &str| {
        inner
            .split_whitespace()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let firing = value("firing")?.parse().ok()?;
    match kind {
        "claim" => Some(Mark::Claim(Claim {
            firing,
            role: value("role")?.parse().ok()?,
            host: value("host")?.parse().ok()?,
            at: value("at")?.parse().ok()?,
        })),
        "release" => Some(Mark::Release {
            firing,
            counts: value("counts")? == "true",
        }),
        "hand-over" => Some(Mark::HandOver),
        _ => None,
    }
}

/// The claims that nobody has released, earliest first.
pub(crate) fn unreleased(marks: &[Mark]) -> Vec<&Claim> {
    let released = |id: FiringId| {
        let ends = |mark: &Mark| matches!(mark, Mark::Release { firing, .. } if *firing == id);
        marks.iter().any(ends)
    };
    let claims = marks.iter().filter_map(|mark| match mark {
        Mark::Claim(claim) => Some(claim),
        Mark::Release { .. } | Mark::HandOver => None,
    });
    claims.filter(|claim| !released(claim.firing)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "1111111111111111111111111111111111111111";

    #[test]
    fn a_key_is_one_word_and_no_other_key() {
        let keys = [
            "a", "a-", "a b", "a_20_b", "a_b", "a>b", "a\nb", "é", "e\u{301}", "\u{0}",
        ];
        let lines: Vec<String> = keys.iter().map(|key| note_line(key)).collect();
        for (at, line) in lines.iter().enumerate() {
            assert_eq!(line.split(' ').count(), 4, "{line}");
            assert!(line.is_ascii() && !line.contains('\n'), "{line}");
            assert!(!lines[..at].contains(line), "{line}");
        }
        assert_eq!(lines[0], "<!-- carson:note key=a -->");
    }

    #[test]
    fn a_review_is_read_as_it_was_written_and_nothing_else_is() {
        let review = NewReview {
            head: SHA.into(),
            ship: true,
            body: "Fine.".into(),
        };
        let text = review_text("a b", &review);
        let mark = ReviewMark::read(&text).unwrap();
        assert_eq!((mark.head, mark.ship), (SHA, true));
        assert!(mark.is_of("a b") && !mark.is_of("a_20_b") && !mark.is_of("ab"));
        for (from, to) in [
            ("ship=yes", "ship=true"),
            ("ship=yes", ""),
            ("ship=yes", "ship=yes ship=no"),
            ("ship=yes", "ship=no x"),
            ("head=1", "head="),
            ("head=", "head=x"),
            ("review", "note"),
            ("<!-- carson:", "&lt;!-- carson:"),
            ("<!-- carson:", "Look: <!-- carson:"),
            ("<!-- carson:", "\n<!-- carson:"),
            (" -->", ""),
        ] {
            let other = text.replacen(from, to, 1);
            assert_eq!(ReviewMark::read(&other), None, "{other}");
        }
    }

    #[test]
    fn what_a_firing_wrote_is_known_by_its_first_line_alone() {
        let [one, other] = [FiringId::new(), FiringId::new()];
        let claim = Claim {
            firing: one,
            role: "hand".parse().unwrap(),
            host: "box".parse().unwrap(),
            at: DateTime::UNIX_EPOCH,
        };
        let review = NewReview {
            head: SHA.into(),
            ship: true,
            body: "Fine.".into(),
        };
        let all = [
            claim_text(&claim),
            release_text(&claim, "OK", true, "note"),
            hand_over_text(one, "note"),
            note_text(&format!("{one}-3"), "note"),
            note_text(&format!("{one}-red"), "note"),
            review_text(&format!("{one}-0"), &review),
        ];
        for text in &all {
            assert!(
                is_of_firing(text, one) && !is_of_firing(text, other),
                "{text}"
            );
            assert!(!is_of_firing(&defused(text), one), "{text}");
            assert!(!is_of_firing(&format!("Look:\n{text}"), one), "{text}");
        }
        assert!(!is_of_firing(&note_text(&format!("{one}0"), ""), one));
        assert!(!is_of_firing(&note_text("command nightly", ""), one));
    }

    #[test]
    fn a_text_that_was_given_is_known_however_it_is_spaced() {
        let given = "# One\n\n<!-- carson:claim -->\nTwo";
        for stands in [
            given.to_owned(),
            defused(given),
            given.replace('\n', "\r\n"),
        ] {
            assert!(is_same_text(&stands, given), "{stands}");
        }
        assert!(is_same_text(" ", "") && !is_same_text("One", given));
        assert!(!is_same_text(&given.to_uppercase(), given));
    }

    #[test]
    fn a_commit_is_named_whole() {
        assert!(is_commit(SHA) && is_commit(&"aF".repeat(32)));
        for text in ["", "1", &SHA[1..], &"1".repeat(41), &"x".repeat(40)] {
            assert!(!is_commit(text), "{text}");
        }
    }
}
