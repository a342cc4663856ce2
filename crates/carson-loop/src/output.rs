//! What a run printed, in bounded memory: its beginning and its end.

use std::collections::VecDeque;

/// The first bytes of an output and the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    keep: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Output {
    /// One that keeps so many bytes at each end.
    #[must_use]
    pub fn keeping(keep: usize) -> Self {
        Self {
            keep,
            ..Self::default()
        }
    }

    /// More of it.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.keep - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.keep)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(self.keep);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// Bytes that came in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes between beginning and end that were left out.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// Whether nothing came but blanks.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let blank = |byte: &u8| byte.is_ascii_whitespace();
        self.left_out() == 0 && self.head.iter().chain(&self.tail).all(blank)
    }

    /// The beginning, a line that says how much was left out, the end.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut all = self.head.clone();
        if self.left_out() > 0 {
            all.extend(format!("\n… {} bytes left out …\n", self.left_out()).into_bytes());
        }
        all.extend(&self.tail);
        all
    }

    /// What it can be told from another one by: whole lines of both ends. Where they were cut, and how much was left
    /// out, is another place when one line is a letter longer.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        let mut all = self.head.clone();
        if self.left_out() == 0 {
            all.extend(&self.tail);
            return all;
        }
        let end = |byte: &u8| *byte == b'\n';
        all.truncate(all.iter().rposition(end).map_or(0, |at| at + 1));
        let from = self.tail.iter().position(end).map_or(0, |at| at + 1);
        all.extend(self.tail.range(from..));
        all
    }

    /// The same as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_it_is_told_by_is_whole_lines() {
        let content = |text: &str| {
            let mut output = Output::keeping(12);
            output.push(text.as_bytes());
            String::from_utf8(output.content()).unwrap()
        };
        assert_eq!(content("one\ntwo\nthree"), "one\ntwo\nthree");
        assert_eq!(
            content("one\ntwo\nthree and\nmore of it\nend\n"),
            "one\ntwo\nend\n"
        );
        assert_eq!(
            content("one\ntwo\nthree and\nmore of it!\nend\n"),
            "one\ntwo\nend\n"
        );
    }

    proptest! {
        #[test]
        fn both_ends_are_kept_however_it_comes(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9), 0..12),
            keep in 0..8_usize,
        ) {
            let mut output = Output::keeping(keep);
            pieces.iter().for_each(|piece| output.push(piece));
            let all = pieces.concat();
            prop_assert_eq!(output.total(), all.len() as u64);
            let kept = all.len() - usize::try_from(output.left_out()).unwrap();
            prop_assert_eq!(kept, all.len().min(2 * keep));
            let bytes = output.bytes();
            let (head, tail) = (&all[..all.len().min(keep)], &all[all.len().saturating_sub(kept - all.len().min(keep))..]);
            prop_assert!(bytes.starts_with(head) && bytes.ends_with(tail));
        }
    }
}
