//! One pass over a text.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::known::{Compared, Form, forms};
use crate::rules::{ANCHORS, Around, KNOWN, Rule, Verdict};
use crate::runs::{Alphabet, Runs};

/// A known value that the text ends within counts from so many of its bytes on.
const LEAST_TORN: usize = 12;

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

/// The automaton, and what its patterns stand for: first the forms, then the rules' anchors.
pub(crate) struct Scanner {
    automaton: Option<AhoCorasick>,
    forms: Vec<Form>,
    longest: usize,
}

impl Scanner {
    pub(crate) fn new(known: &BTreeSet<String>) -> Self {
        let forms = forms(known.iter().map(String::as_str));
        let longest = forms.iter().map(Form::len).max().unwrap_or(0);
        let patterns = forms.iter().map(Form::anchor);
        let patterns = patterns.chain(ANCHORS.iter().map(|anchor| anchor.text.as_bytes()));
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(patterns);
        Self {
            // It fails only for more patterns than any household has; then nothing would be found.
            automaton: automaton.ok(),
            forms,
            longest,
        }
    }

    /// The longest known form.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Looks for what begins at `from` or later; what is before it is only looked back at.
    /// `complete` says that nothing will follow.
    pub(crate) fn scan(&self, text: &[u8], from: usize, complete: bool) -> Scan {
        let mut scan = Scan::default();
        let Some(automaton) = &self.automaton else {
            // Nothing passes that could not be looked at.
            scan.spans.push(Span {
                start: from,
                end: text.len(),
                rule: "unchecked",
                open: None,
            });
            return scan;
        };
        let (mut runs, mut covered) = (Runs::default(), from);
        for found in automaton.find_overlapping_iter(text) {
            let (pattern, start) = (found.pattern().as_usize(), found.start());
            let verdict = match self.forms.get(pattern) {
                Some(form) => known(form, text, start, complete),
                None if start < covered => Verdict::No,
                None => {
                    let anchor = &ANCHORS[pattern - self.forms.len()];
                    let around = Around {
                        text,
                        start,
                        end: found.end(),
                        complete,
                    };
                    rule(anchor.rule, &around, &mut runs)
                }
            };
            match verdict {
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
        scan.spans = merged(scan.spans);
        scan
    }
}

fn rule(rule: &'static Rule, around: &Around<'_>, runs: &mut Runs) -> Verdict {
    (rule.look)(rule, around, runs)
}

fn known(form: &Form, text: &[u8], start: usize, complete: bool) -> Verdict {
    let goes = |end| {
        Verdict::Goes(Span {
            start,
            end,
            rule: KNOWN,
            open: None,
        })
    };
    match form.compare(text, start) {
        Compared::Whole(end) => goes(end),
        Compared::Torn(matched) if complete => {
            // Whoever cuts texts cuts secrets.
            if matched >= LEAST_TORN && matched >= form.len() / 2 {
                goes(text.len())
            } else {
                Verdict::No
            }
        }
        Compared::Torn(_) => Verdict::Undecided(start),
        Compared::Differs => Verdict::No,
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
