//! Whether it helps: firings that were told something beside firings that were told nothing on purpose.
//!
//! Shares are compared by the difference of two proportions with Newcombe's interval (from Wilson's), means by Welch's.
//! An interval that has zero in it is no evidence, and so is a comparison of too few.

use carson_core::Outcome;
use carson_store::ToldFiring;
use serde::Serialize;

/// Firings that each side must have for a comparison to say anything.
pub const FEW: usize = 8;
/// The quantile of 95 in a hundred.
const Z: f64 = 1.96;

/// A difference between those that were told and those that were not, and where it lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Of those that were told.
    pub told: f64,
    /// Of those that were not.
    pub not_told: f64,
    /// How many were told.
    pub told_count: usize,
    /// How many were not.
    pub not_told_count: usize,
    /// The difference.
    pub difference: f64,
    /// The lower end of where it lies.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// Those that were told did better.
    Better,
    /// They did worse.
    Worse,
    /// Nobody can tell.
    NoEvidence,
}

/// A comparison of one thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Of what: `success`, `turns`, `cost_usd`, `attempts` or `review_findings`.
    pub what: &'static str,
    /// The numbers; nothing where there are too few firings.
    pub numbers: Option<Difference>,
    /// What they say.
    pub says: Says,
}

/// Compares firings that ended; those that run, or that the outside world ended, are left out.
#[must_use]
pub fn compare(told: &[&ToldFiring], not_told: &[&ToldFiring]) -> Vec<Compared> {
    let told: Vec<&ToldFiring> = told.iter().copied().filter(|one| counts(one)).collect();
    let not: Vec<&ToldFiring> = not_told.iter().copied().filter(|one| counts(one)).collect();
    let (good, bad) = (share(&told), share(&not));
    let of = |all: &[&ToldFiring], value: fn(&ToldFiring) -> Option<f64>| {
        all.iter()
            .filter_map(|one| value(one))
            .collect::<Vec<f64>>()
    };
    let mean = |what, value: fn(&ToldFiring) -> Option<f64>| {
        compared(what, means(&of(&told, value), &of(&not, value)), false)
    };
    vec![
        compared("success", shares(good, bad), true),
        mean("turns", |one| Some(f64::from(one.turns))),
        mean("cost_usd", |one| one.cost_usd),
        mean("attempts", |one| Some(f64::from(one.attempts))),
        mean("review_findings", |one| Some(f64::from(one.findings))),
    ]
}

/// Ends that say something of the work.
fn counts(one: &ToldFiring) -> bool {
    use Outcome as O;
    one.outcome.is_some_and(|outcome| {
        !matches!(
            outcome,
            O::Silent | O::Skipped | O::RateLimited | O::Auth | O::Crashed
        )
    })
}

fn succeeded(one: &ToldFiring) -> bool {
    matches!(one.outcome, Some(Outcome::Ok | Outcome::AlreadyDone))
}

fn share(all: &[&ToldFiring]) -> (usize, usize) {
    (all.iter().filter(|one| succeeded(one)).count(), all.len())
}

