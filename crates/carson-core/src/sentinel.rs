//! The one line by which a session ends.
//!
//! Control flow reads nothing else that a model wrote. The rules (DESIGN §6): the *last* line
//! outside code fences that begins with a known token counts; a token of the wrong family for the
//! stage does not count; no such line at all is `None`, never a guess.

use serde::{Deserialize, Serialize};

/// How a plan, revise or execute session ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sentinel {
    /// Done.
    Ok(String),
    /// Some of it is done; the rest of the line says what remains.
    Partial(String),
    /// Something stood in the way.
    Blocked(String),
    /// There was nothing to do.
    Silent,
    /// It was done before; the text is meant to be `file:line`.
    AlreadyDone(String),
}

/// How a review or diff-review session ends; the findings stand above the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Go on.
    Approve,
    /// Go on after the findings are answered.
    Revise,
    /// Do not go on.
    Reject,
}

impl Sentinel {
    /// Reads the sentinel out of a session's final text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        last_token(text, |token, rest| {
            Some(match token {
                "OK" => Self::Ok(rest.to_owned()),
                "PARTIAL" => Self::Partial(rest.to_owned()),
                "BLOCKED" => Self::Blocked(rest.to_owned()),
                "SILENT" => Self::Silent,
                "ALREADY-DONE" => Self::AlreadyDone(rest.to_owned()),
                _ => return None,
            })
        })
    }

    /// The token as it stands in a session's last line.
    #[must_use]
    pub fn token(&self) -> &'static str {
        match self {
            Self::Ok(_) => "[OK]",
            Self::Partial(_) => "[PARTIAL]",
            Self::Blocked(_) => "[BLOCKED]",
            Self::Silent => "[SILENT]",
            Self::AlreadyDone(_) => "[ALREADY-DONE]",
        }
    }

    /// What the session wrote behind the token.
    #[must_use]
    pub fn note(&self) -> &str {
        match self {
            Self::Ok(note) | Self::Partial(note) | Self::Blocked(note) => note,
            Self::AlreadyDone(reference) => reference,
            Self::Silent => "",
        }
    }
}

impl Verdict {
    /// Reads the verdict out of a review's final text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        last_token(text, |token, _| {
            Some(match token {
                "APPROVE" => Self::Approve,
                "REVISE" => Self::Revise,
                "REJECT" => Self::Reject,
                _ => return None,
            })
        })
    }

    /// The token as it stands in a review's last line.
    #[must_use]
    pub fn token(self) -> &'static str {
        match self {
            Self::Approve => "[APPROVE]",
            Self::Revise => "[REVISE]",
            Self::Reject => "[REJECT]",
        }
    }
}

/// Which of two changes a session takes for the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// The one that it was shown first.
    First,
    /// The other one.
    Second,
}

impl Choice {
    /// Reads the choice out of a session's final text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        last_token(text, |token, _| {
            Some(match token {
                "FIRST" => Self::First,
                "SECOND" => Self::Second,
                _ => return None,
            })
        })
    }
}

/// A `file:line` that a session points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Path relative to the repository's root; never absolute, never through `..`.
    pub path: String,
    /// Line, from 1.
    pub line: u32,
}

impl Reference {
    /// Reads the first word of `text` as `path:line`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?.trim_matches('`');
        let (path, line) = word.rsplit_once(':')?;
        let line = line.parse().ok().filter(|line| *line > 0)?;
        let inside = !path.is_empty()
            && !path.starts_with('/')
            && path
                .split('/')
                .all(|part| !part.is_empty() && part != ".." && part != ".git");
        inside.then(|| Self {
            path: path.to_owned(),
            line,
        })
    }
}

/// Finds the last line outside code fences that `read` accepts.
fn last_token<T>(text: &str, read: impl Fn(&str, &str) -> Option<T>) -> Option<T> {
    let mut fence: Option<&str> = None;
    let mut found = None;
    for line in text.lines() {
        let line = line.trim();
        match fence {
            Some(open) if closes(line, open) => fence = None,
            Some(_) => {}
            None => match fence_of(line) {
                Some(open) => fence = Some(open),
                None => {
                    if let Some((token, rest)) = token_of(line)
                        && let Some(value) = read(token, rest)
                    {
                        found = Some(value);
                    }
                }
            },
        }
    }
    found
}

