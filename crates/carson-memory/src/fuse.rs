//! What words find and what meaning finds become one ranking.
//!
//! Plain reciprocal rank fusion falls between its parents where one of them knows nothing of the query, and so does any sum
//! that believes both alike: words that stand in a query by chance stand in many lessons. So words speak with the evidence of
//! each match: below a share of common words that chance has too they add nothing, above it they add up to three fifths of what
//! meaning can say, the more the earlier they come. Where meaning is unsure, that decides; where both agree, their sum is before all.
//! Shape and numbers were chosen on one half of the queries of `cargo xtask bench memory`, and hold on the other (docs/MEMORY.md, with what else was tried).

use std::collections::BTreeMap;

/// A ranking: what was found, the best first, each with how well it fits, from 0 to 1.
pub type Ranking<T> = Vec<(T, f64)>;

/// The most that words add to what meaning says.
const WORDS: f64 = 0.6;
/// The fit at which a match of words is as much chance as evidence.
const CHANCE: f64 = 0.5;
/// How soon it is all the one or the other on either side of that.
const STEEP: f64 = 20.0;
/// How fast later ranks lose: the eighth after the first has half.
const RANKS: f64 = 8.0;

/// The two as one, the best first, each with how well it fits by the better of the two. Equal for equal input.
#[must_use]
pub fn fuse<T: Ord + Copy>(by_words: &Ranking<T>, by_meaning: &Ranking<T>) -> Ranking<T> {
    if by_meaning.is_empty() {
        return by_words.clone();
    }
    let mut sums: BTreeMap<T, (f64, f64)> = BTreeMap::new();
    for (rank, (item, fit)) in (0_u32..).zip(by_words) {
        sums.insert(*item, (evidence(rank, *fit), *fit));
    }
    for (item, fit) in by_meaning {
        let sum = sums.entry(*item).or_insert((0.0, 0.0));
        sum.0 += fit.clamp(0.0, 1.0);
        sum.1 = sum.1.max(*fit);
    }
    let mut fused: Vec<(T, f64, f64)> = sums
        .into_iter()
        .map(|(item, (sum, fit))| (item, sum, fit))
        .collect();
    fused.sort_by(|a, b| {
        b.1.total_cmp(&a.1)
            .then(b.2.total_cmp(&a.2))
            .then(a.0.cmp(&b.0))
    });
    fused
        .into_iter()
        .map(|(item, _, fit)| (item, fit))
        .collect()
}

/// What a match of words is worth, so many others being before it.
fn evidence(before: u32, fit: f64) -> f64 {
    let sure = 1.0 / (1.0 + (-STEEP * (fit.clamp(0.0, 1.0) - CHANCE)).exp());
    WORDS * sure * RANKS / (RANKS + f64::from(before))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn items(ranking: &Ranking<i32>) -> Vec<i32> {
        ranking.iter().map(|(item, _)| *item).collect()
    }

    #[test]
    fn who_found_nothing_has_no_say() {
        let sure = vec![(1, 0.9), (2, 0.8)];
        let unsure = vec![(7, 0.05), (8, 0.05), (2, 0.01)];
        assert_eq!(items(&fuse(&sure, &unsure))[..2], [1, 2]);
        assert_eq!(items(&fuse(&unsure, &sure))[..2], [1, 2]);
        assert_eq!(fuse(&sure, &Vec::new()), sure);
        assert_eq!(fuse(&Vec::new(), &sure), sure);
        assert_eq!(fuse::<u8>(&Vec::new(), &Vec::new()), []);
    }

    #[test]
    fn words_that_match_by_chance_do_not_come_before_what_means_the_same() {
        let chance = vec![(1, 0.3), (2, 0.3), (3, 0.25)];
        let meaning = vec![(4, 0.6), (5, 0.4), (6, 0.3), (7, 0.2), (8, 0.1)];
        assert_eq!(items(&fuse(&chance, &meaning))[..5], [4, 5, 6, 7, 8]);
    }

    #[test]
    fn what_both_found_comes_before_what_one_found() {
        let one = vec![(1, 0.6), (2, 0.6)];
        let other = vec![(3, 0.6), (2, 0.6)];
        assert_eq!(items(&fuse(&one, &other))[0], 2);
    }

    proptest! {
        #[test]
        fn all_that_was_found_is_there_once(
            one in proptest::collection::vec(0.0..=1.0, 0..20),
            other in proptest::collection::vec(0.0..=1.0, 0..20),
        ) {
            let ranking = |fits: Vec<f64>, step: u32| {
                let mut fits = fits;
                fits.sort_by(|a, b| b.total_cmp(a));
                (0_u32..).map(|n| n * step).zip(fits).collect::<Ranking<u32>>()
            };
            let (one, other) = (ranking(one, 2), ranking(other, 3));
            let fused = fuse(&one, &other);
            let mut items: Vec<u32> = fused.iter().map(|(item, _)| *item).collect();
            items.sort_unstable();
            let mut expected: Vec<u32> = one.iter().chain(&other).map(|(item, _)| *item).collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(items, expected);
        }
    }
}
