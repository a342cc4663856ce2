//! What a line means: a verb with exactly its arguments, a verb with others, or prose.
//!
//! Prose is never a command. A line is one only where its first word is a verb, in lower case and
//! alone, and each argument has its form; what is left over is no mistake that somebody meant well.

use carson_core::text::counted;

use crate::links::typed;
use crate::verbs::{ChatVerb, Does, Shape, VERBS};

/// Longest line that is read.
const LINE_MAX: usize = 2_000;
/// Longest title of an issue.
const TITLE_MAX: usize = 200;

/// What a line means.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// This verb with these arguments.
    Command(&'static ChatVerb, Vec<String>),
    /// This verb, and what is wrong with the rest of the line.
    Usage(&'static ChatVerb, String),
    /// Nothing that we do.
    Prose,
}

/// What was said.
pub(crate) fn meaning(line: &str) -> Meaning {
    let line = typed(line);
    let line = line.trim();
    let (first, rest) = match line.split_once(char::is_whitespace) {
        Some((first, rest)) => (first, rest.trim()),
        None => (line, ""),
    };
    let Some(verb) = VERBS.iter().find(|verb| verb.name == first) else {
        return Meaning::Prose;
    };
    match arguments(verb, line, rest) {
        Ok(words) => Meaning::Command(verb, words),
        Err(wrong) => Meaning::Usage(verb, wrong),
    }
}

/// The arguments of a verb as they are asked, or what is wrong with them.
fn arguments(verb: &ChatVerb, line: &str, rest: &str) -> Result<Vec<String>, String> {
    let long = line.chars().count();
    if long > LINE_MAX {
        return Err(format!(
            "that has {long} characters, and {LINE_MAX} are read"
        ));
    }
    if line.contains(['\n', '\r']) {
        return Err("it is one line, and these are several".to_owned());
    }
    let words = match verb.does {
        Does::Issue => repo_and_title(rest)?,
        _ => words(rest)
            .ok_or("each word in quotes begins and ends with one, and has none within it")?,
    };
    let (wanted, found) = (verb.shapes.len(), words.len());
    if wanted != found {
        return Err(format!(
            "{} {} wanted, and {found} found (several words are one in quotes)",
            counted(wanted as u64, "word"),
            if wanted == 1 { "is" } else { "are" },
        ));
    }
    let pairs = words.into_iter().zip(verb.shapes);
    pairs.map(|(word, shape)| shape.of(word)).collect()
}

/// Words; several in quotes are one. `None` where a quote does not end.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let ends: &[char] = match first {
            '"' => &['"'],
            '“' | '”' => &['”', '“'],
            _ => {
                let (word, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                if word.contains('"') {
                    return None;
                }
                words.push(word.to_owned());
                rest = more.trim_start();
                continue;
            }
        };
        let inner = &rest[first.len_utf8()..];
        let at = inner.find(ends)?;
        let end = inner[at..].chars().next().map_or(0, char::len_utf8);
        let more = &inner[at + end..];
        if !more.is_empty() && !more.starts_with(char::is_whitespace) {
            return None;
        }
        words.push(inner[..at].trim().to_owned());
        rest = more.trim_start();
    }
    Some(words)
}

/// `widget: Say hello`.
fn repo_and_title(text: &str) -> Result<Vec<String>, String> {
    let parts = text.split_once(": ");
    let parts = parts.filter(|(repo, _)| !repo.contains(char::is_whitespace));
    let (repo, title) = parts.ok_or("a repository, a colon and a title are wanted")?;
    let title = title.trim();
    let long = title.chars().count();
    match long > TITLE_MAX {
        true => Err(format!(
            "the title has {long} characters, and {TITLE_MAX} are the most"
        )),
        false => Ok(vec![repo.to_owned(), title.to_owned()]),
    }
}

impl Shape {
    /// The word as it is asked, or why it has not this form.
    fn of(self, word: String) -> Result<String, String> {
        let digits = |text: &str, c: char| c.is_ascii_hexdigit() || c == '-' && text.len() > 8;
        let (fits, what) = match self {
            Self::Text => (!word.is_empty(), "no word"),
            Self::Role => (
                !word.is_empty() && word != "all",
                "no role: one at a time is run",
            ),
            Self::Firing => (
                word.len() >= 6
                    && word.chars().all(|c| digits(&word, c))
                    && word.contains(|c: char| c.is_ascii_digit()),
                "no firing's id: six or more of its last digits, as `runs` lists them",
            ),
            Self::Alert => (
                word.len() == 8 && word.chars().all(|c| c.is_ascii_hexdigit()),
                "no alert's id: eight digits, as `health` lists them",
            ),
            Self::Issue => (is_issue(&word), "no issue: 12, or widget#12"),
            Self::Span => {
                return match carson_config::parse_duration(&word) {
                    Ok(_) => Ok(word),
                    Err(wrong) => Err(wrong),
                };
            }
            Self::Member => {
                let what = "no member: @name, or an id such as U012ABC34";
                return member(&word).ok_or_else(|| format!("{word:?} is {what}"));
            }
        };
        match fits {
            true => Ok(word),
            false => Err(format!("{word:?} is {what}")),
        }
    }
}

