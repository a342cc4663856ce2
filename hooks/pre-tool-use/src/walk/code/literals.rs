//! String literals apart from the rest of the code.

use super::Language;

/// A string literal.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    /// Its text, escapes resolved roughly.
    pub(super) text: String,
    /// Whether it is a command in backticks.
    pub(super) shell: bool,
    /// Whether the language puts values into it.
    pub(super) live: bool,
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

/// How a literal begins, and what ends it.
struct Opening {
    length: usize,
    /// A sign that opens a pair inside, as in `q(a(b))`.
    nests: Option<char>,
    close: &'static str,
    shell: bool,
    live: bool,
    /// A backslash is a letter.
    raw: bool,
}

impl Source {
    pub(super) fn read(language: Language, code: &str) -> Self {
        let mut source = Self::default();
        // Here-documents whose line has not ended yet: the literal's number and the last line.
        let mut documents: Vec<(usize, String)> = Vec::new();
        let mut rest = code;
        while let Some(c) = rest.chars().next() {
            if starts_comment(language, rest, &source.skeleton) {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            if let Some((used, name, live)) = document(language, rest, &source.skeleton) {
                documents.push((source.literals.len(), name));
                source.add(String::new(), false, live);
                rest = &rest[used..];
                continue;
            }
            if c == '\n' && !documents.is_empty() {
                source.skeleton.push(c);
                rest = &rest[1..];
                for (number, name) in documents.drain(..) {
                    let (body, after) = body_of(rest, &name);
                    source.literals[number].text = body;
                    rest = after;
                }
                continue;
            }
            let Some(opening) = opening(language, rest, &source.skeleton) else {
                if c != OPEN && c != CLOSE {
                    source.skeleton.push(c);
                }
                rest = &rest[c.len_utf8()..];
                continue;
            };
            rest = source.literal(&rest[opening.length..], &opening);
        }
        source
    }

    fn add(&mut self, text: String, shell: bool, live: bool) {
        let number = self.literals.len().to_string();
        self.skeleton.push(OPEN);
        self.skeleton.push_str(&number);
        self.skeleton.push(CLOSE);
        self.literals.push(Literal { text, shell, live });
    }

    /// Reads a literal; returns what follows it.
    fn literal<'c>(&mut self, text: &'c str, opening: &Opening) -> &'c str {
        let mut out = String::new();
        let mut at = 0;
        let mut open = 0usize;
        let mut end = text.len();
        while let Some(c) = text[at..].chars().next() {
            if text[at..].starts_with(opening.close) {
                if open == 0 {
                    end = at + opening.close.len();
                    break;
                }
                open -= 1;
            } else if opening.nests == Some(c) {
                open += 1;
            }
            at += c.len_utf8();
            if c != '\\' || opening.raw {
                out.push(c);
                continue;
            }
            let (c, used) = escape(&text[at..]);
            out.extend(c);
            at += used;
        }
        self.add(out, opening.shell, opening.live);
        text.get(end..).unwrap_or_default()
    }

    /// The literals with a `|` on one side.
    pub(super) fn beside_pipes(&self) -> impl Iterator<Item = &Literal> {
        let beside = |(at, _): (usize, &str)| {
            let (number, after) = self.skeleton[at + 1..].split_once(CLOSE)?;
            let literal = self.literals.get(number.parse::<usize>().ok()?)?;
            let (before, after) = (self.skeleton[..at].trim_end(), after.trim_start());
            let or = before.ends_with("||") || after.starts_with("||");
            let piped = before.ends_with('|') || after.starts_with('|');
            (piped && !or).then_some(literal)
        };
        self.skeleton.match_indices(OPEN).filter_map(beside)
    }
}

/// The letter after a backslash, and how much of the text it takes. What no two languages agree on
/// (`\e`, `\d` of a pattern) is the letter itself.
fn escape(text: &str) -> (Option<char>, usize) {
    let alike = !text.starts_with(['a', 'b', 'e', 'E', 'f', 'v', '?']);
    if let Some((c, used)) = crate::shell::unescape(text).filter(|_| alike) {
        return (Some(c), used);
    }
    let c = text.chars().next();
    (c.filter(|c| *c != '\n'), c.map_or(0, char::len_utf8))
}

fn starts_comment(language: Language, rest: &str, before: &str) -> bool {
    let sign = language.comment();
    if !rest.starts_with(sign) {
        return false;
    }
    // `http://` outside quotes is part of a word.
    if sign == "//" {
        return !before.ends_with(':');
    }
    before.is_empty() || before.ends_with(char::is_whitespace) || before.ends_with(';')
}

/// A here-document's announcement at the start of `rest`: its length, its last line, whether values are
/// put into it.
fn document(language: Language, rest: &str, before: &str) -> Option<(usize, String, bool)> {
    use Language::{Perl, Php, Ruby};
    if !matches!(language, Perl | Php | Ruby) || before.ends_with('<') {
        return None;
    }
    let after = rest.strip_prefix("<<")?;
    let word = after.trim_start_matches(['<', '~', '-']);
    let quote = word.chars().next().filter(|c| "'\"`".contains(*c));
    let word = word.trim_start_matches(['\'', '"', '`']);
    let end = word
        .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
        .unwrap_or(word.len());
    let name = &word[..end];
    if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let closed = quote.is_some_and(|quote| word[end..].starts_with(quote));
    let used = rest.len() - word.len() + end + usize::from(closed);
    Some((used, name.to_owned(), quote != Some('\'')))
}

