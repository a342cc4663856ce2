//! The ways in which a text is read for known values.

use crate::coded::{Base, Decoded, Runs};
use crate::known::Known;
use crate::numbers::{dump, hexadecimal, lists};
use crate::unescape::unescape;
use crate::watch::{End, Found, Watch};

/// How often base64 or base32 may be put into itself or the other.
const DEPTH: usize = 3;
/// Between two letters or digits of a value that is spelled out.
const SPELLED: usize = 64;

/// Looks for known values in a text, however it is written.
pub(crate) fn look(known: &Known, text: &[u8], end: End) -> Found {
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
        for flag in [false, true] {
            let mut watch = Watch::new(&self.known.plain);
            hexadecimal(text, flag, &mut watch, self.found);
            watch.finish(end, self.found);
            let mut watch = Watch::new(&self.known.plain);
            dump(text, flag, &mut watch, self.found);
            watch.finish(end, self.found);
        }
        let mut decimal = Watch::new(&self.known.plain);
        let mut octal = Watch::new(&self.known.plain);
        lists(text, &mut decimal, &mut octal, self.found);
        decimal.finish(end, self.found);
        octal.finish(end, self.found);
    }

    /// Without escapes; of that, letters and digits alone; and what in it is base64 or base32.
    fn meant(&mut self, text: &[u8], places: Places<'_>, end: End, depth: usize) {
        let (shortest, longest) = (self.known.plain.shortest(), self.known.plain.longest());
        let mut watch = Watch::new(&self.known.plain);
        let mut spelled = Watch::new(&self.known.spelled);
        let mut runs = [Base::Sixty4, Base::Thirty2].map(|base| Runs::new(base, shortest, longest));
        unescape(text, |byte, start, end| {
            let (start, end) = written(places, start, end);
            watch.push(byte, start, end, self.found);
            if byte.is_ascii_alphanumeric() {
                if start > spelled.end() + SPELLED {
                    spelled.reset();
                }
                spelled.push(byte, start, end, self.found);
            }
            for runs in runs.iter_mut().filter(|_| depth > 0) {
                if runs.push(byte, start, end) {
                    let goes_on = runs.takes(byte);
                    self.decoded(&runs.decode(goes_on), End::Closed, depth);
                }
            }
        });
        watch.finish(end, self.found);
        spelled.finish(end, self.found);
        for mut runs in runs.into_iter().filter(Runs::is_run) {
            self.decoded(&runs.decode(false), end, depth);
        }
    }

    fn decoded(&mut self, all: &[Decoded], end: End, depth: usize) {
        for one in all {
            self.plain(&one.bytes, Some(&one.places), end);
            self.meant(&one.bytes, Some(&one.places), end, depth - 1);
        }
    }
}
