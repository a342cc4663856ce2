//! Whether a few lines of a text say what somebody claims of it.

use crate::similar::contradicts;
use crate::words;

/// Lines that follow one another and may say it together.
const TOGETHER: usize = 5;
/// Lines that are looked at.
const LINES: usize = 4_000;
/// Words of a claim that are looked for.
const WORDS: usize = 120;

/// The most that lines that follow one another bear out of a claim, from 0 to 1: the weight of those of its telling words that
/// stand there in its order, of all of them.
pub(crate) fn support(text: &str, claim: &str) -> f64 {
    let mut claimed = words::words(claim);
    claimed.truncate(WORDS);
    let weights: Vec<f64> = claimed.iter().map(|word| words::weight(word)).collect();
    let all: f64 = weights.iter().sum();
    if all <= 0.0 {
        return 0.0;
    }
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(LINES)
        .collect();
    let said: Vec<Vec<String>> = lines.iter().map(|line| words::words(line)).collect();
    let mut best: f64 = 0.0;
    for first in 0..lines.len() {
        let last = lines.len().min(first + TOGETHER);
        for end in first + 1..=last {
            let here: Vec<&str> = said[first..end]
                .iter()
                .flatten()
                .map(String::as_str)
                .collect();
            let share = in_order(&here, &claimed, &weights) / all;
            if share > best && !contradicts(&lines[first..end].join("\n"), claim) {
                best = share;
            }
        }
    }
    best.min(1.0)
}

/// The weight of the heaviest words of the claim that stand there in its order.
fn in_order(here: &[&str], claimed: &[String], weights: &[f64]) -> f64 {
    let mut before = vec![0.0_f64; claimed.len() + 1];
    for word in here {
        // What was the best without this word and up to the claim's last one.
        let mut diagonal = 0.0;
        for (at, (one, weight)) in claimed.iter().zip(weights).enumerate() {
            let without = before[at + 1];
            let with = if one == word { diagonal + weight } else { 0.0 };
            diagonal = without;
            before[at + 1] = without.max(with).max(before[at]);
        }
    }
    before.last().copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_stands_together_and_in_order_is_borne_out() {
        let claim = "The uploader gives up after three tries";
        for text in [
            "// The uploader gives up after three tries.",
            "let x = 1;\n// The uploader gives up\n// after three tries: then it is asked again.",
            "const A: u8 = 3;\n\nThe uploader\n\ngives up after three tries",
        ] {
            assert!(support(text, claim) > 0.9, "{text}");
        }
        assert!(support("pub struct Gateway;", claim) < 0.1);
        assert!(support("", claim) < f64::EPSILON && support("uploader", "") < f64::EPSILON);
    }

    #[test]
    fn words_from_all_over_a_file_say_nothing() {
        let claim = "The operator approved commits that carry the key of the account";
        let words = ["operator", "approved", "commits", "carry", "key", "account"];
        let apart: Vec<String> = words
            .iter()
            .map(|word| format!("{word}\n{}", "x\n".repeat(9)))
            .collect();
        assert!(support(&apart.concat(), claim) < 0.34);
        let reversed: Vec<&str> = words.iter().rev().copied().collect();
        assert!(support(&reversed.join(" "), claim) < 0.34);
    }

    #[test]
    fn what_says_the_opposite_bears_out_nothing() {
        let text = "// The uploader gives up after three tries.\n// It accepts tabs in each line.";
        for claim in [
            "The uploader never gives up after three tries",
            "The uploader gives up after five tries",
            "The uploader gives up before three tries",
            "It accepts tabs in no line",
        ] {
            assert!(support(text, claim) < 0.34, "{claim}");
        }
        let denies = "// The uploader never gives up after three tries.";
        assert!(support(denies, "The uploader gives up after three tries") < 0.34);
        assert!(support(denies, "The uploader never gives up after three tries") > 0.9);
    }

    proptest! {
        #[test]
        fn it_is_a_share(text in "[a-e ]{0,40}(\n[a-e ]{0,40}){0,9}", claim in "[a-e ]{0,40}") {
            prop_assert!((0.0..=1.0).contains(&support(&text, &claim)));
        }
    }
}
