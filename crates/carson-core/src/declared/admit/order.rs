//! Which new issues of an outbox must be done before others of it.

use std::collections::BTreeMap;

/// The entries that are new issues, each with its place among those.
#[derive(Default)]
pub(super) struct Order {
    filed: BTreeMap<usize, u32>,
}

impl Order {
    /// Notes that this entry is filed, as the issue at this place.
    pub(super) fn add(&mut self, entry: usize, place: u32) {
        self.filed.insert(entry, place);
    }

    /// The places of what the `n`-th entry comes after. Only what stands before it is known: so nothing waits
    /// for itself.
    pub(super) fn before(&self, n: usize, after: &[usize]) -> Result<Vec<u32>, String> {
        let place = |entry: &usize| match self.filed.get(entry) {
            Some(place) => Ok(*place),
            None if (1..n).contains(entry) => Err(format!(
                "it comes after entry {entry}, which is no new issue, or is refused"
            )),
            None => Err(format!(
                "it comes after entry {entry}, and only entries before it count"
            )),
        };
        let mut places: Vec<u32> = after.iter().map(place).collect::<Result<_, String>>()?;
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }
}
