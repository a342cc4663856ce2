//! Lines of a stream that somebody else writes: each has a length, and the stream has no end that could be
//! waited for.

use std::io::{self, BufRead, BufReader, Read};

use tokio::sync::mpsc::Sender;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its end.
    Whole(Vec<u8>),
    /// One that was longer than may be; nothing of it was kept.
    TooLong,
}

/// Hands on the lines of a stream until it ends, breaks, or nobody listens. Blocks: on a thread of its
/// own, which is left behind where the process ends before the stream does.
pub(crate) fn hand_on(from: impl Read, most: usize, to: &Sender<Line>) -> io::Result<()> {
    let mut from = BufReader::new(from);
    while let Some(line) = next(&mut from, most)? {
        if to.blocking_send(line).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// The next line; none at the end. What stands after the last line break is a line, too.
fn next(from: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let (mut is_long, mut is_there) = (false, false);
    loop {
        let read = from.fill_buf()?;
        if read.is_empty() {
            break;
        }
        is_there = true;
        let end = read.iter().position(|byte| *byte == b'\n');
        let piece = &read[..end.unwrap_or(read.len())];
        is_long |= line.len() + piece.len() > most;
        match is_long {
            true => line = Vec::new(),
            false => line.extend_from_slice(piece),
        }
        let used = piece.len() + usize::from(end.is_some());
        from.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(match (is_there, is_long) {
        (false, _) => None,
        (true, true) => Some(Line::TooLong),
        (true, false) => Some(Line::Whole(line)),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &[u8], most: usize, buffer: usize) -> Vec<Line> {
        let mut from = BufReader::with_capacity(buffer, text);
        std::iter::from_fn(|| next(&mut from, most).unwrap()).collect()
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_read() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        for buffer in [1, 3, 4, 5, 64] {
            let read = lines(b"abcd\nabcde\n\nab\r\nend", 4, buffer);
            let wanted = [
                whole("abcd"),
                Line::TooLong,
                whole(""),
                whole("ab\r"),
                whole("end"),
            ];
            assert_eq!(read, wanted, "{buffer}");
        }
        assert_eq!(lines(b"", 4, 8), []);
        assert_eq!(lines(b"abcde", 4, 2), [Line::TooLong]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn lines_are_those_between_line_breaks(
            text in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
            most in 0_usize..12,
            buffer in 1_usize..40,
        ) {
            let mut wanted: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            if wanted.last().is_some_and(|last| last.is_empty()) {
                wanted.pop();
            }
            let wanted: Vec<Line> = wanted
                .into_iter()
                .map(|line| match line.len() > most {
                    true => Line::TooLong,
                    false => Line::Whole(line.to_vec()),
                })
                .collect();
            prop_assert_eq!(lines(&text, most, buffer), wanted);
        }
    }
}
