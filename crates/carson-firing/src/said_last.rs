//! What a session said last, where that is the reason of an end.

use carson_core::Stage;
use carson_core::settle::{DiffReviewFact, Facts, Halt};
use carson_core::untrusted::one_line;

use crate::record::Record;

/// Letters of it that a reason has.
const MOST: usize = 300;

/// A session that did not say how it ended.
pub(crate) fn no_sentinel(stage: Stage, text: &str) -> Halt {
    Halt::NoSentinel(format!("{stage}\n{}", end(text)))
}

/// Why a review said no, in its own words.
pub(crate) fn refusal(rec: &Record, facts: &Facts) -> Option<String> {
    let stage = match (&facts.halt, facts.diff_review) {
        (Some(Halt::PlanRejected(_)), _) => Stage::Review,
        (None, DiffReviewFact::Rejected) => Stage::DiffReview,
        _ => return None,
    };
    let said = rec.tally().last_words.get(&stage)?;
    let findings = said
        .lines()
        .filter(|line| !line.trim_start().starts_with('['));
    let findings: Vec<&str> = findings.collect();
    let findings = one_line(&findings.join(" "), MOST);
    (!findings.is_empty()).then_some(findings)
}

/// The end of a text, as one line.
fn end(text: &str) -> String {
    let line = one_line(text, usize::MAX);
    let skipped = line.chars().count().saturating_sub(MOST);
    match skipped {
        0 => line,
        _ => format!("…{}", line.chars().skip(skipped).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_what_was_said_is_what_it_said_last() {
        let text = format!("{}\n\nShall I go on?", "x".repeat(400));
        let said = end(&text);
        assert!(
            said.starts_with('…') && said.ends_with("x Shall I go on?"),
            "{said}"
        );
        assert_eq!(said.chars().count(), MOST + 1);
        assert_eq!(end("Done."), "Done.");
    }
}
