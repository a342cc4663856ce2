//! What a role is for, a file each: where its work comes from, what its `[OK]` must have made, and what
//! follows on the forge. [`kind_of`] is the list.

pub(crate) mod candidates;
pub(crate) mod command;
mod effects;
mod fix;
pub(crate) mod hand_over;
mod implement;
pub(crate) mod kind;
pub(crate) mod look;
pub(crate) mod merge;
mod pick_issue;
mod plan;
pub(crate) mod pulls;
mod quiet;
pub(crate) mod repositories;
mod review;
pub(crate) mod routine;
mod steward;
pub(crate) mod stories;
mod take;
mod tester;
mod triage;

use carson_config::{Role, RoleKind};

pub(crate) use kind::{Closing, Kind};

/// The kind of a role.
pub(crate) fn kind_of(role: &Role) -> &'static Kind {
    match role.kind {
        RoleKind::Implementer => &implement::KIND,
        RoleKind::Routine => &routine::KIND,
        RoleKind::Planner | RoleKind::Architect => &plan::KIND,
        RoleKind::Triager => &triage::KIND,
        RoleKind::Reviewer => &review::KIND,
        RoleKind::Fixer => &fix::KIND,
        RoleKind::Merger => &merge::KIND,
        RoleKind::Command => &command::KIND,
        RoleKind::Steward => &steward::KIND,
        RoleKind::Tester => &tester::KIND,
        RoleKind::Stories => &stories::KIND,
    }
}
