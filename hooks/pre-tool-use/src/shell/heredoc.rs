//! Here-documents: their lines come after the line that announces them.

use std::cell::OnceCell;
use std::rc::Rc;

use super::cursor::{Parser, Pending};
use super::syntax::{Part, Word};
use super::words::Mode;

impl Parser<'_> {
    /// Notes that the body of a here-document is due after the current line.
    pub(super) fn announce_heredoc(&mut self, delimiter: &Word, tabs: bool) -> Rc<OnceCell<Word>> {
        let body = Rc::new(OnceCell::new());
        self.pending.push(Pending {
            delimiter: delimiter.literal().unwrap_or_default(),
            literal: delimiter.has_quotes(),
            tabs,
            body: Rc::clone(&body),
        });
        body
    }

    /// Reads the bodies that are due; called right after a new line.
    pub(super) fn read_heredocs(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.heredoc_text(&pending);
            let word = if pending.literal {
                Word {
                    parts: vec![Part::Quoted(text)],
                }
            } else {
                Parser::new(&text, self.depth + 1).parts_as_word(Mode::HereDoc)
            };
            // A body is announced once and read once; a second value could only be the same.
            let _ = pending.body.set(word);
        }
    }

    fn heredoc_text(&mut self, pending: &Pending) -> String {
        let mut text = String::new();
        while !self.ended() {
            let line = self.rest().split_inclusive('\n').next().unwrap_or_default();
            self.pos += line.len();
            let kept = if pending.tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if kept.trim_end_matches(['\n', '\r']) == pending.delimiter {
                break;
            }
            text.push_str(kept);
        }
        text
    }
}
