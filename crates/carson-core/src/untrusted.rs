//! Words of strangers, models and their programs, on their way to people.
//!
//! A forge and a chat give many texts a meaning: `Closes #1` closes, `@everyone` calls, an image
//! tells who reads it, a line that begins with `/` commands a bot, a comment in HTML hides what
//! follows. [`Untrusted`] is the one way in which such words get into what Carson writes there, and
//! a [`Page`] takes no others: it is made of literals, of what Carson itself made, and of these.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// Stands in a word where a forge, a chat or a bot would see its own syntax, and is not seen by
/// people (U+2060, WORD JOINER).
const JOINER: char = '\u{2060}';
/// Stands below an issue that a model filed through `carson mcp`: people see how it came, and what it says is no evidence.
pub const FILED_BY_A_MODEL: &str = "_Filed by a model, through `carson mcp`._";
/// Longest line that is passed on, in characters.
const LINE_MAX: usize = 2_000;
/// Longest title that is passed on.
const TITLE_MAX: usize = 200;
/// Longest quotation, in bytes. The transcript holds the rest.
const QUOTE_MAX: usize = 6 * 1024;
/// Longest text that is passed on as Markdown, in bytes.
const PROSE_MAX: usize = 32 * 1024;

/// A text that somebody else wrote.
#[derive(Clone, Copy, Debug)]
pub struct Untrusted<'t>(&'t str);

impl<'t> Untrusted<'t> {
    /// These words.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self(text)
    }

    /// One bounded line without anything that a forge or a chat gives a meaning, for places that
    /// know no code: titles.
    #[must_use]
    pub fn title(self) -> String {
        let line = one_line(self.0, TITLE_MAX);
        // Brackets and angles begin links, images and tags, where a title is shown as Markdown.
        defused(&line, true)
            .replace("](", "]\u{2060}(")
            .replace('<', "<\u{2060}")
    }

    /// The same with its lines as they are, for a chat, where numbers mean nothing.
    #[must_use]
    pub fn plain(self) -> String {
        let shown = |c: char| if c != '\n' && is_hidden(c) { ' ' } else { c };
        defused(&self.0.chars().map(shown).collect::<String>(), false)
    }

    /// One bounded line of Markdown: code, which nothing inside can end.
    #[must_use]
    pub fn line(self) -> String {
        let line = defused(&one_line(self.0, LINE_MAX), true);
        if line.is_empty() {
            return line;
        }
        let ticks = "`".repeat(longest_ticks(&line) + 1);
        let pad = if line.starts_with('`') || line.ends_with('`') {
            " "
        } else {
            ""
        };
        format!("{ticks}{pad}{line}{pad}{ticks}")
    }

    /// Bounded Markdown that keeps its headings, lists and code, and in which nothing calls anybody, loads
    /// anything, commands a bot or hides. Numbers of issues stay: no forge closes any for a comment's sake.
    #[must_use]
    pub fn prose(self) -> String {
        self.markdown(false)
    }

    /// The same as a quotation in which numbers mean nothing, either: each line is marked as somebody else's, so
    /// that none looks like what stands around it, and no forge closes an issue for its sake.
    #[must_use]
    pub fn quotation(self) -> String {
        let text = self.markdown(true);
        let lines = text.trim().lines();
        let lines = lines.map(|line| format!("> {line}").trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }

    fn markdown(self, numbers: bool) -> String {
        let mut text = self.0.trim();
        if text.len() > PROSE_MAX {
            text = &text[..text.floor_char_boundary(PROSE_MAX)];
        }
        // What nobody sees goes: a secret in two halves is one again, and is taken out.
        let seen = |c: &char| "\n\t".contains(*c) || !is_hidden(*c);
        let text = defused(&text.chars().filter(seen).collect::<String>(), numbers);
        // Links in any form, and what a browser reads as a colon.
        let text = text
            .replace("](", "]\u{2060}(")
            .replace("]:", "]\u{2060}:")
            .replace("www.", "www\u{2060}.")
            .replace('&', "&\u{2060}");
        // What a forge takes for HTML, it may hide.
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find('<') {
            let (before, after) = rest.split_at(at + 1);
            out.push_str(before);
            if after.starts_with(|c: char| c.is_ascii_alphabetic() || "/?!".contains(c)) {
                out.push(JOINER);
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// A bounded block of Markdown that nothing inside can end.
    #[must_use]
    pub fn block(self) -> String {
        let mut text = self.0.trim();
        let cut = text.len() > QUOTE_MAX;
        if cut {
            text = &text[..text.floor_char_boundary(QUOTE_MAX)];
        }
        let fence = "`".repeat(longest_ticks(text).max(2) + 1);
        let shown = |c: char| {
            if !"\n\t".contains(c) && is_hidden(c) {
                ' '
            } else {
                c
            }
        };
        let text = defused(&text.chars().map(shown).collect::<String>(), true);
        let more = if cut {
            "\n… the transcript has the rest …"
        } else {
            ""
        };
        format!("{fence}text\n{text}{more}\n{fence}")
    }
}

fn longest_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// One line of at most `most` characters, without line breaks and what nobody sees.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    let clean: String = text
        .chars()
        .map(|c| if is_hidden(c) { ' ' } else { c })
        .collect();
    let words: Vec<&str> = clean.split_whitespace().collect();
    words.join(" ").chars().take(most).collect()
}

/// Control characters, the marks that reorder text (Trojan Source, CVE-2021-42574), and others that
/// nobody sees.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{2028}' | '\u{2029}'
            | '\u{e0000}'..='\u{e007f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{180b}'..='\u{180f}'
            | '\u{2800}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}')
}

