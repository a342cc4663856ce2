//! Whether two lessons say the same, or the opposite.

use std::collections::BTreeSet;

use crate::{folded, words};

/// Shares of words from which two texts say the same.
const SAME: f64 = 0.75;
/// The share of the shorter one's words, where it has enough of them, that stand in the longer one.
const WITHIN: f64 = 0.9;
/// Words that are enough for that.
const ENOUGH: usize = 5;
/// Shares of words from which two texts speak of the same thing.
const ABOUT: f64 = 0.5;

/// They turn a sentence round.
const DENIALS: [&str; 16] = [
    "not", "never", "no", "dont", "doesnt", "cannot", "cant", "isnt", "arent", "wont", "without",
    "neither", "nor", "avoid", "unless", "except",
];

/// Each of a pair is the opposite of the other.
const OPPOSITES: [(&str, &str); 20] = [
    ("always", "never"),
    ("before", "after"),
    ("enable", "disable"),
    ("enabled", "disabled"),
    ("true", "false"),
    ("required", "optional"),
    ("on", "off"),
    ("allow", "deny"),
    ("allowed", "forbidden"),
    ("first", "last"),
    ("more", "less"),
    ("add", "remove"),
    ("start", "stop"),
    ("safe", "unsafe"),
    ("sync", "async"),
    ("up", "down"),
    ("old", "new"),
    ("public", "private"),
    ("fast", "slow"),
    ("mutable", "immutable"),
];

/// Numbers in words.
const NUMBERS: [&str; 31] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
    "hundred",
    "thousand",
    "million",
];

/// How two texts stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// They have nothing to do with each other.
    Other,
    /// They say the same.
    Same,
    /// They speak of the same thing and say something else of it.
    Opposite,
}

/// How one text stands to another.
#[must_use]
pub fn likeness(one: &str, other: &str) -> Likeness {
    let (a, b) = (words::set(one), words::set(other));
    if a.is_empty() || b.is_empty() {
        return Likeness::Other;
    }
    let both = share(a.intersection(&b).count(), a.union(&b).count());
    if both >= ABOUT && differ(one, other) {
        return Likeness::Opposite;
    }
    let (shorter, longer) = if a.len() <= b.len() {
        (&a, &b)
    } else {
        (&b, &a)
    };
    let within = share(shorter.intersection(longer).count(), shorter.len());
    if both >= SAME || shorter.len() >= ENOUGH && within >= WITHIN {
        return Likeness::Same;
    }
    Likeness::Other
}

/// Whether a passage that has a claim's words says something else with them: one of the two denies, a word of the passage is the
/// opposite of one of the claim's, or it does not have a number of the claim's.
#[must_use]
pub fn contradicts(passage: &str, claim: &str) -> bool {
    let (shown, claimed) = (folded::words(passage), folded::words(claim));
    denials(&shown) % 2 != denials(&claimed) % 2
        || are_turned(&shown, &claimed)
        || !numbers(&claimed).is_subset(&numbers(&shown))
}

fn denials(words: &[String]) -> usize {
    let denies = |word: &&String| DENIALS.contains(&word.as_str());
    words.iter().filter(denies).count()
}

fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 {
        0.0
    } else {
        number(part) / number(whole)
    }
}

/// Whether one denies what the other says, names its opposite, or another number.
fn differ(one: &str, other: &str) -> bool {
    let (a, b) = (folded::words(one), folded::words(other));
    if denials(&a) % 2 != denials(&b) % 2 {
        return true;
    }
    are_turned(&a, &b) || numbers(&a) != numbers(&b)
}

/// Whether one has a word and the other its opposite alone.
fn are_turned(a: &[String], b: &[String]) -> bool {
    let has = |words: &[String], word: &str| words.iter().any(|one| one == word);
    OPPOSITES.iter().any(|(left, right)| {
        let only = |words: &[String], this: &str, that: &str| has(words, this) && !has(words, that);
        only(a, left, right) && only(b, right, left) || only(a, right, left) && only(b, left, right)
    })
}

/// The numbers among words, in digits where there are such up to twenty.
fn numbers(words: &[String]) -> BTreeSet<String> {
    let number = |word: &String| {
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(word.clone());
        }
        let at = NUMBERS.iter().position(|number| number == word)?;
        Some(if at <= 20 {
            at.to_string()
        } else {
            word.clone()
        })
    };
    words.iter().filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CLAIM: &str =
        "Run the schema generator before the parser tests, or they read an old schema";

    #[test]
    fn other_words_for_the_same_are_the_same() {
        for same in [
            CLAIM,
            "run the Schema generator before the parser tests or they read an old schema!!",
            "Running the schema generator before parser tests; they read an old schema otherwise",
            "Note: run the schema generator before the parser tests, or they read an old schema. Always.",
        ] {
            assert_eq!(likeness(CLAIM, same), Likeness::Same, "{same}");
        }
    }

    #[test]
    fn the_opposite_is_no_duplicate() {
        for opposite in [
            "Run the schema generator after the parser tests, or they read an old schema",
            "Do not run the schema generator before the parser tests, or they read an old schema",
        ] {
            assert_eq!(likeness(CLAIM, opposite), Likeness::Opposite, "{opposite}");
        }
        assert_eq!(
            likeness(
                "The upload limit of the gateway is 5 MB",
                "The upload limit of the gateway is 50 MB"
            ),
            Likeness::Opposite
        );
    }

    #[test]
    fn a_passage_that_turns_the_claim_round_contradicts_it() {
        let passage = "Migrations 1 to three run before the server listens";
        for (claim, is) in [
            ("The server listens after migrations run before it", false),
            ("Migrations run before the server listens", false),
            ("Three migrations run before the server listens", false),
            ("Migrations run after the server listens", true),
            ("Migrations never run before the server listens", true),
            ("Four migrations run before the server listens", true),
        ] {
            assert_eq!(contradicts(passage, claim), is, "{claim}");
        }
    }

    #[test]
    fn other_things_are_other() {
        assert_eq!(
            likeness(CLAIM, "The release branch is cut on Thursdays by a person"),
            Likeness::Other
        );
        assert_eq!(likeness(CLAIM, ""), Likeness::Other);
    }

    proptest! {
        #[test]
        fn it_is_the_same_from_both_sides(a in "([a-f]{3} ){0,8}", b in "([a-f]{3} ){0,8}") {
            prop_assert_eq!(likeness(&a, &b), likeness(&b, &a));
        }
    }
}
