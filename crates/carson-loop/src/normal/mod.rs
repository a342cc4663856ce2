//! What of an output is content, and what only is another time.
//!
//! [`normalised`] takes away what differs between two runs that did the same: absolute places of the tree and of
//! temporary directories, times of day, durations, process numbers, ids and hashes, colours and bars that are drawn
//! anew. Nothing else: line numbers, counts and values that a test asserts are content. In doubt it is content: a
//! repeat that is not seen costs an attempt, a change that is taken for one ends a run that was getting somewhere.
//!
//! Each line is read once, from the left, with words of a bounded length ahead: time is linear in its length
//! whatever stands in it.

mod places;
mod terminal;
mod times;
mod token;
mod words;

#[cfg(test)]
mod tests;

pub use places::Places;

use crate::digest::Digest;

/// An output without what only is another time.
#[must_use]
pub fn normalised(output: &[u8], places: &Places) -> String {
    let text = String::from_utf8_lossy(output);
    let mut all = String::with_capacity(text.len());
    for line in terminal::shown(&text) {
        let line = places.without(&line);
        words::without_noise(line.trim_end(), &mut all);
        all.push('\n');
    }
    let end = all.trim_end().len();
    all.truncate(end);
    all
}

/// What stands for a normalised output.
#[must_use]
pub fn fingerprint(output: &[u8], places: &Places) -> Digest {
    Digest::of(normalised(output, places).as_bytes())
}
