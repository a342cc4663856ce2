//! A stream's output in bounded memory: its head and its tail.

use std::collections::VecDeque;

/// What was kept of one stream.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    keep: usize,
    /// The first bytes.
    head: Vec<u8>,
    /// The last bytes behind the head.
    tail: VecDeque<u8>,
    /// All bytes that came, kept or not.
    total_bytes: u64,
}

impl Captured {
    /// Bytes in which no secret is longer.
    pub const MARGIN: usize = 4 * 1024;

    /// Keeps `keep` bytes of the head and as many of the tail.
    pub(crate) fn keeping(keep: usize) -> Self {
        Self {
            keep,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        self.total_bytes += bytes.len() as u64;
        let room = self.keep - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        bytes = &rest[rest.len().saturating_sub(self.keep)..];
        let over = (self.tail.len() + bytes.len()).saturating_sub(self.keep);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(bytes);
    }

    /// Bytes that came in all.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Whether something between head and tail was left out.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.left_out() > 0
    }

    fn left_out(&self) -> u64 {
        self.total_bytes - (self.head.len() + self.tail.len()) as u64
    }

    /// Head, a marker where bytes were left out, tail.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut all = self.head.clone();
        if self.is_truncated() {
            all.extend(format!("\n… {} bytes left out …\n", self.left_out()).into_bytes());
        }
        all.extend(&self.tail);
        all
    }

    /// The same as text without secrets. Head and tail need [`Self::MARGIN`] bytes more than people get: where
    /// something was left out, that much beside it goes, too, and with it what may be a part of a secret.
    #[must_use]
    pub fn text_without(&self, secrets: impl Fn(&str) -> String) -> String {
        if !self.is_truncated() {
            return secrets(&self.text());
        }
        let clean = |bytes: &[u8]| secrets(&String::from_utf8_lossy(bytes));
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let (head, tail) = (clean(&self.head), clean(&tail));
        let head = &head[..head.floor_char_boundary(head.len().saturating_sub(Self::MARGIN))];
        let tail = &tail[tail.ceil_char_boundary(Self::MARGIN.min(tail.len()))..];
        let shown = (head.len() + tail.len()) as u64;
        let left_out = self.total_bytes.saturating_sub(shown);
        format!("{head}\n… {left_out} bytes left out …\n{tail}")
    }

    /// The same as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_secret_stands_beside_what_was_left_out() {
        let secret = "tokABCDEFGHIJKLMNOP";
        let clean = |text: &str| text.replace(secret, "***");
        let keep = 100 + Captured::MARGIN;
        for at in keep - 40..keep + 5 {
            let mut captured = Captured::keeping(keep);
            captured.push("a".repeat(at).as_bytes());
            captured.push(secret.as_bytes());
            captured.push("b".repeat(5 * keep).as_bytes());
            captured.push(secret.as_bytes());
            captured.push("c".repeat(at).as_bytes());
            let text = captured.text_without(clean);
            assert!(captured.is_truncated() && text.contains("bytes left out"));
            assert!(
                !text.contains("tok") && !text.contains("NOP"),
                "{at}: {text}"
            );
            assert!(text.len() < 300, "{}", text.len());
        }
        let mut captured = Captured::keeping(keep);
        captured.push(secret.as_bytes());
        assert_eq!(captured.text_without(clean), "***");
    }

    #[test]
    fn small_output_is_kept_whole() {
        let mut captured = Captured::keeping(4);
        captured.push(b"abc");
        captured.push(b"def");
        assert_eq!(captured.text(), "abcdef");
        assert!(!captured.is_truncated());
    }

    #[test]
    fn large_output_keeps_head_and_tail() {
        let mut captured = Captured::keeping(3);
        for chunk in [b"abcdefg".as_slice(), b"h", b"ijklmnopq"] {
            captured.push(chunk);
        }
        assert_eq!(captured.total_bytes(), 17);
        assert_eq!(captured.text(), "abc\n… 11 bytes left out …\nopq");
    }
}