/// The lines up to the one that says `name`, and what follows that.
fn body_of<'t>(text: &'t str, name: &str) -> (String, &'t str) {
    let mut body = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        if line.trim().trim_end_matches(';') == name {
            break;
        }
        body.push_str(line.trim_start());
        body.push('\n');
    }
    (body, rest)
}

/// A literal's opening sign at the start of `rest`.
fn opening(language: Language, rest: &str, before: &str) -> Option<Opening> {
    use Language::{
        AppleScript, Awk, Compiled, Elixir, JavaScript, Julia, Lisp, PowerShell, Python,
    };
    let first = rest.chars().next()?;
    if first.is_ascii_alphanumeric() || first.is_whitespace() {
        return None;
    }
    let formatted = language == Python && prefix(before).contains(['f', 'F']);
    let raw = matches!(language, Python | Compiled) && prefix(before).contains(['r', 'R']);
    let simple = |length, close, shell, live| Opening {
        length,
        nests: None,
        close,
        shell,
        live,
        raw: raw || language == PowerShell,
    };
    for sign in ["\"\"\"", "'''"] {
        if rest.starts_with(sign) && matches!(language, Python | Julia | Elixir | Compiled) {
            return Some(simple(3, sign, false, formatted || language != Python));
        }
    }
    match first {
        '"' => {
            let live = !matches!(language, JavaScript | Python | Awk | Lisp);
            Some(simple(1, "\"", false, live || formatted))
        }
        // Perl's old package separator, a Lisp's quote and AppleScript's possessive are no quotes.
        '\'' if matches!(language, AppleScript | Awk | Lisp) => None,
        // Characters, lifetimes, and names with a stroke.
        '\'' if matches!(language, Compiled | Julia) && !is_short(rest) => None,
        '\'' => Some(simple(1, "'", false, formatted)),
        '`' if language.backticks_run() => Some(simple(1, "`", true, true)),
        '`' if language == JavaScript => Some(simple(1, "`", before.ends_with('$'), true)),
        '`' if language == Compiled => Some(simple(1, "`", false, false)),
        _ => delimited(language, first, before).map(|(nests, close, (shell, live))| Opening {
            nests,
            ..simple(1, close, shell, live)
        }),
    }
}

type Delimited = (Option<char>, &'static str, (bool, bool));

/// `q(…)`, `%w[…]` and their like: what opens a pair in it, what closes it, and its kind.
fn delimited(language: Language, first: char, before: &str) -> Option<Delimited> {
    let kind = quoted_word(language, before)?;
    let (nests, close) = match first {
        '(' => (Some('('), ")"),
        '{' => (Some('{'), "}"),
        '[' => (Some('['), "]"),
        '<' => (Some('<'), ">"),
        '/' => (None, "/"),
        '|' => (None, "|"),
        '!' => (None, "!"),
        '#' => (None, "#"),
        '~' => (None, "~"),
        '^' => (None, "^"),
        _ => return None,
    };
    Some((nests, close, kind))
}

/// The letters right before a quote: `rb` of `rb'…'`.
fn prefix(before: &str) -> &str {
    let letters = before.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let prefix = &before[letters.len()..];
    if prefix.len() < 3 { prefix } else { "" }
}

/// Whether a `'` closes within a character or its escape.
fn is_short(rest: &str) -> bool {
    let close = rest
        .char_indices()
        .skip(2)
        .take(9)
        .find(|(_, c)| *c == '\'');
    close.is_some_and(|(at, _)| rest[1..at].chars().count() == 1 || rest[1..].starts_with('\\'))
}

/// Perl's `q qq qw qx`, Ruby's `%q %w %x %()`, Elixir's `~s`: whether the text is a command, and whether
/// values are put into it.
fn quoted_word(language: Language, before: &str) -> Option<(bool, bool)> {
    let trimmed = match language {
        Language::Perl => before.trim_end(),
        Language::Ruby | Language::Elixir => before,
        _ => return None,
    };
    let word = trimmed
        .rsplit(|c: char| !(c.is_ascii_alphanumeric() || "_%~$@".contains(c)))
        .next()
        .unwrap_or_default();
    match (language, word) {
        (Language::Perl, "q" | "qw") | (Language::Ruby, "%q" | "%w" | "%i") => Some((false, false)),
        (Language::Perl, "qq")
        | (Language::Ruby, "%Q" | "%W" | "%I" | "%")
        | (Language::Elixir, "~s" | "~c" | "~w") => Some((false, true)),
        (Language::Perl, "qx") | (Language::Ruby, "%x") => Some((true, true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(language: Language, code: &str) -> Vec<String> {
        let source = Source::read(language, code);
        source.literals.into_iter().map(|it| it.text).collect()
    }

    #[test]
    fn quotes_of_many_kinds() {
        use Language::{Compiled, Perl, Python, Ruby};
        assert_eq!(
            texts(Perl, "f(q(a(b)), qq{c}, qw/d e/)"),
            ["a(b)", "c", "d e"]
        );
        assert_eq!(texts(Perl, "$q = 1; ($x)"), Vec::<String>::new());
        assert_eq!(texts(Ruby, "%w[a b] + %q(c) # 'd'"), ["a b", "c"]);
        assert_eq!(texts(Ruby, "x <<~E, 1\n  a\nE\n'b'"), ["a\n", "b"]);
        assert_eq!(
            texts(Python, r"'\x2eenv' r'\x2e' '''a'b'''"),
            [".env", r"\x2e", "a'b"]
        );
        assert_eq!(
            texts(Compiled, "fn f<'a>(x: &'a str) { 'c'; \"d\" } // \"e\""),
            ["c", "d"]
        );
    }
}
