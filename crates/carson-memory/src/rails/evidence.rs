//! All that it names as evidence is there.

use carson_core::lesson::Evidence;

use super::rail::{Breach, Known};
use crate::found::{Found, Now};

pub(super) fn breach(known: &Known<'_>) -> Option<Breach> {
    if known.pieces.is_empty() {
        return Some(Breach::Holds("it rests on nothing".to_owned()));
    }
    for piece in known.pieces {
        let named = short(&piece.evidence);
        match &piece.found {
            Found::Missing(why) | Found::Unknown(why) => {
                return Some(Breach::Holds(format!("{named} does not resolve: {why}")));
            }
            Found::Lines { now: Now::Gone, .. } => {
                return Some(Breach::Holds(format!(
                    "{named} is contradicted: the file is gone"
                )));
            }
            Found::Lines { .. } | Found::There { .. } | Found::Said => {}
        }
    }
    None
}

fn short(evidence: &Evidence) -> String {
    evidence.to_string().chars().take(80).collect()
}
