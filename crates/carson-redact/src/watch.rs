//! Known values in bytes that were read out of a text, and where in the text these stood.

use crate::trie::{State, Trie};

/// So much of a value at the end of what there is waits for more.
const HELD: usize = 4;
/// So much of a value at the very end of a text counts as the value: whoever cuts texts cuts secrets.
const LEAST_TORN: usize = 12;

/// How what was looked through ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing follows.
    Complete,
    /// More may come.
    Open,
    /// Something else follows.
    Closed,
}

/// What was found so far, in places of the text.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub spans: Vec<(usize, usize)>,
    /// From here on, nobody can say before more of the text is there.
    pub undecided: Option<usize>,
}

impl Found {
    fn add(&mut self, start: usize, end: usize) {
        // Values in values, and one that follows itself, would be as many spans as bytes.
        if let Some(last) = self.spans.last_mut()
            && start <= last.1
            && last.0 <= end
        {
            *last = (last.0.min(start), last.1.max(end));
            return;
        }
        self.spans.push((start, end));
    }

    fn wait(&mut self, at: usize) {
        self.undecided = Some(self.undecided.map_or(at, |before| before.min(at)));
    }
}

/// One way of reading a text, under watch.
#[derive(Debug)]
pub(crate) struct Watch<'t> {
    trie: &'t Trie,
    state: State,
    /// Where the last bytes began, at least as many as the state has seen of a value.
    starts: Vec<usize>,
    end: usize,
}

impl<'t> Watch<'t> {
    pub(crate) fn new(trie: &'t Trie) -> Self {
        Self {
            trie,
            state: 0,
            starts: Vec::new(),
            end: 0,
        }
    }

    /// The next byte, which was written from `start` to `end`.
    #[inline]
    pub(crate) fn push(&mut self, byte: u8, start: usize, end: usize, found: &mut Found) {
        self.state = self.trie.step(self.state, byte);
        self.end = end;
        if self.state == 0 {
            self.starts.clear();
            return;
        }
        self.starts.push(start);
        let depth = self.trie.depth(self.state);
        if self.starts.len() > 2 * depth + 64 {
            self.starts.drain(..self.starts.len() - depth);
        }
        let whole = self.trie.whole(self.state);
        if whole > 0 {
            found.add(self.starts[self.starts.len() - whole], end);
        }
    }

    /// What follows does not continue what was there.
    pub(crate) fn reset(&mut self) {
        self.state = 0;
        self.starts.clear();
    }

    /// Where the last byte ended.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    pub(crate) fn finish(self, end: End, found: &mut Found) {
        let depth = self.trie.depth(self.state);
        if depth == 0 {
            return;
        }
        let start = self.starts[self.starts.len() - depth];
        let torn = depth >= LEAST_TORN && 2 * depth >= self.trie.shortest_from(self.state);
        match end {
            End::Complete if torn => found.add(start, self.end),
            End::Open if depth >= HELD => found.wait(start),
            _ => {}
        }
    }
}
