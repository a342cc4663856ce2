//! What a candidate's evidence is worth, by itself.
//!
//! The score is from what can be checked without asking anybody: whether the evidence is there, of which sort it is, and how
//! much of the claim stands in it. Without a piece that bears the claim out the score stays below the bar of the gate,
//! whatever anybody says of the claim.

use std::collections::BTreeSet;

use crate::candidate::Candidate;
use crate::found::{Found, Now, Piece};

/// The most that a claim is worth that nothing bears out.
pub const UNVERIFIED: f64 = 0.45;
/// The share of a claim's telling words that must stand in a piece for it to bear the claim out.
pub const BEARS_OUT: f64 = 0.34;

/// A number from 0 to 1.
#[must_use]
pub fn structural(candidate: &Candidate, pieces: &[Piece]) -> f64 {
    let best = pieces
        .iter()
        .map(|piece| worth(piece, &candidate.text))
        .fold(0.0, f64::max);
    let bearing: Vec<&Piece> = pieces
        .iter()
        .filter(|piece| bears_out(piece, &candidate.text))
        .collect();
    if bearing.is_empty() {
        return best.clamp(0.0, UNVERIFIED);
    }
    // Another piece of the same sort says less than one of another sort.
    let sorts: BTreeSet<&str> = bearing.iter().map(|piece| piece.evidence.kind()).collect();
    let more = if sorts.len() > 1 {
        0.1
    } else if bearing.len() > 1 {
        0.05
    } else {
        0.0
    };
    let narrow = f64::from(candidate.scope.narrowness()) * 0.02;
    let wide = if candidate.scope.narrowness() == 0 {
        0.1
    } else {
        0.0
    };
    (best + more + narrow - wide).clamp(0.0, 1.0)
}

/// Whether a piece bears the claim out.
#[must_use]
pub fn bears_out(piece: &Piece, claim: &str) -> bool {
    match &piece.found {
        Found::Lines { now: Now::Gone, .. } => false,
        _ => piece.resolves() && piece.support(claim) >= BEARS_OUT,
    }
}

fn worth(piece: &Piece, claim: &str) -> f64 {
    let support = piece.support(claim);
    match &piece.found {
        Found::Lines { now: Now::Same, .. } => 0.5 + 0.45 * support,
        Found::Lines {
            now: Now::Changed, ..
        } => 0.3 + 0.3 * support,
        Found::There { .. } => 0.3 + 0.4 * support,
        Found::Said => 0.6,
        Found::Lines { now: Now::Gone, .. } | Found::Missing(_) | Found::Unknown(_) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use carson_core::lesson::Scope;
    use proptest::prelude::*;

    use super::*;

    const CLAIM: &str =
        "The uploader gives up after five tries and settings cannot raise its retry limit";

    fn candidate(scope: &str) -> Candidate {
        Candidate::of_operator(CLAIM, scope.parse::<Scope>().unwrap(), Vec::new())
    }

    fn piece(found: Found) -> Piece {
        Piece {
            evidence: "pr:7".parse().unwrap(),
            found,
        }
    }

    fn lines(text: &str, now: Now) -> Piece {
        Piece {
            evidence: "file:a@0a1b2c3:1-2".parse().unwrap(),
            found: Found::Lines {
                text: text.to_owned(),
                now,
            },
        }
    }

    #[test]
    fn a_claim_that_nothing_bears_out_stays_below_the_bar() {
        let nothing: [&[Piece]; 5] = [
            &[],
            &[lines("fn main() {}", Now::Same)],
            &[lines(CLAIM, Now::Gone)],
            &[piece(Found::There {
                text: "Update the readme".to_owned(),
            })],
            &[piece(Found::Missing("there is none".to_owned()))],
        ];
        for pieces in nothing {
            let score = structural(&candidate("repo:widget"), pieces);
            assert!(score <= UNVERIFIED, "{score} {pieces:?}");
        }
    }

    #[test]
    fn what_is_borne_out_is_worth_more_and_more_of_it_more_still() {
        let widget = candidate("repo:widget");
        let one = structural(&widget, &[lines(CLAIM, Now::Same)]);
        assert!(one > 0.9, "{one}");
        let there = piece(Found::There {
            text: CLAIM.to_owned(),
        });
        let two = structural(&widget, &[there.clone(), lines(CLAIM, Now::Same)]);
        let weak = structural(&widget, std::slice::from_ref(&there));
        assert!(weak > 0.5 && weak < one && two >= one, "{weak} {one} {two}");
        assert!(structural(&candidate("fleet"), std::slice::from_ref(&there)) < weak);
        assert!(structural(&widget, &[lines(CLAIM, Now::Changed)]) < one);
    }

    fn any_piece() -> impl Strategy<Value = Piece> {
        let text = prop_oneof![Just(CLAIM.to_owned()), "[a-z ]{0,60}"];
        (0..6, text).prop_map(|(sort, text)| match sort {
            0 => lines(&text, Now::Same),
            1 => lines(&text, Now::Changed),
            2 => lines(&text, Now::Gone),
            3 => piece(Found::There { text }),
            4 => piece(Found::Missing(text)),
            _ => piece(Found::Unknown(text)),
        })
    }

    proptest! {
        #[test]
        fn it_is_a_number_from_0_to_1_and_above_the_bar_only_with_something_that_bears_it_out(
            pieces in proptest::collection::vec(any_piece(), 0..5)
        ) {
            let score = structural(&candidate("path:src/*"), &pieces);
            prop_assert!((0.0..=1.0).contains(&score));
            let borne = pieces.iter().any(|piece| bears_out(piece, CLAIM));
            prop_assert!(borne || score <= UNVERIFIED);
        }
    }
}