/// The run of three or more backticks or tildes that opens a fence (CommonMark §4.5).
fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3).then(|| &line[..length])
}

fn closes(line: &str, open: &str) -> bool {
    fence_of(line).is_some_and(|run| run.starts_with(open) && run.len() == line.len())
}

/// Splits `[TOKEN] rest`. Emphasis around the token is decoration that models add.
fn token_of(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches('*');
    let (token, rest) = line.strip_prefix('[')?.split_once(']')?;
    Some((token, rest.trim_start_matches('*').trim()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_choice_is_the_last_one_outside_of_fences() {
        assert_eq!(
            Choice::parse("[SECOND]? No.\n**[FIRST]**"),
            Some(Choice::First)
        );
        assert_eq!(
            Choice::parse("[SECOND] it is\n```\n[FIRST]\n```"),
            Some(Choice::Second)
        );
        assert_eq!(Choice::parse("The first. [APPROVE]"), None);
    }

    #[test]
    fn the_last_known_token_counts() {
        let text = "[PARTIAL] half\nmore\n[OK] all of it\nbye";
        assert_eq!(
            Sentinel::parse(text),
            Some(Sentinel::Ok("all of it".into()))
        );
        assert_eq!(Sentinel::parse("**[BLOCKED]** no key"), {
            Some(Sentinel::Blocked("no key".into()))
        });
    }

    #[test]
    fn fences_quotes_and_middles_do_not_count() {
        assert_eq!(Sentinel::parse("```\n[OK]\n```\n"), None);
        assert_eq!(Sentinel::parse("~~~ text\n[OK]\n```\n[OK]\n"), None);
        assert_eq!(
            Sentinel::parse("````\n```\n[OK]\n````\n[SILENT]"),
            Some(Sentinel::Silent)
        );
        assert_eq!(Sentinel::parse("say [OK] now"), None);
        assert_eq!(Sentinel::parse("> [OK]"), None);
        assert_eq!(Sentinel::parse("[ok]"), None);
        assert_eq!(Sentinel::parse("[OKAY]"), None);
        assert_eq!(Sentinel::parse(""), None);
    }

    #[test]
    fn the_families_do_not_mix() {
        assert_eq!(Verdict::parse("[OK]"), None);
        assert_eq!(Sentinel::parse("[APPROVE]"), None);
        assert_eq!(Verdict::parse("1. bad\n[REVISE]"), Some(Verdict::Revise));
    }

    #[test]
    fn references_stay_inside_the_repository() {
        let reference = Reference::parse("src/lib.rs:12 has it").unwrap();
        assert_eq!(
            (reference.path.as_str(), reference.line),
            ("src/lib.rs", 12)
        );
        for bad in [
            "",
            "src/lib.rs",
            "/etc/passwd:1",
            "../x:1",
            "a/../x:1",
            "x:0",
            "x:-1",
            ":3",
        ] {
            assert_eq!(Reference::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_parses_without_panic(text in "\\PC*") {
            let _ = (Sentinel::parse(&text), Verdict::parse(&text), Reference::parse(&text));
        }

        #[test]
        fn a_closing_line_after_any_unfenced_text_wins(
            lines in proptest::collection::vec("[^`~\\n\\r]{0,20}", 0..8),
            note in "[a-z ]{0,20}",
        ) {
            let text = format!("{}\n[OK] {note}\n", lines.join("\n"));
            prop_assert_eq!(Sentinel::parse(&text), Some(Sentinel::Ok(note.trim().to_owned())));
        }

        #[test]
        fn a_token_inside_a_fence_never_counts(
            body in "[^`~\\n\\r]{0,20}", mark in "`{3,5}|~{3,5}"
        ) {
            let text = format!("{mark}\n{body}\n[OK] x\n{mark}\n");
            prop_assert_eq!(Sentinel::parse(&text), None);
        }

        #[test]
        fn tokens_read_back(note in "[a-z0-9 ]{0,12}") {
            for sentinel in [
                Sentinel::Ok(note.trim().into()), Sentinel::Partial(note.trim().into()),
                Sentinel::Blocked(note.trim().into()), Sentinel::Silent,
                Sentinel::AlreadyDone(note.trim().into()),
            ] {
                let line = format!("{} {}", sentinel.token(), sentinel.note());
                prop_assert_eq!(Sentinel::parse(&line), Some(sentinel));
            }
        }
    }
}
