//! What a role is for, a file each: where its work comes from, what its `[OK]` must have made, and what
//! follows on the forge. [`kind_of`] is the list.

mod effects;
pub(crate) mod hand_over;
mod implement;
mod kind;
mod pick_issue;
pub(crate) mod repositories;
pub(crate) mod routine;

use carson_config::{Role, WorkFrom};

pub(crate) use kind::{Closing, Kind};

/// The kind of a role.
pub(crate) fn kind_of(role: &Role) -> &'static Kind {
    match role.work.from {
        WorkFrom::Issues => &implement::KIND,
        WorkFrom::None => &routine::KIND,
    }
}
