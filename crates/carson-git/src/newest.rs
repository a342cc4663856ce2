//! The newest of some commits.

use std::collections::HashSet;

use git2::{Oid, Repository, Revwalk, Sort};

/// What a walk finds within its first `most` commits, without those that others of them have in their
/// history.
pub(crate) fn newest(
    repo: &Repository,
    mut walk: Revwalk<'_>,
    most: usize,
) -> Result<Vec<Oid>, git2::Error> {
    walk.set_sorting(Sort::TOPOLOGICAL)?;
    let (mut newest, mut known) = (Vec::new(), HashSet::new());
    for oid in walk.take(most) {
        let oid = oid?;
        // Children come first, so one that is known already is not among the newest.
        if !known.contains(&oid) {
            newest.push(oid);
        }
        known.extend(repo.find_commit(oid)?.parent_ids());
    }
    Ok(newest)
}
