//! What became of a piece of evidence when somebody went and looked.

use carson_core::lesson::Evidence;

use crate::passages;

/// What was found where a piece of evidence points.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// The lines, in a commit that the repository's base has in its history.
    Lines {
        /// What they say.
        text: String,
        /// What the file says now; nothing where it is gone.
        now: Now,
    },
    /// An issue, a pull request or a firing, and what it says.
    There {
        /// Its title and text, or its reason.
        text: String,
    },
    /// What a person says, who was there to say it.
    Said,
    /// It is not there.
    Missing(String),
    /// Nobody could look now.
    Unknown(String),
}

/// What became of lines since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// They stand in the file as they did.
    Same,
    /// The file is another one.
    Changed,
    /// The file is gone.
    Gone,
}

/// A piece of evidence, and what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// What it names.
    pub evidence: Evidence,
    /// What is there.
    pub found: Found,
}

impl Piece {
    /// Whether what is there is what it names.
    #[must_use]
    pub fn resolves(&self) -> bool {
        matches!(
            self.found,
            Found::Lines { .. } | Found::There { .. } | Found::Said
        )
    }

    /// How much of a claim it bears out, from 0 to 1: the share of the claim's telling words that stand in a few lines of it that
    /// follow one another, in the claim's order; none where those lines say something else with them. A person's word bears
    /// out what it is for.
    ///
    /// A whole file has the words of any sentence: that they stand together is what shows one.
    #[must_use]
    pub fn support(&self, claim: &str) -> f64 {
        match &self.found {
            Found::Lines { text, .. } | Found::There { text } => passages::support(text, claim),
            Found::Said => 1.0,
            Found::Missing(_) | Found::Unknown(_) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str) -> Piece {
        Piece {
            evidence: "file:a@0a1b2c3:1-2".parse().unwrap(),
            found: Found::Lines {
                text: text.to_owned(),
                now: Now::Same,
            },
        }
    }

    #[test]
    fn lines_that_say_it_support_it_and_others_do_not() {
        let claim = "`retry_limit` of the uploader is 5 and cannot be raised by settings";
        assert!(
            lines("const RETRY_LIMIT: u32 = 5; // uploader: not in settings").support(claim) > 0.5
        );
        assert!(lines("fn main() { println!(\"hello\") }").support(claim) < 0.1);
        assert!(lines("").support(claim) < f64::EPSILON);
    }

    proptest! {
        #[test]
        fn support_is_a_share(claim in "\\PC{0,80}", text in "\\PC{0,80}") {
            let share = lines(&text).support(&claim);
            prop_assert!((0.0..=1.0 + 1e-9).contains(&share));
        }
    }
}
