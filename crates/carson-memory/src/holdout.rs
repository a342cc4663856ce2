//! Which firings are told nothing, so that somebody can compare.

use carson_core::FiringId;
use sha2::{Digest as _, Sha256};

/// Whether a firing is one of this share. It is chance, and the same one for the same firing; other shares by its id are
/// independent of it.
#[must_use]
pub fn is_held_out(firing: FiringId, share: f64) -> bool {
    let hash = Sha256::digest(format!("recall {firing}"));
    let place = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
    f64::from(place) / 2_f64.powi(32) < share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_about_that_many_and_none_and_all_are_what_they_say() {
        let ids: Vec<FiringId> = (0..2_000).map(|_| FiringId::new()).collect();
        let held = |share: f64| ids.iter().filter(|id| is_held_out(**id, share)).count();
        assert_eq!((held(0.0), held(1.0)), (0, 2_000));
        assert!((290..=510).contains(&held(0.2)), "{}", held(0.2));
        // It says nothing of the share that the id itself makes.
        let both = ids
            .iter()
            .filter(|id| is_held_out(**id, 0.5) && id.place() < 0.5)
            .count();
        assert!((390..=610).contains(&both), "{both}");
    }
}
