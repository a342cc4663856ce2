//! One stream, cut into lines.

use std::ops::ControlFlow;

use memchr::memchr;

use crate::captured::Captured;

/// What is handed on of one line; the rest of a longer one is left out.
const LINE_MAX: usize = 1024 * 1024;

/// Which stream a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One line of output as it came, without its newline. Bytes, not text: NUL and what is not
/// UTF-8 arrive unharmed.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Where it came from.
    pub stream: Stream,
    /// The bytes, at most 1 MiB.
    pub bytes: &'a [u8],
    /// Whether the line was longer. Its rest is not handed on: a piece out of the middle of a
    /// line must never look like the beginning of one, because sentinels stand there.
    pub truncated: bool,
}

/// Cuts one stream into lines and keeps its head and tail.
pub(crate) struct Lines {
    stream: Stream,
    pub kept: Captured,
    partial: Vec<u8>,
    truncated: bool,
}

impl Lines {
    pub(crate) fn new(stream: Stream, keep: usize) -> Self {
        Self {
            stream,
            kept: Captured::keeping(keep),
            partial: Vec::new(),
            truncated: false,
        }
    }

    /// Hands on the lines that these bytes complete. `Break` is remembered, not obeyed: the caller
    /// still sees everything that was printed before the child ended.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        on_line: &mut impl FnMut(Line<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.kept.push(bytes);
        let (mut flow, mut rest) = (ControlFlow::Continue(()), bytes);
        while let Some(end) = memchr(b'\n', rest) {
            self.gather(&rest[..end]);
            if self.emit(on_line).is_break() {
                flow = ControlFlow::Break(());
            }
            rest = &rest[end + 1..];
        }
        self.gather(rest);
        flow
    }

    /// Hands on what came without a last newline.
    pub(crate) fn flush(
        &mut self,
        on_line: &mut impl FnMut(Line<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.partial.is_empty() {
            return ControlFlow::Continue(());
        }
        self.emit(on_line)
    }

    fn gather(&mut self, bytes: &[u8]) {
        let room = LINE_MAX - self.partial.len();
        self.truncated |= bytes.len() > room;
        self.partial
            .extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    fn emit(&mut self, on_line: &mut impl FnMut(Line<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let flow = on_line(Line {
            stream: self.stream,
            bytes: &self.partial,
            truncated: self.truncated,
        });
        self.partial.clear();
        self.truncated = false;
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(chunks: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let mut lines = Lines::new(Stream::Stdout, 16);
        let mut seen = Vec::new();
        let mut on_line = |line: Line<'_>| {
            seen.push((line.bytes.to_vec(), line.truncated));
            ControlFlow::Continue(())
        };
        for chunk in chunks {
            let _ = lines.push(chunk, &mut on_line);
        }
        let _ = lines.flush(&mut on_line);
        seen
    }

    #[test]
    fn a_line_split_over_writes_is_one_line() {
        let whole = |text: &str| (text.as_bytes().to_vec(), false);
        assert_eq!(
            cut(&[b"on", b"e\ntwo\n\nth", b"ree"]),
            [whole("one"), whole("two"), whole(""), whole("three")]
        );
    }

    #[test]
    fn the_middle_of_a_long_line_never_looks_like_a_line() {
        let long = vec![b'x'; LINE_MAX];
        let seen = cut(&[&long, b"[OK] not a sentinel\nnext\n"]);
        assert_eq!(seen[0], (long, true));
        assert_eq!(seen[1], (b"next".to_vec(), false));
        assert_eq!(seen.len(), 2);
    }

    #[test]
    fn a_line_of_exactly_the_maximum_is_whole() {
        let long = vec![b'x'; LINE_MAX];
        assert_eq!(cut(&[&long, b"\n"]), [(long, false)]);
    }

    #[test]
    fn a_break_does_not_lose_the_lines_behind_it() {
        let mut seen = 0;
        let mut lines = Lines::new(Stream::Stderr, 16);
        let flow = lines.push(b"a\nb\nc\n", &mut |_| {
            seen += 1;
            ControlFlow::Break(())
        });
        assert_eq!((flow, seen), (ControlFlow::Break(()), 3));
    }
}
