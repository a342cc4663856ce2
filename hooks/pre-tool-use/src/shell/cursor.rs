//! The text and the place in it.

use std::cell::OnceCell;
use std::rc::Rc;

use super::syntax::Word;

/// Most commands that are read; what follows is kept as [`Node::Unread`](super::syntax::Node). No
/// one writes as many, and reading them would cost most of the time a call may take.
const MAX_COMMANDS: usize = 40_000;

/// A here-document whose lines come after the current line.
pub(super) struct Pending {
    pub(super) delimiter: String,
    pub(super) literal: bool,
    pub(super) tabs: bool,
    pub(super) body: Rc<OnceCell<Word>>,
}

/// A reader over one text.
pub struct Parser<'s> {
    pub(super) src: &'s str,
    pub(super) pos: usize,
    pub(super) depth: usize,
    /// Commands this reader may still read.
    pub(super) budget: usize,
    pub(super) pending: Vec<Pending>,
}

impl<'s> Parser<'s> {
    /// A reader at nesting `depth`.
    pub fn new(src: &'s str, depth: usize) -> Self {
        Self {
            src,
            pos: 0,
            depth,
            budget: MAX_COMMANDS,
            pending: Vec::new(),
        }
    }

    pub(super) fn rest(&self) -> &'s str {
        &self.src[self.pos..]
    }

    pub(super) fn ended(&self) -> bool {
        self.pos >= self.src.len()
    }

    /// The next byte; 0 at the end.
    pub(super) fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, offset: usize) -> u8 {
        self.src
            .as_bytes()
            .get(self.pos + offset)
            .copied()
            .unwrap_or(0)
    }

    pub(super) fn at(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let here = self.at(text);
        if here {
            self.pos += text.len();
        }
        here
    }

    /// The next character, consumed.
    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    /// Everything up to the end, consumed.
    pub(super) fn take_rest(&mut self) -> &'s str {
        let rest = self.rest();
        self.pos = self.src.len();
        rest
    }

    /// Skips spaces, tabs and continued lines.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\r' => self.pos += 1,
                b'\\' if self.at("\\\n") => self.pos += 2,
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and new lines; a new line brings the bodies of here-documents.
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            match self.peek() {
                b'#' => self.skip_comment(),
                b'\n' => {
                    self.pos += 1;
                    self.read_heredocs();
                }
                _ => return,
            }
        }
    }

    pub(super) fn skip_comment(&mut self) {
        self.pos += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Whether the next word is exactly `word`.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.at(word) && ends_word(self.peek_at(word.len()))
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.at_word(word);
        if here {
            self.pos += word.len();
        }
        here
    }

    /// The end (exclusive) of a balanced `(( … ))` or `$(( … ))` whose inside starts at `from`, or
    /// `None` when its two closing parentheses do not stand together: then it is two subshells.
    pub(super) fn double_close(&self, from: usize) -> Option<usize> {
        let bytes = self.src.as_bytes();
        let mut open = 0usize;
        let mut at = from;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'\'' | b'"' => at += skip_quote(&bytes[at..]),
                b'(' => open += 1,
                b')' if open == 0 => return (bytes.get(at + 1) == Some(&b')')).then_some(at),
                b')' => open -= 1,
                _ => {}
            }
            at += 1;
        }
        None
    }
}

/// The offset of the closing quote.
fn skip_quote(bytes: &[u8]) -> usize {
    let close = bytes.iter().skip(1).position(|&b| b == bytes[0]);
    close.map_or(0, |at| at + 1)
}

/// Whether a byte ends a word.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        0 | b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
    )
}
