//! Two rankings become one.
//!
//! Plain reciprocal rank fusion falls between its parents where one of them knows nothing of the query. So each ranking
//! speaks with the weight of its own evidence: how well its best match fits, by a measure of its own that does not depend
//! on the other. A ranking that found nothing that fits has no say.

use std::collections::BTreeMap;

/// What a rank is added to: how fast later ranks lose.
const K: f64 = 10.0;

/// A ranking: what was found, the best first, each with how well it fits, from 0 to 1.
pub type Ranking<T> = Vec<(T, f64)>;

/// The two as one, the best first, each with how well it fits by the better of the two. Equal for equal input.
#[must_use]
pub fn fuse<T: Ord + Copy>(one: &Ranking<T>, other: &Ranking<T>) -> Ranking<T> {
    let mut sums: BTreeMap<T, (f64, f64)> = BTreeMap::new();
    let weights = weights(top(one), top(other));
    for (ranking, weight) in [(one, weights.0), (other, weights.1)] {
        for (rank, (item, fit)) in (1_u32..).zip(ranking) {
            let share = weight / (K + f64::from(rank));
            let sum = sums.entry(*item).or_insert((0.0, 0.0));
            // A poor fit of a good ranking says less than a good one.
            sum.0 += share * (0.5 + 0.5 * fit.clamp(0.0, 1.0));
            sum.1 = sum.1.max(*fit);
        }
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

/// How well the best fits.
fn top<T>(ranking: &Ranking<T>) -> f64 {
    ranking
        .iter()
        .map(|(_, fit)| fit.clamp(0.0, 1.0))
        .fold(0.0, f64::max)
}

/// The share that each has in the sum: steeper than how well they fit, so that the surer one leads.
fn weights(one: f64, other: f64) -> (f64, f64) {
    let (a, b) = (one.powi(3), other.powi(3));
    if a + b <= f64::EPSILON {
        return (0.5, 0.5);
    }
    (a / (a + b), b / (a + b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn who_found_nothing_has_no_say() {
        let sure = vec![(1, 0.9), (2, 0.8)];
        let unsure = vec![(7, 0.05), (8, 0.05), (2, 0.01)];
        let fused = fuse(&sure, &unsure);
        assert_eq!(
            fused[..2].iter().map(|(item, _)| *item).collect::<Vec<_>>(),
            [1, 2]
        );
        assert_eq!(fuse(&sure, &Vec::new()), sure);
        assert_eq!(fuse::<u8>(&Vec::new(), &Vec::new()), []);
    }

    #[test]
    fn what_both_found_comes_before_what_one_found() {
        let one = vec![(1, 0.6), (2, 0.6)];
        let other = vec![(3, 0.6), (2, 0.6)];
        assert_eq!(fuse(&one, &other)[0].0, 2);
    }

    proptest! {
        #[test]
        fn all_that_was_found_is_there_once_in_either_order(
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
            prop_assert_eq!(&fused, &fuse(&other, &one));
        }
    }
}
