//! A role that runs a command at every slot, and asks no model: whether something is well, or what a tool
//! brings up to date.

use carson_config::Role;
use carson_core::RoleName;
use carson_core::settle::Goal;

use super::kind::Kind;
use super::routine;

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(routine::pick(ctx, rec)),
    look: None,
    goal,
    effects: routine::effects,
};

/// What the issue of such a role is about.
pub(crate) fn topic(role: &RoleName) -> String {
    format!("command {role}")
}

/// One whose changes nobody keeps only says whether it is well.
fn goal(role: &Role) -> Goal {
    let kept = |role: &Role| role.command.as_ref()?.commit.clone();
    match kept(role) {
        Some(_) => Goal::Commits,
        None => Goal::Effects,
    }
}
