//! The list.

use super::rail::{Breach, Broken, Known};
use super::{broad, evidence, others, secret, steering, unseen};

/// A rule: its name, and what breaks it.
type Rail = (&'static str, fn(&Known<'_>) -> Option<Breach>);

/// Every rule, in the order in which they are told.
const RAILS: &[Rail] = &[
    ("form", form),
    ("unseen", unseen::breach),
    ("secret", secret::breach),
    ("steering", steering::breach),
    ("evidence", evidence::breach),
    ("scope", broad::breach),
    ("duplicate", others::duplicate),
    ("conflict", others::conflict),
];

/// The rules that a candidate breaks.
#[must_use]
pub fn broken(known: &Known<'_>) -> Vec<Broken> {
    let broken = RAILS.iter().filter_map(|(rail, breach)| {
        let (why, rejects) = match breach(known)? {
            Breach::Holds(why) => (why, false),
            Breach::Rejects(why) => (why, true),
        };
        Some(Broken { rail, why, rejects })
    });
    broken.collect()
}

fn form(known: &Known<'_>) -> Option<Breach> {
    let error = known.candidate.check().err()?;
    Some(Breach::Holds(error.to_string()))
}
