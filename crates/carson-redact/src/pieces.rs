//! Known values that leave in pieces: a part in each of several commits, files, names or lines.

use std::collections::HashMap;

use crate::known::parts;

/// A shorter value is too likely to be put together from ordinary words.
const LEAST: usize = 16;
/// Lengths of the parts that are looked for. A value is looked for in parts of a third of it.
const SIZES: [usize; 4] = [16, 12, 8, 6];
/// So much of a value may be missing, as one part in so many.
const MISSING: usize = 8;

/// Remembers which parts of which known values have been seen.
#[derive(Debug)]
pub struct Pieces {
    by_size: Vec<BySize>,
    /// Of each value, which bytes were seen.
    seen: Vec<Vec<bool>>,
}

/// All parts of one length.
#[derive(Debug)]
struct BySize {
    size: usize,
    /// One bit for each part's hash: most places of a text are told apart by it alone.
    maybe: Vec<u64>,
    /// Value and offset of each part.
    parts: HashMap<u128, Vec<(usize, usize)>>,
}

impl Pieces {
    pub(crate) fn of<'s>(secrets: impl Iterator<Item = &'s str>) -> Self {
        let values: Vec<&str> = secrets
            .flat_map(parts)
            .filter(|value| value.len() >= LEAST && !value.contains('\n'))
            .collect();
        let by_size = SIZES.map(|size| BySize::of(size, &values));
        Self {
            by_size: by_size
                .into_iter()
                .filter(|one| !one.parts.is_empty())
                .collect(),
            seen: values
                .iter()
                .map(|value| vec![false; value.len()])
                .collect(),
        }
    }

    /// Looks through another text.
    pub fn search_text(&mut self, text: &[u8]) {
        for one in &self.by_size {
            one.mark_seen(text, &mut self.seen);
        }
    }

    /// Whether (nearly) all of one value has been seen.
    #[must_use]
    pub fn make_a_whole(&self) -> bool {
        let nearly = |seen: &Vec<bool>| {
            let missing = seen.iter().filter(|seen| !**seen).count();
            missing * MISSING <= seen.len()
        };
        self.seen.iter().any(nearly)
    }
}

impl BySize {
    fn of(size: usize, values: &[&str]) -> Self {
        let mut this = Self {
            size,
            maybe: vec![0; 1024],
            parts: HashMap::new(),
        };
        let fits = |value: &str| {
            let third = value.len() / 3;
            size == *SIZES
                .iter()
                .find(|size| **size <= third)
                .unwrap_or(&SIZES[3])
        };
        for (at, value) in values.iter().enumerate().filter(|(_, value)| fits(value)) {
            for (offset, part) in value.as_bytes().windows(size).enumerate() {
                let part = part
                    .iter()
                    .fold(0, |word, byte| word << 8 | u128::from(*byte));
                let (place, bit) = place(part);
                this.maybe[place] |= bit;
                this.parts.entry(part).or_default().push((at, offset));
            }
        }
        this
    }

    fn mark_seen(&self, text: &[u8], seen: &mut [Vec<bool>]) {
        let mask = u128::MAX >> (128 - 8 * self.size);
        let mut word = 0_u128;
        for (at, byte) in text.iter().enumerate() {
            word = (word << 8 | u128::from(*byte)) & mask;
            let (place, bit) = place(word);
            if at + 1 < self.size || self.maybe[place] & bit == 0 {
                continue;
            }
            for (value, offset) in self.parts.get(&word).into_iter().flatten() {
                // One that was seen already costs no more than the look-up.
                let part = &mut seen[*value][*offset..*offset + self.size];
                part.fill(true);
            }
        }
    }
}

/// Word and bit of a part among 65,536.
fn place(part: u128) -> (usize, u64) {
    let folded = (part >> 64) as u64 ^ (part as u64);
    let hash = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "quiet-otter/9+mellow=hill";

    fn whole(texts: &[&str]) -> bool {
        let mut pieces = Pieces::of([VALUE, "short-one"].into_iter());
        texts
            .iter()
            .for_each(|text| pieces.search_text(text.as_bytes()));
        pieces.make_a_whole()
    }

    #[test]
    fn parts_in_several_texts_make_a_whole() {
        for at in 8..=VALUE.len() - 8 {
            assert!(
                whole(&[&VALUE[..at], &format!("b = {}", &VALUE[at..])]),
                "{at}"
            );
        }
        assert!(whole(&["x quiet-otter/9\"\n + \"+mellow=hill"]));
        assert!(whole(&["+mellow=", "quiet-ot", "ter/9+me", "low=hill"]));
        assert!(!whole(&[
            "quiet otter / 9 + mellow = hill",
            "quiet-otter/",
            "short",
            "-one"
        ]));
        assert!(!whole(&[]));
    }
}
