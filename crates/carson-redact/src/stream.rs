//! Output that comes in pieces.

use crate::redactor::{Redactor, mark};
use crate::rules::pem;
use crate::span::Open;

/// A line that is longer is handed on before its end.
const LONG_LINE: usize = 64 * 1024;
/// What of such a line waits for more: nothing that a rule must see as a whole is longer.
const HELD: usize = 16 * 1024;
/// What has been handed on and is still looked back at.
const BEHIND: usize = 600;

/// Redacts a stream. What is handed on is handed on at the end of each line, but for a line that
/// ends within what may be a known value or a private key. Memory is bounded, whatever comes.
#[derive(Debug)]
pub struct Stream {
    redactor: Redactor,
    /// What came, from a little before what was handed on.
    text: Vec<u8>,
    /// How much of it was handed on.
    done: usize,
    open: Option<Open>,
    /// How much must wait before it is looked at again: what is held back for long is not read anew
    /// with each piece.
    enough: usize,
}

impl Redactor {
    /// A stream of output that comes in pieces.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream::new(self.clone())
    }
}

impl Stream {
    fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            text: Vec::new(),
            done: 0,
            open: None,
            enough: 0,
        }
    }

    /// Takes the next piece, and adds to `out` what can be handed on.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        // In steps, so that one huge piece is not held twice.
        for part in piece.chunks(4 * LONG_LINE) {
            self.text.extend_from_slice(part);
            let unseen = part.iter().rposition(|byte| *byte == b'\n');
            let lines = unseen.map(|at| self.text.len() - part.len() + at + 1);
            if self.text.len() - self.done < self.enough {
                continue;
            }
            let waiting = self.text.len() - lines.unwrap_or(self.done);
            if waiting > LONG_LINE + HELD {
                self.step(self.text.len(), self.text.len() - HELD, out);
            } else if let Some(lines) = lines {
                self.step(lines, lines, out);
            }
        }
    }

    /// Nothing more comes.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let end = self.text.len();
        self.resume(end);
        self.hand_on(end, end, true, out);
        (self.text, self.done, self.open, self.enough) = (Vec::new(), 0, None, 0);
    }

    /// Hands on what begins before `safe`; `seen` is how much of the text is looked at.
    fn step(&mut self, seen: usize, safe: usize, out: &mut Vec<u8>) {
        self.resume(seen);
        self.hand_on(seen, safe, false, out);
        self.forget();
        let held = self.text.len() - self.done;
        self.enough = if held > 2 * HELD { held + held / 2 } else { 0 };
    }

    fn hand_on(&mut self, seen: usize, safe: usize, complete: bool, out: &mut Vec<u8>) {
        if self.done >= seen {
            return;
        }
        let scanner = self.redactor.scanner();
        let base = self.done.saturating_sub(BEHIND);
        let scan = scanner.scan(&self.text[base..seen], self.done - base, complete);
        // What is undecided waits, but not for ever.
        let patience = seen.saturating_sub(4 * LONG_LINE + HELD.max(8 * scanner.longest()));
        let wait = scan.undecided.map_or(safe, |at| base + at).max(patience);
        let safe = safe.min(wait);
        for span in scan.spans.iter().filter(|span| base + span.start < safe) {
            out.extend_from_slice(&self.text[self.done..base + span.start]);
            mark(span.rule, out);
            self.done = base + span.end;
            self.open = span.open.filter(|_| self.done == seen);
        }
        if self.done < safe {
            out.extend_from_slice(&self.text[self.done..safe]);
            self.done = safe;
        }
    }

    /// Leaves out what still belongs to the last span.
    fn resume(&mut self, seen: usize) {
        let Some(open) = self.open else { return };
        let (end, closed) = match open {
            Open::Run(alphabet) => {
                let rest = &self.text[self.done..seen];
                let length = rest.iter().position(|byte| !alphabet.has(*byte));
                (self.done + length.unwrap_or(rest.len()), false)
            }
            Open::Pem => {
                let body = pem::Body::read(&self.text[..seen], self.done);
                (body.end, body.closed)
            }
        };
        if closed || end < seen {
            self.open = None;
        }
        self.done = end;
    }

    fn forget(&mut self) {
        let behind = self.done.saturating_sub(BEHIND);
        if behind > LONG_LINE || self.done == self.text.len() {
            self.text.drain(..behind);
            self.done -= behind;
        }
    }
}