fn compared(what: &'static str, numbers: Option<Difference>, more_is_better: bool) -> Compared {
    let says = match &numbers {
        Some(found) if found.low > 0.0 && more_is_better => Says::Better,
        Some(found) if found.high < 0.0 && more_is_better => Says::Worse,
        Some(found) if found.low > 0.0 => Says::Worse,
        Some(found) if found.high < 0.0 => Says::Better,
        _ => Says::NoEvidence,
    };
    Compared {
        what,
        numbers,
        says,
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Newcombe's interval for the difference of two shares; nothing of too few.
#[must_use]
pub fn shares((a, n): (usize, usize), (b, m): (usize, usize)) -> Option<Difference> {
    if n < FEW || m < FEW {
        return None;
    }
    let (one, other) = (number(a) / number(n), number(b) / number(m));
    let ((l1, u1), (l2, u2)) = (wilson(one, number(n)), wilson(other, number(m)));
    let difference = one - other;
    let low = difference - ((one - l1).powi(2) + (u2 - other).powi(2)).sqrt();
    let high = difference + ((u1 - one).powi(2) + (other - l2).powi(2)).sqrt();
    Some(Difference {
        told: one,
        not_told: other,
        told_count: n,
        not_told_count: m,
        difference,
        low,
        high,
    })
}

fn wilson(share: f64, n: f64) -> (f64, f64) {
    let z2 = Z * Z;
    let middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// Welch's interval for the difference of two means; nothing of too few.
#[must_use]
pub fn means(told: &[f64], not_told: &[f64]) -> Option<Difference> {
    if told.len() < FEW || not_told.len() < FEW {
        return None;
    }
    let ((one, v1), (other, v2)) = (mean(told), mean(not_told));
    let (s1, s2) = (v1 / number(told.len()), v2 / number(not_told.len()));
    let error = (s1 + s2).sqrt();
    let freedom = (s1 + s2).powi(2)
        / (s1 * s1 / (number(told.len()) - 1.0) + s2 * s2 / (number(not_told.len()) - 1.0));
    let half = student(freedom) * error;
    let difference = one - other;
    Some(Difference {
        told: one,
        not_told: other,
        told_count: told.len(),
        not_told_count: not_told.len(),
        difference,
        low: difference - half,
        high: difference + half,
    })
}

fn mean(values: &[f64]) -> (f64, f64) {
    let n = number(values.len());
    let mean = values.iter().sum::<f64>() / n;
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (n - 1.0);
    (mean, variance)
}

/// The quantile of 97.5 in a hundred of Student's distribution (Cornish and Fisher's series).
fn student(freedom: f64) -> f64 {
    if !freedom.is_finite() || freedom < 1.0 {
        return Z;
    }
    let (z, v) = (1.959_964, freedom);
    z + (z * z * z + z) / (4.0 * v)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * v.powi(3))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(outcome: Outcome, turns: u32) -> ToldFiring {
        ToldFiring {
            firing: carson_core::FiringId::new(),
            role: "implementer".parse().unwrap(),
            repo: None,
            off: false,
            outcome: Some(outcome),
            turns,
            cost_usd: None,
            pull: None,
            ended_at: None,
            attempts: 1,
            findings: 0,
        }
    }

    #[test]
    fn newcombes_interval_is_that_of_his_paper() {
        // Newcombe 1998, example a: 56 of 70 and 48 of 80, by method 10.
        let found = shares((56, 70), (48, 80)).unwrap();
        assert!(
            (found.low - 0.0524).abs() < 1e-3 && (found.high - 0.3339).abs() < 1e-3,
            "{found:?}"
        );
    }

    #[test]
    fn students_quantile_is_that_of_the_tables() {
        for (freedom, quantile) in [(7.0, 2.365), (14.0, 2.145), (30.0, 2.042), (1e9, 1.960)] {
            assert!(
                (student(freedom) - quantile).abs() < 0.005,
                "{freedom}: {}",
                student(freedom)
            );
        }
    }

    #[test]
    fn few_firings_are_no_evidence_and_a_clear_difference_is() {
        let good: Vec<ToldFiring> = (0..40).map(|n| told(Outcome::Ok, 5 + n % 3)).collect();
        let bad: Vec<ToldFiring> = (0..40)
            .map(|n| {
                told(
                    if n % 2 == 0 {
                        Outcome::Failed
                    } else {
                        Outcome::Ok
                    },
                    20 + n % 3,
                )
            })
            .collect();
        fn refs(all: &[ToldFiring]) -> Vec<&ToldFiring> {
            all.iter().collect()
        }
        let says = |a: &[ToldFiring], b: &[ToldFiring]| {
            compare(&refs(a), &refs(b))[..2]
                .iter()
                .map(|one| one.says)
                .collect::<Vec<_>>()
        };
        assert_eq!(says(&good, &bad), [Says::Better, Says::Better]);
        assert_eq!(says(&bad, &good), [Says::Worse, Says::Worse]);
        assert_eq!(says(&good[..7], &bad), [Says::NoEvidence, Says::NoEvidence]);
        assert_eq!(says(&good, &good), [Says::NoEvidence, Says::NoEvidence]);
        // What says nothing of the work is left out.
        let limited: Vec<ToldFiring> = (0..40).map(|_| told(Outcome::RateLimited, 1)).collect();
        assert_eq!(says(&limited, &bad), [Says::NoEvidence, Says::NoEvidence]);
    }

    proptest! {
        #[test]
        fn the_difference_lies_in_its_interval(a in 0usize..50, n in 8usize..60, b in 0usize..50, m in 8usize..60) {
            let found = shares((a.min(n), n), (b.min(m), m)).unwrap();
            prop_assert!(found.low <= found.difference && found.difference <= found.high);
            prop_assert!(found.low >= -1.0 - 1e-9 && found.high <= 1.0 + 1e-9);
        }

        #[test]
        fn equal_sides_are_no_evidence(values in proptest::collection::vec(0.0f64..100.0, 8..40)) {
            let found = means(&values, &values).unwrap();
            prop_assert!(found.low <= 1e-9 && found.high >= -1e-9);
        }
    }
}
