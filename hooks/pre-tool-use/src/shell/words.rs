//! Words: quotes, escapes and substitutions.

use std::rc::Rc;

use super::cursor::{Parser, ends_word};
use super::parser::MAX_DEPTH;
use super::syntax::{Node, Part, Word};

/// Where parts are read, and so where they end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// In the open: ends at a blank or an operator.
    Bare,
    /// In double quotes: ends at the closing one.
    Double,
    /// In `${…}`, and whether that stands in double quotes: ends at `}`.
    Brace(bool),
    /// In a here-document or arithmetic: ends with the text.
    HereDoc,
}

impl Parser<'_> {
    /// The word at the cursor; empty when there is none.
    pub(super) fn word(&mut self) -> Word {
        self.parts_as_word(Mode::Bare)
    }

    /// Reads parts up to the end of `mode`, which is not consumed.
    pub fn parts_as_word(&mut self, mode: Mode) -> Word {
        let mut word = Word::default();
        if self.depth > MAX_DEPTH {
            let rest = self.take_rest().to_owned();
            let body = Rc::new(Node::Unread(rest));
            word.parts.push(Part::Command { body, quoted: true });
            return word;
        }
        while !self.ended() && !self.mode_ends(mode) {
            self.part(mode, &mut word.parts);
        }
        word
    }

    fn mode_ends(&self, mode: Mode) -> bool {
        let byte = self.peek();
        match mode {
            Mode::Bare if matches!(byte, b'<' | b'>') => self.peek_at(1) != b'(',
            Mode::Bare => ends_word(byte),
            Mode::Double => byte == b'"',
            Mode::Brace(_) => byte == b'}',
            Mode::HereDoc => false,
        }
    }

    fn part(&mut self, mode: Mode, parts: &mut Vec<Part>) {
        let quotes = matches!(mode, Mode::Bare | Mode::Brace(_));
        match self.peek() {
            b'\\' => self.escape(mode, parts),
            b'\'' if matches!(mode, Mode::Bare | Mode::Brace(false)) => {
                self.pos += 1;
                let text = self.until_byte(b'\'');
                parts.push(Part::Quoted(text));
            }
            b'"' if quotes => self.double_quoted(parts),
            b'$' => self.dollar(mode, parts),
            b'`' => self.backticks(mode, parts),
            b'<' | b'>' if mode == Mode::Bare => self.process(parts),
            b'(' if mode == Mode::Brace(false) => self.literal_char(mode, parts),
            _ => self.literal_char(mode, parts),
        }
    }

    /// One plain character, or an extended glob.
    fn literal_char(&mut self, mode: Mode, parts: &mut Vec<Part>) {
        let live = !is_quoted(mode);
        if live
            && self.peek_at(1) == b'('
            && matches!(self.peek(), b'@' | b'!' | b'?' | b'*' | b'+')
        {
            self.pos += 2;
            self.skip_extglob();
            parts.push(Part::Pattern);
            return;
        }
        let Some(c) = self.bump() else { return };
        push_text(parts, c, live);
    }

    fn skip_extglob(&mut self) {
        let mut open = 1usize;
        while open > 0 {
            match self.bump() {
                Some('(') => open += 1,
                Some(')') => open -= 1,
                Some(_) => {}
                None => return,
            }
        }
    }

    fn escape(&mut self, mode: Mode, parts: &mut Vec<Part>) {
        self.pos += 1;
        let next = self.peek();
        let special = match mode {
            Mode::Bare | Mode::Brace(false) => true,
            Mode::Double | Mode::Brace(true) => {
                matches!(next, b'$' | b'`' | b'"' | b'\\' | b'\n' | b'}')
            }
            Mode::HereDoc => matches!(next, b'$' | b'`' | b'\\' | b'\n'),
        };
        if !special || next == 0 {
            push_text(parts, '\\', false);
            return;
        }
        match self.bump() {
            Some('\n') | None => {}
            Some(c) => push_text(parts, c, false),
        }
    }

    /// The text up to a byte, which is consumed; to the end when it does not come.
    pub(super) fn until_byte(&mut self, byte: u8) -> String {
        let rest = self.rest();
        let length = rest.bytes().position(|b| b == byte);
        self.pos += length.map_or(rest.len(), |n| n + 1);
        rest[..length.unwrap_or(rest.len())].to_owned()
    }

    fn double_quoted(&mut self, parts: &mut Vec<Part>) {
        self.pos += 1;
        // An empty pair of quotes is still a word.
        parts.push(Part::Quoted(String::new()));
        while !self.ended() && self.peek() != b'"' {
            self.part(Mode::Double, parts);
        }
        self.pos = (self.pos + 1).min(self.src.len());
    }

    fn dollar(&mut self, mode: Mode, parts: &mut Vec<Part>) {
        let quoted = is_quoted(mode);
        match self.peek_at(1) {
            b'(' if self.peek_at(2) == b'(' && self.sum(parts) => {}
            b'(' => {
                self.pos += 2;
                let body = Rc::new(self.nested_list());
                parts.push(Part::Command { body, quoted });
            }
            b'{' => {
                self.pos += 2;
                let param = self.braced_param(quoted);
                parts.push(param);
            }
            b'\'' if !quoted => {
                self.pos += 2;
                let text = self.ansi_c();
                parts.push(Part::Quoted(text));
            }
            b'"' if !quoted => {
                self.pos += 1;
                self.double_quoted(parts);
            }
            c if c == b'_' || c.is_ascii_alphanumeric() || b"@*#?-$!".contains(&c) => {
                self.pos += 1;
                let param = self.plain_param(quoted);
                parts.push(param);
            }
            _ => {
                self.pos += 1;
                push_text(parts, '$', false);
            }
        }
    }

    /// `$(( … ))`; false when it is a command substitution that starts with a subshell.
    fn sum(&mut self, parts: &mut Vec<Part>) -> bool {
        let from = self.pos + 3;
        let Some(end) = self.double_close(from) else {
            return false;
        };
        let inside = &self.src[from..end];
        self.pos = end + 2;
        parts.push(Part::Sum(
            Parser::new(inside, self.depth + 1).parts_as_word(Mode::HereDoc),
        ));
        true
    }

    /// The commands up to the closing parenthesis, which is consumed.
    pub(super) fn nested_list(&mut self) -> Node {
        if self.depth >= MAX_DEPTH {
            return Node::Unread(self.take_rest().to_owned());
        }
        self.depth += 1;
        let body = self.list(&[")"]);
        self.depth -= 1;
        self.eat(")");
        body
    }

    fn process(&mut self, parts: &mut Vec<Part>) {
        let reads = self.peek() == b'<';
        self.pos += 2;
        let body = Rc::new(self.nested_list());
        parts.push(Part::Process { body, reads });
    }

    fn backticks(&mut self, mode: Mode, parts: &mut Vec<Part>) {
        self.pos += 1;
        let mut inside = String::new();
        while let Some(c) = self.bump() {
            match c {
                '`' => break,
                '\\' if matches!(self.peek(), b'`' | b'\\' | b'$') => inside.extend(self.bump()),
                '\\' if mode == Mode::Double && self.peek() == b'"' => inside.extend(self.bump()),
                c => inside.push(c),
            }
        }
        let body = if self.depth >= MAX_DEPTH {
            Node::Unread(inside)
        } else {
            Parser::new(&inside, self.depth + 1).list(&[])
        };
        parts.push(Part::Command {
            body: Rc::new(body),
            quoted: is_quoted(mode),
        });
    }

    /// The inside of `$'…'`, with its escapes.
    fn ansi_c(&mut self) -> String {
        let mut out = String::new();
        while let Some(c) = self.bump() {
            match c {
                '\'' => break,
                '\\' => match unescape(self.rest()) {
                    Some((c, used)) => {
                        out.push(c);
                        self.pos += used;
                    }
                    None => out.push('\\'),
                },
                c => out.push(c),
            }
        }
        out
    }
}

