//! String literals apart from the rest of the code.

use crate::marks::{self, ANY};

use super::Language;

/// A string literal.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    /// Its text, escapes resolved roughly, interpolations unknown.
    pub(super) text: String,
    /// Whether it is a command in backticks.
    shell: bool,
}

/// Code with its literals taken out: `\u{2}3\u{3}` stands for the fourth one.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) skeleton: String,
    pub(super) literals: Vec<Literal>,
}

/// Opens and closes the number of a literal in the skeleton.
pub(super) const OPEN: char = '\u{2}';
pub(super) const CLOSE: char = '\u{3}';

impl Source {
    pub(super) fn read(language: Language, code: &str) -> Self {
        let mut source = Self::default();
        let mut rest = code;
        while let Some(c) = rest.chars().next() {
            if language != Language::JavaScript && starts_comment(language, rest, &source.skeleton)
                || rest.starts_with("//")
                    && language == Language::JavaScript
                    && !source.skeleton.ends_with(':')
            {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            let (delimiter, close, shell) = match opening(language, rest, &source.skeleton) {
                Some(found) => found,
                None => {
                    if c != OPEN && c != CLOSE {
                        source.skeleton.push(c);
                    }
                    rest = &rest[c.len_utf8()..];
                    continue;
                }
            };
            rest = &rest[delimiter..];
            let formatted = source.skeleton.ends_with(['f', 'F']);
            rest = source.literal(language, rest, close, shell, formatted);
        }
        source
    }

    /// Commands in backticks.
    pub(super) fn shell_literals(&self) -> Vec<String> {
        self.literals
            .iter()
            .filter(|l| l.shell)
            .map(|l| l.text.clone())
            .collect()
    }

    /// Commands that a pipe leads to or from: `open(P, "cmd|")`, AWK's `"cmd" | getline`.
    pub(super) fn piped_literals(&self, language: Language) -> Vec<String> {
        if language == Language::Awk {
            return self.beside_pipes();
        }
        if !matches!(language, Language::Perl | Language::Ruby) {
            return Vec::new();
        }
        let piped = |literal: &Literal| {
            let text = literal.text.trim();
            let code = text.strip_suffix('|').or_else(|| text.strip_prefix('|'))?;
            Some(code.to_owned())
        };
        self.literals.iter().filter_map(piped).collect()
    }

    /// The literals with a `|` on one side.
    fn beside_pipes(&self) -> Vec<String> {
        let beside = |(at, _): (usize, &str)| {
            let (number, after) = self.skeleton[at + 1..].split_once(CLOSE)?;
            let literal = self.literals.get(number.parse::<usize>().ok()?)?;
            let (before, after) = (self.skeleton[..at].trim_end(), after.trim_start());
            let or = before.ends_with("||") || after.starts_with("||");
            let piped = before.ends_with('|') || after.starts_with('|');
            (piped && !or).then(|| literal.text.trim().to_owned())
        };
        self.skeleton
            .match_indices(OPEN)
            .filter_map(beside)
            .collect()
    }

    /// Reads a literal up to `close`; returns what follows it.
    fn literal<'c>(
        &mut self,
        language: Language,
        text: &'c str,
        close: &str,
        shell: bool,
        formatted: bool,
    ) -> &'c str {
        let mut out = String::new();
        let mut chars = text.char_indices();
        let mut end = (text.len(), text.len());
        while let Some((at, c)) = chars.next() {
            if text[at..].starts_with(close) {
                end = (at, at + close.len());
                break;
            }
            match c {
                '\\' => match chars.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, c)) => out.push(c),
                    None => {}
                },
                c => out.push(c),
            }
        }
        let live = formatted || interpolates(language, close);
        let text_out = if live { interpolated(&out) } else { out };
        self.skeleton
            .push_str(&format!("{OPEN}{}{CLOSE}", self.literals.len()));
        self.literals.push(Literal {
            text: text_out,
            shell,
        });
        &text[end.1..]
    }
}

fn starts_comment(language: Language, rest: &str, before: &str) -> bool {
    let fresh = before.is_empty() || before.ends_with(char::is_whitespace) || before.ends_with(';');
    fresh && rest.starts_with(language.comment())
}

/// A literal's opening sign at the start of `rest`: its length, the closing sign, whether it is a
/// command.
fn opening(language: Language, rest: &str, before: &str) -> Option<(usize, &'static str, bool)> {
    let shell = language.backticks_run();
    for (sign, close) in [("\"\"\"", "\"\"\""), ("'''", "'''")] {
        if rest.starts_with(sign) && language == Language::Python {
            return Some((3, close, false));
        }
    }
    match rest.as_bytes().first()? {
        b'"' => Some((1, "\"", false)),
        // Perl's old package separator and AppleScript's possessive are no quotes.
        b'\'' if language == Language::AppleScript || language == Language::Awk => None,
        b'\'' => Some((1, "'", false)),
        b'`' if shell || language == Language::JavaScript => Some((1, "`", shell)),
        b'(' | b'{' | b'[' | b'/' | b'|' | b'!'
            if runs_words(language, before) || lists_words(language, before) =>
        {
            let close = match rest.as_bytes()[0] {
                b'(' => ")",
                b'{' => "}",
                b'[' => "]",
                b'/' => "/",
                b'|' => "|",
                _ => "!",
            };
            Some((1, close, runs_words(language, before)))
        }
        _ => None,
    }
}

/// Perl's `qw` and Ruby's `%w`: words, written as one text.
fn lists_words(language: Language, before: &str) -> bool {
    match language {
        Language::Perl => before.trim_end().ends_with("qw"),
        Language::Ruby => before.ends_with("%w") || before.ends_with("%W"),
        _ => false,
    }
}

/// Perl's `qx` and Ruby's `%x`.
fn runs_words(language: Language, before: &str) -> bool {
    match language {
        Language::Perl => before.trim_end().ends_with("qx"),
        Language::Ruby => before.ends_with("%x"),
        _ => false,
    }
}

fn interpolates(language: Language, close: &str) -> bool {
    match language {
        Language::JavaScript => close == "`",
        Language::Ruby | Language::Perl | Language::Php | Language::PowerShell => close != "'",
        _ => false,
    }
}

/// The text with `{x}`, `${x}`, `#{x}` and `$x` unknown.
fn interpolated(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' => {
                for inner in chars.by_ref() {
                    if inner == '}' {
                        break;
                    }
                }
                let kept = out.trim_end_matches(['$', '#']).len();
                out.truncate(kept);
                out.push(ANY);
            }
            '$' | '@' if chars.peek().is_some_and(char::is_ascii_alphabetic) => {
                while chars
                    .next_if(|c| *c == '_' || c.is_ascii_alphanumeric())
                    .is_some()
                {}
                out.push(ANY);
            }
            c => out.push(c),
        }
    }
    marks::bounded(out)
}
