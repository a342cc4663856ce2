//! Parameter expansions: `$x`, `${x:-y}` and their like.

use super::cursor::Parser;
use super::syntax::{Param, Part, Word};
use super::words::Mode;

/// Operators inside `${…}`, longest first.
const OPERATORS: [&str; 21] = [
    ":-", ":=", ":+", ":?", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "=", "+", "?", "#", "%",
    "/", "^", ",", ":",
];

impl Parser<'_> {
    /// `$x`, after the dollar.
    pub(super) fn plain_param(&mut self, quoted: bool) -> Part {
        let first = self.peek();
        let name = if first == b'_' || first.is_ascii_alphabetic() {
            self.name()
        } else {
            self.bump().map(String::from).unwrap_or_default()
        };
        Part::Param(Box::new(Param {
            name,
            quoted,
            ..Param::default()
        }))
    }

    /// `${x…}`, after the brace.
    pub(super) fn braced_param(&mut self, quoted: bool) -> Part {
        let mut param = Param {
            quoted,
            ..Param::default()
        };
        if self.peek() == b'#' && self.peek_at(1) != b'}' {
            self.pos += 1;
            param.length = true;
        } else if self.peek() == b'!' && self.peek_at(1) != b'}' {
            self.pos += 1;
            param.indirect = true;
        }
        param.name = self.param_name();
        self.subscript();
        param.change = self.change(quoted);
        self.eat("}");
        Part::Param(Box::new(param))
    }

    fn param_name(&mut self) -> String {
        let byte = self.peek();
        if byte == b'_' || byte.is_ascii_alphanumeric() {
            return self.name();
        }
        if b"@*#?-$!".contains(&byte) {
            self.bump().map(String::from).unwrap_or_default()
        } else {
            String::new()
        }
    }

    /// A run of letters, digits and underscores.
    pub(super) fn name(&mut self) -> String {
        let rest = self.rest();
        let end = rest
            .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        self.pos += end;
        rest[..end].to_owned()
    }

    fn subscript(&mut self) {
        if self.eat("[") {
            self.until_byte(b']');
        }
    }

    fn change(&mut self, quoted: bool) -> Option<(String, Word)> {
        if self.ended() || self.peek() == b'}' {
            return None;
        }
        let operator = OPERATORS
            .into_iter()
            .find(|op| self.at(op))
            .unwrap_or_default();
        self.pos += operator.len();
        self.depth += 1;
        let word = self.parts_as_word(Mode::Brace(quoted));
        self.depth -= 1;
        Some((operator.to_owned(), word))
    }
}
