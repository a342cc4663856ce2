//! What a line means: a verb with exactly its arguments, a verb with others, or prose.
//!
//! Prose is never a command. A line is one only where its first word is a verb, in lower case and
//! alone, and each argument has its form; what is left over is no mistake that somebody meant well.

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
    /// This verb, and not its arguments.
    Usage(&'static ChatVerb),
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
    if line.len() > LINE_MAX || line.contains(['\n', '\r']) {
        return Meaning::Usage(verb);
    }
    let words = match verb.does {
        Does::Issue => repo_and_title(rest),
        _ => words(rest),
    };
    let Some(words) = words.filter(|words| words.len() == verb.shapes.len()) else {
        return Meaning::Usage(verb);
    };
    let mut shaped = Vec::with_capacity(words.len());
    for (word, shape) in words.into_iter().zip(verb.shapes) {
        match shape.of(word) {
            Some(word) => shaped.push(word),
            None => return Meaning::Usage(verb),
        }
    }
    Meaning::Command(verb, shaped)
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
fn repo_and_title(text: &str) -> Option<Vec<String>> {
    let (repo, title) = text.split_once(": ")?;
    let title = title.trim();
    let fits = !repo.contains(char::is_whitespace) && title.chars().count() <= TITLE_MAX;
    fits.then(|| vec![repo.to_owned(), title.to_owned()])
}

impl Shape {
    /// The word as it is asked, where it has this form.
    fn of(self, word: String) -> Option<String> {
        let digits = |text: &str, c: char| c.is_ascii_hexdigit() || c == '-' && text.len() > 8;
        let fits = match self {
            Self::Text => !word.is_empty(),
            Self::Role => !word.is_empty() && word != "all",
            Self::Firing => {
                word.len() >= 6
                    && word.chars().all(|c| digits(&word, c))
                    && word.contains(|c: char| c.is_ascii_digit())
            }
            Self::Alert => word.len() == 8 && word.chars().all(|c| c.is_ascii_hexdigit()),
            Self::Issue => {
                let number = word
                    .split_once('#')
                    .map_or(word.as_str(), |(_, number)| number);
                !number.starts_with('0')
                    && (1..12).contains(&number.len())
                    && number.chars().all(|c| c.is_ascii_digit())
            }
            Self::Span => carson_config::parse_duration(&word).is_ok(),
            Self::Member => return member(&word),
        };
        fits.then_some(word)
    }
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
                    matches!(meaning(&wrong), Meaning::Usage(found) if found.name == verb.name);
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
            assert!(matches!(meaning(text), Meaning::Usage(_)), "{text}");
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
            assert!(matches!(meaning(text), Meaning::Usage(_)), "{text}");
        }
    }
}
