//! What the rules find: credentials that nobody has told us of.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::rules::{ANCHORS, Around, Verdict};
use crate::runs::Runs;
use crate::span::{Scan, Span};

/// Finds the anchors of all rules.
static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(ANCHORS.iter().map(|anchor| anchor.text.as_bytes()));
    automaton.ok()
});

/// Builds what every look at a text needs: who does so beside something else does not wait for that.
pub fn get_ready() {
    LazyLock::force(&AUTOMATON);
}

/// Adds what the rules find in a text.
pub(crate) fn recognised(text: &[u8], from: usize, complete: bool, scan: &mut Scan) {
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
        match (rule.judge)(rule, &around, &mut runs) {
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
