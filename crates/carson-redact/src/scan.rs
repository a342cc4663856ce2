//! One pass over a text.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::known::Known;
use crate::rules::{ANCHORS, Around, KNOWN, Verdict};
use crate::runs::{Alphabet, Runs};
use crate::views::look;
use crate::watch::End;
use crate::wide::in_wide;

/// What goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
    pub rule: &'static str,
    /// Whether what comes next may belong to it too, when it reaches to the end of the text.
    pub open: Option<Open>,
}

/// What goes on behind the end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// A run of an alphabet.
    Run(Alphabet),
    /// The body of a private key.
    Pem,
}

/// What a pass found.
#[derive(Default)]
pub(crate) struct Scan {
    /// In order, apart from each other.
    pub spans: Vec<Span>,
    /// From here on, nobody can say before more of the text is there.
    pub undecided: Option<usize>,
}

/// Finds the anchors of all rules.
static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(ANCHORS.iter().map(|anchor| anchor.text.as_bytes()));
    automaton.ok()
});

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
        let found = look(&self.0, text, end);
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
        rules(text, from, complete, &mut scan);
        scan.spans.extend(in_wide(text, from));
        scan.spans = merged(scan.spans);
        scan
    }
}

/// Adds what the rules find in a text.
pub(crate) fn rules(text: &[u8], from: usize, complete: bool, scan: &mut Scan) {
    let Some(automaton) = AUTOMATON.as_ref() else {
        // Nothing passes that could not be looked at.
        scan.spans.push(Span {
            start: from,
            end: text.len(),
            rule: "unchecked",
            open: None,
        });
        return;
    };
    let known = std::mem::take(&mut scan.spans);
    let mut known = known.into_iter().peekable();
    let (mut runs, mut covered) = (Runs::default(), from);
    for found in automaton.find_overlapping_iter(text) {
        let start = found.start();
        while let Some(span) = known.next_if(|span| span.start <= start) {
            covered = covered.max(span.end);
            scan.spans.push(span);
        }
        if start < covered {
            continue;
        }
        let rule = ANCHORS[found.pattern().as_usize()].rule;
        let around = Around {
            text,
            start,
            end: found.end(),
            complete,
        };
        match (rule.look)(rule, &around, &mut runs) {
            Verdict::Goes(span) if span.start >= from => {
                covered = covered.max(span.end);
                scan.spans.push(span);
            }
            Verdict::Undecided(at) if at >= from => {
                scan.undecided = Some(scan.undecided.map_or(at, |before| before.min(at)));
            }
            _ => {}
        }
    }
    scan.spans.extend(known);
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
