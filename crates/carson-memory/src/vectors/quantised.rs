//! A vector in eight bits a number: a quarter of the memory, and compared in whole numbers.

/// A vector of length 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    /// What its numbers are multiplied with.
    pub scale: f32,
    /// Its numbers.
    pub numbers: Vec<i8>,
}

impl Quantised {
    /// Of numbers as a model gives them.
    #[must_use]
    pub fn of(vector: &[f32]) -> Self {
        let most = vector
            .iter()
            .fold(0.0_f32, |most, number| most.max(number.abs()));
        if most <= 0.0 || !most.is_finite() {
            return Self {
                scale: 0.0,
                numbers: vec![0; vector.len()],
            };
        }
        let scale = most / 127.0;
        let number = |number: &f32| (number / scale).round().clamp(-127.0, 127.0) as i8;
        Self {
            scale,
            numbers: vector.iter().map(number).collect(),
        }
    }

    /// As [`product`] takes one of two.
    #[must_use]
    pub fn wide(&self) -> Vec<i16> {
        self.numbers
            .iter()
            .map(|number| i16::from(*number))
            .collect()
    }

    /// As a column holds them.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.numbers
            .iter()
            .map(|number| number.cast_unsigned())
            .collect()
    }
}

/// How alike two vectors are, before their scales. One is in sixteen bits, because that is what machines multiply at once: a scan
/// over many takes two thirds of the time.
#[must_use]
pub fn product(one: &[i8], other: &[i16]) -> i32 {
    one.iter()
        .zip(other)
        .map(|(a, b)| i32::from(i16::from(*a)) * i32::from(*b))
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn unit(vector: &[f32]) -> Vec<f32> {
        let length = cosine(vector, vector).sqrt().max(1e-6);
        vector.iter().map(|number| number / length).collect()
    }

    proptest! {
        #[test]
        fn little_is_lost(
            a in proptest::collection::vec(-1.0f32..1.0, 64), b in proptest::collection::vec(-1.0f32..1.0, 64)
        ) {
            let (a, b) = (unit(&a), unit(&b));
            let (one, other) = (Quantised::of(&a), Quantised::of(&b));
            let product = product(&one.numbers, &other.wide());
            let found = product as f32 * one.scale * other.scale;
            prop_assert!((found - cosine(&a, &b)).abs() < 0.03);
        }
    }
}