/// `12`, `#12`, `widget#12`.
fn is_issue(word: &str) -> bool {
    let number = word.split_once('#').map_or(word, |(_, number)| number);
    !number.starts_with('0')
        && (1..12).contains(&number.len())
        && number.chars().all(|c| c.is_ascii_digit())
}

/// An id, or a name that Slack made one of.
fn member(word: &str) -> Option<String> {
    let id = word.strip_prefix('@').unwrap_or(word);
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    let fits = id.starts_with(['U', 'W']) && (3..=21).contains(&id.len());
    // A word in capitals is no id, but for one that Slack says is.
    let is_meant = id.len() < word.len() || id.contains(|c: char| c.is_ascii_digit());
    (fits && is_meant && id.chars().all(plain)).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that is exactly this verb.
    fn right(verb: &ChatVerb) -> String {
        let arguments: Vec<&str> = verb
            .shapes
            .iter()
            .map(|shape| match shape {
                Shape::Text => "\"two words\"",
                Shape::Role => "hand",
                Shape::Firing => "0199ab12",
                Shape::Alert => "deadbee1",
                Shape::Issue => "widget#12",
                Shape::Span => "2h",
                Shape::Member => "<@U012ABC34|ann>",
            })
            .collect();
        match verb.does {
            Does::Issue => "issue widget: Say hello to all".to_owned(),
            _ => format!("{} {}", verb.name, arguments.join(" ")),
        }
    }

    #[test]
    fn each_verb_has_exactly_its_arguments() {
        for verb in VERBS {
            let line = right(verb);
            match meaning(&line) {
                Meaning::Command(found, words) => {
                    assert_eq!(found.name, verb.name);
                    assert_eq!(words.len(), verb.shapes.len(), "{line}");
                }
                other => panic!("{line}: {other:?}"),
            }
            let less = line.rsplit_once(' ').map_or("", |(less, _)| less).trim();
            let mut wrong = vec![format!("{line}\nand more")];
            if !matches!(verb.does, Does::Issue) {
                wrong.push(format!("{line} more"));
            }
            if !verb.shapes.is_empty() {
                wrong.extend([verb.name.to_owned(), format!("{} \"", verb.name)]);
            }
            if !less.is_empty() && matches!(verb.does, Does::Issue) {
                wrong.push("issue Say hello".to_owned());
            }
            for wrong in wrong {
                let told =
                    matches!(meaning(&wrong), Meaning::Usage(found, _) if found.name == verb.name);
                assert!(told, "{wrong:?}");
            }
            let mut loud = line.clone();
            loud[..1].make_ascii_uppercase();
            for prose in [
                loud,
                format!("please {line}"),
                format!("{}, now", verb.name),
            ] {
                assert!(matches!(meaning(&prose), Meaning::Prose), "{prose:?}");
            }
        }
    }

    #[test]
    fn quotes_of_either_kind_make_one_word_and_must_end() {
        for text in ["recall \"a b\"", "recall “a b”", "recall ”a b“"] {
            let is = matches!(meaning(text), Meaning::Command(_, words) if words == ["a b"]);
            assert!(is, "{text}");
        }
        for text in [
            "recall \"a b",
            "recall \"a\"b",
            "recall a\"b\"",
            "recall a b",
            "recall \"\"",
        ] {
            assert!(matches!(meaning(text), Meaning::Usage(..)), "{text}");
        }
    }

    #[test]
    fn an_argument_of_another_form_is_none() {
        for text in [
            "stop it",
            "stop facade",
            "approve the",
            "approve #",
            "approve 12a",
            "trust me",
            "trust USA",
            "quiet please",
            "ack thanks",
            "run all",
            "issue two words: x",
            "issue widget: ",
        ] {
            assert!(matches!(meaning(text), Meaning::Usage(..)), "{text}");
        }
    }

    /// Each says what is wrong, and none that a line is not what it is.
    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        let long = "y".repeat(3_000);
        for (text, wrong) in [
            (
                format!("remember \"{long}\""),
                "that has 3011 characters, and 2000 are read",
            ),
            ("remember \"two\nlines\"".to_owned(), "these are several"),
            (format!("issue widget: {long}"), "2000 are read"),
            (
                format!("issue widget: {}", &long[..201]),
                "the title has 201 characters, and 200 are",
            ),
            (
                "issue widget".to_owned(),
                "a repository, a colon and a title",
            ),
            (
                "recall \"a b".to_owned(),
                "each word in quotes begins and ends",
            ),
            ("recall a b".to_owned(), "1 word is wanted, and 2 found"),
            ("status now".to_owned(), "0 words are wanted, and 1 found"),
            ("recall \"\"".to_owned(), "\"\" is no word"),
            ("quiet 99999h".to_owned(), "longer than ten years"),
            ("quiet soon".to_owned(), "is not a duration"),
            ("ack zzz".to_owned(), "\"zzz\" is no alert's id"),
            ("stop 1a2b".to_owned(), "six or more"),
            ("approve 012".to_owned(), "\"012\" is no issue"),
            ("trust USA".to_owned(), "\"USA\" is no member"),
            ("run all".to_owned(), "\"all\" is no role"),
        ] {
            match meaning(&text) {
                Meaning::Usage(_, told) => assert!(told.contains(wrong), "{text}: {told}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        let most = "ü".repeat(1_980);
        let is = matches!(meaning(&format!("remember {most}")), Meaning::Command(..));
        assert!(is, "characters are counted, not bytes");
    }
}
