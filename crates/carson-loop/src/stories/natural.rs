//! Ids in the order in which people count: `S-2` before `S-10`.

use std::cmp::Ordering;

/// Compares two ids. Digits are numbers, of any length; what is equal so (`S-2`, `S-02`) is in the order of
/// its letters, so that no two ids are equal.
#[must_use]
pub fn by_number(left: &str, right: &str) -> Ordering {
    let (mut a, mut b) = (left, right);
    loop {
        match (a.chars().next(), b.chars().next()) {
            (None, None) => return left.cmp(right),
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (one, after_one) = digits(a);
                let (other, after_other) = digits(b);
                let order = one.len().cmp(&other.len()).then_with(|| one.cmp(other));
                if order.is_ne() {
                    return order;
                }
                (a, b) = (after_one, after_other);
            }
            (Some(x), Some(y)) if x == y => {
                (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
            }
            (Some(x), Some(y)) => return x.cmp(&y),
        }
    }
}

/// The digits that a text begins with, without zeros before them, and what follows.
fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    (digits.trim_start_matches('0'), rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn people_count_so() {
        let mut ids = [
            "S-10",
            "S-2",
            "FIX-001",
            "S-1",
            "S-02",
            "AUDIT-010",
            "S",
            "S-2a",
            "AUDIT-9",
        ];
        ids.sort_by(|a, b| by_number(a, b));
        let right = [
            "AUDIT-9",
            "AUDIT-010",
            "FIX-001",
            "S",
            "S-1",
            "S-02",
            "S-2",
            "S-2a",
            "S-10",
        ];
        assert_eq!(ids, right);
    }

    #[test]
    fn a_number_may_be_longer_than_any_type() {
        let (small, large) = (
            format!("S-{}", "9".repeat(50)),
            format!("S-1{}", "0".repeat(50)),
        );
        assert_eq!(by_number(&small, &large), Ordering::Less);
    }

    proptest! {
        #[test]
        fn it_is_an_order(a in "[S0-2-]{0,6}", b in "[S0-2-]{0,6}", c in "[S0-2-]{0,6}") {
            prop_assert_eq!(by_number(&a, &b), by_number(&b, &a).reverse());
            prop_assert_eq!(by_number(&a, &b).is_eq(), a == b);
            if by_number(&a, &b).is_le() && by_number(&b, &c).is_le() {
                prop_assert!(by_number(&a, &c).is_le());
            }
        }
    }
}
