//! How much a lesson may say in a prompt.
//!
//! What the source code says comes first. A lesson of high confidence is an instruction, of lower confidence a hint; one
//! whose evidence is another file now than it was is told as a hint that may be out of date, and one whose evidence is
//! gone is not told.

use std::fmt;

use crate::found::{Found, Now, Piece};

/// The confidence from which a lesson is an instruction.
pub const INSTRUCTION: f64 = 0.75;

/// What a lesson is told as; the strongest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Canon {
    /// Sessions go by it, unless the code says otherwise.
    Instruction,
    /// Sessions look whether it is so.
    Hint,
    /// The file that it rests on has changed since.
    Demoted,
}

impl Canon {
    /// The word for it, in rows.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Hint => "hint",
            Self::Demoted => "demoted",
        }
    }

    /// The word for it, in prompts.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Hint => "hint",
            Self::Demoted => "hint, its evidence has changed since",
        }
    }
}

impl fmt::Display for Canon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a lesson is told as, by its confidence and what its evidence is now; `Err` says what contradicts it.
///
/// # Errors
/// When a file that it rests on is gone.
pub fn canon(confidence: f64, pieces: &[Piece]) -> Result<Canon, String> {
    let gone = pieces
        .iter()
        .find(|piece| matches!(piece.found, Found::Lines { now: Now::Gone, .. }));
    if let Some(piece) = gone {
        let named: String = piece.evidence.to_string().chars().take(120).collect();
        return Err(format!("{named}: the file is gone"));
    }
    let changed = |piece: &Piece| {
        matches!(
            piece.found,
            Found::Lines {
                now: Now::Changed,
                ..
            }
        )
    };
    if pieces.iter().any(changed) {
        return Ok(Canon::Demoted);
    }
    Ok(if confidence >= INSTRUCTION {
        Canon::Instruction
    } else {
        Canon::Hint
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(now: Now) -> Piece {
        Piece {
            evidence: "file:a@0a1b2c3:1-2".parse().unwrap(),
            found: Found::Lines {
                text: String::new(),
                now,
            },
        }
    }

    #[test]
    fn the_code_wins_over_any_confidence() {
        assert_eq!(canon(0.75, &[lines(Now::Same)]), Ok(Canon::Instruction));
        assert_eq!(canon(0.74, &[]), Ok(Canon::Hint));
        assert_eq!(canon(f64::NAN, &[]), Ok(Canon::Hint));
        assert_eq!(
            canon(1.0, &[lines(Now::Same), lines(Now::Changed)]),
            Ok(Canon::Demoted)
        );
        assert!(canon(1.0, &[lines(Now::Changed), lines(Now::Gone)]).is_err());
    }
}