fn is_quoted(mode: Mode) -> bool {
    matches!(mode, Mode::Double | Mode::HereDoc | Mode::Brace(true))
}

/// Adds a character to the last part when that is of the same kind.
fn push_text(parts: &mut Vec<Part>, c: char, live: bool) {
    match (parts.last_mut(), live) {
        (Some(Part::Bare(text)), true) | (Some(Part::Quoted(text)), false) => text.push(c),
        (_, true) => parts.push(Part::Bare(c.to_string())),
        (_, false) => parts.push(Part::Quoted(c.to_string())),
    }
}

/// The character of an escape (`\n`, `\x41`, `\101`, `\u0041`) whose backslash was read, and the
/// bytes it takes. Serves `$'…'`, `echo -e` and `printf`.
pub fn unescape(text: &str) -> Option<(char, usize)> {
    let letter = text.chars().next()?;
    let simple = match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' | 'E' => '\u{1b}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '?' => letter,
        'x' => return number(text, 1, 2, 16),
        'u' => return number(text, 1, 4, 16),
        'U' => return number(text, 1, 8, 16),
        '0'..='7' => return number(text, 0, 4, 8),
        _ => return None,
    };
    Some((simple, 1))
}

fn number(text: &str, from: usize, most: usize, radix: u32) -> Option<(char, usize)> {
    let digits = text[from..]
        .chars()
        .take(most)
        .take_while(|c| c.is_digit(radix))
        .count();
    let code = u32::from_str_radix(text.get(from..from + digits)?, radix).ok()?;
    Some((char::from_u32(code).unwrap_or('\u{FFFD}'), from + digits))
}
