//! What the rules find in text of two bytes a character (UTF-16, either order).
//!
//! Known values are found without this: they are read without zeros anyway.

use crate::recognised::recognised;
use crate::span::{Scan, Span};

/// Fewer characters hold no credential.
const LEAST: usize = 8;
/// Characters that are read at once, and how many of them again.
const STEP: usize = 64 * 1024;
const AGAIN: usize = 16 * 1024;

/// What goes from a text, where it is wide.
pub(crate) fn in_wide(text: &[u8], from: usize) -> Vec<Span> {
    let mut spans = Vec::new();
    if !text.contains(&0) {
        return spans;
    }
    let mut at = 0;
    while at + 2 < text.len() {
        let length = wide_length(&text[at..]);
        if length >= LEAST {
            scan_wide_run(text, at, length, from, &mut spans);
        }
        at += (2 * length).saturating_sub(1).max(1);
    }
    spans
}

/// How many characters, each with a zero behind it but for the last, begin here.
fn wide_length(text: &[u8]) -> usize {
    let pairs = text.chunks(2);
    let wide = pairs.take_while(|pair| pair[0] != 0 && matches!(pair.get(1), None | Some(0)));
    let length = wide.count();
    // In the other order the zero of the last character stands before it.
    length + usize::from(length > 0 && text.get(2 * length).is_some_and(|byte| *byte != 0))
}

fn scan_wide_run(text: &[u8], at: usize, length: usize, from: usize, spans: &mut Vec<Span>) {
    let mut done = 0;
    while done < length {
        let until = length.min(done + STEP);
        let narrow: Vec<u8> = (done..until).map(|nth| text[at + 2 * nth]).collect();
        let mut scan = Scan::default();
        recognised(&narrow, 0, true, &mut scan);
        let place = |nth: usize| at + 2 * (done + nth);
        let found = scan.spans.iter().map(|span| Span {
            start: place(span.start).max(from),
            end: (place(span.end) - 1).min(text.len()),
            rule: span.rule,
            open: None,
        });
        spans.extend(found.filter(|span| span.end > from && span.start < span.end));
        done = if until == length {
            length
        } else {
            until - AGAIN
        };
    }
}
