//! No secret is in it, and nothing that looks like one.

use super::rail::{Breach, Known, texts};

pub(super) fn breach(known: &Known<'_>) -> Option<Breach> {
    texts(known).find_map(|text| {
        // Without what nobody sees; but a key stands in lines of its own.
        let seen: String = text
            .chars()
            .filter(|c| *c == '\n' || !carson_core::untrusted::is_hidden(*c))
            .collect();
        if known.redactor.redact(&seen) != seen || text.contains("[redacted:") {
            return Some(Breach::Rejects("it has a secret".to_owned()));
        }
        // A commit and a firing are random, too, and stand in evidence alone.
        let is_evidence = text.starts_with("file:") || text.starts_with("firing:");
        let looks = !is_evidence && carson_redact::suspicious_words(seen.as_bytes()) > 0;
        looks.then(|| {
            Breach::Holds("it has a word that looks like a secret or like code".to_owned())
        })
    })
}
