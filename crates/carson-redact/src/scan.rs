//! One pass over a text.

use std::collections::BTreeSet;

use crate::known::Known;
use crate::recognised::recognised;
use crate::rules::KNOWN;
use crate::span::{Scan, Span};
use crate::views::find_known_values;
use crate::watch::End;
use crate::wide::in_wide;

/// What known values are looked for.
pub(crate) struct Scanner(Known);

impl Scanner {
    pub(crate) fn new(known: &BTreeSet<String>) -> Self {
        Self(Known::new(known))
    }

    /// The longest known form.
    pub(crate) fn longest(&self) -> usize {
        self.0.plain.longest()
    }

    /// Looks for what ends behind `from`; what is before it is only looked back at.
    /// `complete` says that nothing will follow.
    pub(crate) fn scan(&self, text: &[u8], from: usize, complete: bool) -> Scan {
        let end = if complete { End::Complete } else { End::Open };
        let found = find_known_values(&self.0, text, end);
        let known = found.spans.into_iter().filter(|span| span.1 > from);
        // Of one whose beginning was handed on, the rest still goes.
        let known = known.map(|(start, end)| Span {
            start: start.max(from),
            end,
            rule: KNOWN,
            open: None,
        });
        let mut scan = Scan {
            spans: merged(known.collect()),
            undecided: found.undecided.filter(|at| *at >= from),
        };
        recognised(text, from, complete, &mut scan);
        scan.spans.extend(in_wide(text, from));
        scan.spans = merged(scan.spans);
        scan
    }
}

/// Sorted, and what overlaps is one. A known value gives its name, else the first.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start < last.end => {
                if span.end > last.end {
                    (last.end, last.open) = (span.end, span.open);
                }
                if span.rule == KNOWN {
                    last.rule = KNOWN;
                }
            }
            _ => out.push(span),
        }
    }
    out
}