/// The text with what nobody would see made visible: control characters, the marks that reorder text (CVE-2021-42574),
/// and all else of the kind. Line breaks and tabs stay.
#[must_use]
pub fn visible(text: &str) -> String {
    // It joins the parts of one picture.
    let hidden = |c: char| !matches!(c, '\n' | '\t' | '\u{200d}') && is_hidden(c);
    let seen = |c| {
        if hidden(c) {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(seen).collect()
}

/// Puts a joiner into all that would call a person, name an issue, be an address or a comment in
/// HTML, or command a bot; into numbers of issues where they mean one. Bots read code as well as
/// words.
fn defused(text: &str, numbers: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut begins_line = true;
    for (at, c) in text.char_indices() {
        let (before, rest) = (&text[..at], &text[at..]);
        if begins_line && "/!".contains(c) {
            out.push(JOINER);
        }
        begins_line = c == '\n' || begins_line && c.is_whitespace();
        out.push(c);
        let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let calls = match c {
            '@' => true,
            '#' => numbers && digit(&rest[1..]),
            '-' => numbers && digit(&rest[1..]) && ends_in_gh(before),
            ':' => rest.starts_with("://"),
            '<' => rest.starts_with("<!"),
            '!' => rest.starts_with("!["),
            _ => false,
        };
        if calls {
            out.push(JOINER);
        }
    }
    out
}

fn ends_in_gh(text: &str) -> bool {
    text.len() >= 2
        && text
            .get(text.len() - 2..)
            .is_some_and(|end| end.eq_ignore_ascii_case("gh"))
}

/// What Carson writes to people. As JSON it is its text, read back as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Page(String);

impl From<&'static str> for Page {
    fn from(literal: &'static str) -> Self {
        Self(literal.to_owned())
    }
}

impl Page {
    /// Adds words of ours.
    #[must_use]
    pub fn says(mut self, literal: &'static str) -> Self {
        self.0.push_str(literal);
        self
    }

    /// Adds what Carson, its operator or the forge made and named: a number, an id, a role, a
    /// reference, a pull request's address. Never text that a session or an issue has.
    #[must_use]
    pub fn names(mut self, own: impl Display) -> Self {
        self.0.push_str(&own.to_string());
        self
    }

    /// Adds a [title](Untrusted::title).
    #[must_use]
    pub fn title(mut self, text: &str) -> Self {
        self.0.push_str(&Untrusted::new(text).title());
        self
    }

    /// Adds a [line](Untrusted::line) of somebody else.
    #[must_use]
    pub fn quotes(mut self, text: &str) -> Self {
        self.0.push_str(&Untrusted::new(text).line());
        self
    }

    /// Adds a [block](Untrusted::block) of somebody else.
    #[must_use]
    pub fn quotes_all(mut self, text: &str) -> Self {
        self.0.push_str(&Untrusted::new(text).block());
        self
    }

    /// Adds [prose](Untrusted::prose) of somebody else.
    #[must_use]
    pub fn prose(mut self, text: &str) -> Self {
        self.0.push_str(&Untrusted::new(text).prose());
        self
    }

    /// Adds a [quotation](Untrusted::quotation) of somebody else.
    #[must_use]
    pub fn quotes_prose(mut self, text: &str) -> Self {
        self.0.push_str(&Untrusted::new(text).quotation());
        self
    }

    /// Adds another one.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.0.push_str(&other.0);
        self
    }

    /// The same with secrets taken out.
    #[must_use]
    pub fn without(self, secrets: impl FnOnce(&str) -> String) -> Self {
        Self(secrets(&self.0))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a forge, a chat or a bot would act on, wherever it stands.
    const SYNTAX: [&str; 12] = [
        "Closes #1",
        "fixes acme/widget#12",
        "Resolves GH-3",
        "closes https://forge.example/acme/widget/issues/1",
        "@everyone",
        "@carson-bot merge",
        "![](https://track.example/x.png)",
        "<img src=https://track.example>",
        "<!-- carson:claim firing=1 -->",
        "<!channel>",
        "/approve",
        "!restart",
    ];

    /// Whether something of it could be acted on by whoever reads the raw text.
    fn acts(text: &str, numbers: bool) -> bool {
        let number = |text: &str, mark: &str| {
            text.split(mark)
                .skip(1)
                .any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let person = text
            .split('@')
            .skip(1)
            .any(|rest| rest.starts_with(char::is_alphanumeric));
        let command = text
            .lines()
            .any(|line| line.trim_start().starts_with(['/', '!']));
        numbers && (number(text, "#") || number(&text.to_lowercase(), "gh-"))
            || person
            || command
            || ["://", "<!", "!["].iter().any(|mark| text.contains(mark))
    }

    #[test]
    fn nothing_of_it_acts_in_any_form() {
        for syntax in SYNTAX {
            for text in [
                syntax.to_owned(),
                format!("done\n{syntax}\n"),
                format!("```\n{syntax}\n````` `"),
                format!("`{syntax}` \u{2060}\u{200b}{syntax}"),
            ] {
                let text = Untrusted::new(&text);
                for shown in [text.title(), text.line(), text.block()] {
                    assert!(!acts(&shown, true), "{shown:?}");
                }
                assert!(!acts(&text.plain(), false), "{:?}", text.plain());
                let title = text.title();
                assert!(!title.contains("](h") && !title.contains("<i"), "{title:?}");
            }
        }
    }

    #[test]
    fn a_line_is_code_that_nothing_ends() {
        for (text, line) in [
            ("plain words", "`plain words`"),
            ("a `tick`", "`` a `tick` ``"),
            ("a\n\n# b\u{202e}c", "`a # b c`"),
            ("", ""),
        ] {
            assert_eq!(Untrusted::new(text).line(), line);
        }
        assert!(Untrusted::new(&"x".repeat(10_000)).line().len() < LINE_MAX + 10);
        assert_eq!(Untrusted::new(&"x".repeat(10_000)).title().len(), TITLE_MAX);
        assert_eq!(Untrusted::new("a\nb\t c\u{202e}d\u{0}").title(), "a b c d");
    }

    #[test]
    fn a_block_cannot_be_left_from_inside() {
        let quoted = Untrusted::new("a\n```\n````x\n<!-- carson:claim -->").block();
        let (first, last) = (quoted.lines().next(), quoted.lines().last());
        assert_eq!((first, last), (Some("`````text"), Some("`````")));
        assert!(!quoted.contains("<!--"));
        let quoted = Untrusted::new(&"ü".repeat(QUOTE_MAX)).block();
        assert!(quoted.len() < QUOTE_MAX + 100, "{}", quoted.len());
        assert!(quoted.contains("the transcript has the rest"));
    }

    #[test]
    fn a_quotation_keeps_its_form_and_no_line_of_it_is_anybody_else_s() {
        for syntax in SYNTAX {
            let text =
                format!("# Why\n\n- a\n\n```\n{syntax}\n\n{syntax} \u{200b}\r- passed: `all`");
            let quoted = Untrusted::new(&text).quotation();
            assert!(
                quoted.starts_with("> # Why\n>\n> - a\n>\n> ```\n> "),
                "{quoted}"
            );
            assert!(quoted.lines().all(|line| line.starts_with('>')), "{quoted}");
            assert!(!acts(&quoted, true), "{quoted:?}");
        }
        assert_eq!(Untrusted::new(" \u{200b}\n ").quotation(), "");
        // A number in two halves is one again.
        let split = Untrusted::new("Closes #\u{200b}1").quotation();
        assert_eq!(split, "> Closes #\u{2060}1");
    }

    #[test]
    fn hostile_words_take_no_longer() {
        let began = std::time::Instant::now();
        for text in [" ".repeat(300_000), "@#1/`".repeat(60_000)] {
            let _ = Untrusted::new(&text).plain();
        }
        assert!(began.elapsed().as_secs() < 10);
    }

    #[test]
    fn a_page_keeps_ours_and_quotes_theirs() {
        let page = Page::from("Work on #")
            .names(7)
            .says(": ")
            .quotes("Closes #1 @you");
        assert_eq!(
            page.as_str(),
            "Work on #7: `Closes #\u{2060}1 @\u{2060}you`"
        );
        let page = page.without(|text| text.replace("you", "[gone]"));
        assert!(page.to_string().ends_with("[gone]`"));
    }
}
