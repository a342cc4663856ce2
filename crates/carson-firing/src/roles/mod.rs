//! What a role is for, a file each: where its work comes from, what its `[OK]` must have made, and what
//! follows on the forge. [`KINDS`] is the list.

mod effects;
mod implement;
mod kind;
mod repositories;
mod routine;

use carson_config::Role;

pub(crate) use kind::{Closing, Kind};

/// Every kind.
const KINDS: &[Kind] = &[implement::KIND, routine::KIND];

/// The kind of a role. The settings know no other source of work than these, so the first is never
/// asked in the place of an unknown one.
pub(crate) fn kind_of(role: &Role) -> &'static Kind {
    let named = KINDS.iter().find(|kind| kind.from == role.work.from());
    named.unwrap_or(&KINDS[0])
}

#[cfg(test)]
mod tests {
    use carson_config::WorkSource;

    use super::*;

    #[test]
    fn every_source_of_work_has_a_kind_of_its_own() {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.from).collect();
        assert_eq!(names, WorkSource::ALL);
    }
}
