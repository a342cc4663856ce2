//! All vectors of a model in memory, and a scan over all of them.

use carson_store::{Store, StoreError};

use super::quantised::{Quantised, product};

/// Vectors that are read at once.
const PAGE: u32 = 5_000;
/// Lessons that are kept in memory.
pub const MOST: usize = 100_000;

/// The vectors of a model, in the order of lessons.
#[derive(Clone, Debug, Default)]
pub struct Index {
    lessons: Vec<i64>,
    scales: Vec<f32>,
    numbers: Vec<i8>,
    dimensions: usize,
}

impl Index {
    /// Reads what was added since it was read last.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn read_on(&mut self, store: &Store, model: &str) -> Result<(), StoreError> {
        while self.lessons.len() < MOST {
            let after = self.lessons.last().copied().unwrap_or(0);
            let rows = store.vectors_after(model, after, PAGE).await?;
            let read = rows.len();
            for row in rows {
                self.add(row.lesson, row.scale as f32, &row.vector);
            }
            if read < PAGE as usize {
                break;
            }
        }
        Ok(())
    }

    fn add(&mut self, lesson: i64, scale: f32, vector: &[u8]) {
        if self.lessons.is_empty() {
            self.dimensions = vector.len();
        }
        self.lessons.push(lesson);
        self.scales.push(scale);
        // One of another length is nothing's neighbour.
        let fits = vector.len() == self.dimensions;
        let numbers = vector.iter().map(|byte| byte.cast_signed());
        self.numbers
            .extend(numbers.take(if fits { self.dimensions } else { 0 }));
        self.numbers.resize(self.lessons.len() * self.dimensions, 0);
    }

    /// How many vectors it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lessons.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lessons.is_empty()
    }

    /// How long its vectors are.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The lessons that are nearest, the nearest first, each with its cosine.
    #[must_use]
    pub fn nearest(&self, wanted: &[f32], most: usize) -> Vec<(i64, f64)> {
        if self.dimensions == 0 || wanted.len() != self.dimensions {
            return Vec::new();
        }
        let wanted = Quantised::of(wanted);
        let rows = self
            .numbers
            .chunks_exact(self.dimensions)
            .zip(&self.scales)
            .zip(&self.lessons);
        let mut all: Vec<(f32, i64)> = rows
            .map(|((numbers, scale), lesson)| {
                let product = product(numbers, &wanted.numbers) as f32;
                (product * scale * wanted.scale, *lesson)
            })
            .collect();
        let order = |a: &(f32, i64), b: &(f32, i64)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if all.len() > most && most > 0 {
            all.select_nth_unstable_by(most - 1, order);
        }
        all.truncate(most);
        all.sort_by(order);
        all.into_iter()
            .map(|(cosine, lesson)| (lesson, f64::from(cosine)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(vectors: &[&[f32]]) -> Index {
        let mut index = Index::default();
        for (lesson, vector) in (1..).zip(vectors) {
            let one = Quantised::of(vector);
            index.add(lesson, one.scale, &one.bytes());
        }
        index
    }

    #[test]
    fn the_nearest_come_first_and_equals_in_their_order() {
        let index = index(&[&[0.0, 1.0], &[1.0, 0.0], &[0.6, 0.8], &[1.0, 0.0]]);
        let found: Vec<i64> = index
            .nearest(&[1.0, 0.0], 3)
            .into_iter()
            .map(|(lesson, _)| lesson)
            .collect();
        assert_eq!(found, [2, 4, 3]);
        assert_eq!(index.nearest(&[1.0, 0.0], 0), []);
    }

    #[test]
    fn another_length_finds_nothing_and_shifts_nobody() {
        let index = index(&[&[1.0, 0.0], &[1.0, 0.0, 0.0], &[0.0, 1.0]]);
        assert_eq!(index.nearest(&[1.0, 0.0, 0.0], 3), []);
        assert_eq!(index.nearest(&[0.0, 1.0], 1)[0].0, 3);
    }
}
