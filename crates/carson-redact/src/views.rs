//! The ways in which a text is read for known values.

use std::ops::Range;

use crate::coded::{Decoded, Runs, continues};
use crate::known::Known;
use crate::numbers::{dump, hexadecimal, lists};
use crate::unescape::unescape;
use crate::watch::{End, Found, Watch};

/// How often base64 or base32 may be put into itself or the other.
const DEPTH: usize = 3;
/// Between two letters or digits of a value that is spelled out.
const SPELLED: usize = 64;

/// Looks for known values in a text, however it is written.
pub(crate) fn find_known_values(known: &Known, text: &[u8], end: End) -> Found {
    let mut found = Found::default();
    if known.plain.is_empty() {
        return found;
    }
    let mut views = Views {
        known,
        found: &mut found,
    };
    views.plain(text, None, end);
    views.numbers(text, end);
    views.meant(text, None, end, DEPTH);
    found
}

struct Views<'v> {
    known: &'v Known,
    found: &'v mut Found,
}

/// Where the bytes of a text that was read out are written; `None` for the text itself.
type Places<'p> = Option<&'p [(usize, usize)]>;

fn written(places: Places<'_>, start: usize, end: usize) -> (usize, usize) {
    match places {
        None => (start, end),
        Some(places) => (places[start].0, places[end - 1].1),
    }
}

impl Views<'_> {
    /// As it stands. Terminals, mail and tools wrap what is long, so line breaks are passed over.
    fn plain(&mut self, text: &[u8], places: Places<'_>, end: End) {
        let mut watch = Watch::new(&self.known.plain);
        for (at, byte) in text.iter().enumerate() {
            if !b"\r\n".contains(byte) {
                let (start, end) = written(places, at, at + 1);
                watch.push(*byte, start, end, self.found);
            }
        }
        watch.finish(end, self.found);
    }

    fn numbers(&mut self, text: &[u8], end: End) {
        // Of a byte of text, in whatever base, the first digit is one of these.
        if !text.iter().any(u8::is_ascii_digit) {
            return;
        }
        let watch = || Watch::new(&self.known.plain);
        let mut all = std::array::from_fn::<_, 6, _>(|_| watch());
        let [even, odd, dumped, swapped, decimal, octal] = &mut all;
        hexadecimal(text, even, odd, self.found);
        dump(text, dumped, swapped, self.found);
        lists(text, decimal, octal, self.found);
        for watch in all {
            watch.finish(end, self.found);
        }
    }

    /// Without escapes; of that, letters and digits alone; and what in it is base64 or base32.
    fn meant(&mut self, text: &[u8], places: Places<'_>, end: End, depth: usize) {
        let (shortest, longest) = (self.known.plain.shortest(), self.known.plain.longest());
        let mut watch = Watch::new(&self.known.plain);
        let mut spelled = Watch::new(&self.known.spelled);
        let mut runs = Runs::new(shortest, longest);
        unescape(text, |byte, start, end| {
            let (start, end) = written(places, start, end);
            watch.push(byte, start, end, self.found);
            if byte.is_ascii_alphanumeric() {
                if start > spelled.end() + SPELLED {
                    spelled.reset();
                }
                spelled.push(byte, start, end, self.found);
            }
            if depth > 0 && runs.push(byte, start, end) {
                let all = runs.decode(continues(byte));
                self.decoded(&all, End::Closed, depth);
            }
        });
        watch.finish(end, self.found);
        spelled.finish(end, self.found);
        if depth > 0 && runs.is_run() {
            self.decoded(&runs.decode(false), end, depth);
        }
    }

    fn decoded(&mut self, all: &[Decoded], end: End, depth: usize) {
        for one in all {
            self.plain(&one.bytes, Some(&one.places), end);
            // Most of it is noise, and only text is read any further.
            let mut from = 0;
            while let Some(text) = next_text(&one.bytes, from, self.known.plain.shortest()) {
                from = text.end;
                let end = if from == one.bytes.len() {
                    end
                } else {
                    End::Closed
                };
                self.meant(
                    &one.bytes[text.clone()],
                    Some(&one.places[text]),
                    end,
                    depth - 1,
                );
            }
        }
    }
}

/// The next run of at least `least` bytes of which text is made.
fn next_text(bytes: &[u8], mut from: usize, least: usize) -> Option<Range<usize>> {
    let is_text = |byte: &u8| matches!(byte, 0 | b'\t' | b'\n' | b'\r' | 0x1b | b' '..=b'~');
    loop {
        let start = from + bytes[from..].iter().position(is_text)?;
        let length = bytes[start..].iter().position(|byte| !is_text(byte));
        let end = length.map_or(bytes.len(), |length| start + length);
        if end - start >= least {
            return Some(start..end);
        }
        from = end;
    }
}
