//! All vectors of a model in memory, and a scan over all of them.

use std::sync::Arc;

use carson_store::{Covered, Store, StoreError};
use tokio::sync::{Mutex, MutexGuard};

use super::quantised::{Quantised, product};

/// Vectors that are read at once.
const PAGE: u32 = 5_000;
/// Vectors that are kept in memory.
const MOST: usize = 100_000;

/// What a process keeps of a store's vectors from one recall to the next; clones share it. Empty at first.
#[derive(Clone, Debug, Default)]
pub struct Vectors(Arc<Mutex<Index>>);

impl Vectors {
    /// Those of a model; those of another one are forgotten.
    pub(crate) async fn of(&self, model: &str) -> MutexGuard<'_, Index> {
        let mut index = self.0.lock().await;
        if index.model != model {
            *index = Index {
                model: model.to_owned(),
                ..Index::default()
            };
        }
        index
    }
}

/// The vectors of a model, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Index {
    model: String,
    /// The last that was read.
    last: i64,
    /// How far all that is believed was seen to have its vector.
    pub(crate) covered: Covered,
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
    pub(crate) async fn read_on(&mut self, store: &Store) -> Result<(), StoreError> {
        while self.lessons.len() < MOST {
            let rows = store.vectors_after(&self.model, self.last, PAGE).await?;
            let read = rows.len();
            for row in rows {
                self.last = row.seq;
                self.add(row.lesson, row.scale as f32, &row.vector);
            }
            if read < PAGE as usize {
                break;
            }
        }
        Ok(())
    }

    /// Those of another length were made by another model of the same name: the newest is the one that answers.
    fn add(&mut self, lesson: i64, scale: f32, vector: &[u8]) {
        if self.dimensions != vector.len() {
            self.dimensions = vector.len();
            self.lessons.clear();
            self.scales.clear();
            self.numbers.clear();
        }
        self.lessons.push(lesson);
        self.scales.push(scale);
        self.numbers
            .extend(vector.iter().map(|byte| byte.cast_signed()));
    }

    /// Whether it has none.
    pub(crate) fn is_empty(&self) -> bool {
        self.lessons.is_empty()
    }

    /// How long its vectors are.
    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The lessons that are nearest, the nearest first, each with its cosine.
    pub(crate) fn nearest(&self, wanted: &[f32], most: usize) -> Vec<(i64, f64)> {
        if self.dimensions == 0 || wanted.len() != self.dimensions {
            return Vec::new();
        }
        let wanted = Quantised::of(wanted);
        let wide = wanted.wide();
        let rows = self
            .numbers
            .chunks_exact(self.dimensions)
            .zip(&self.scales)
            .zip(&self.lessons);
        let mut all: Vec<(f32, i64)> = rows
            .map(|((numbers, scale), lesson)| {
                let product = product(numbers, &wide) as f32;
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
    fn another_length_finds_nothing_and_is_that_of_the_newest() {
        let index = index(&[&[1.0, 0.0], &[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]]);
        assert_eq!(index.nearest(&[1.0, 0.0], 3), []);
        let found = index.nearest(&[0.0, 1.0, 0.0], 9);
        assert_eq!(
            found.iter().map(|(lesson, _)| *lesson).collect::<Vec<_>>(),
            [3, 2]
        );
    }
}
