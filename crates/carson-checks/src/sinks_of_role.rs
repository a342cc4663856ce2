//! Whether a role that tells people something has somebody to tell it to.

use carson_config::{Role, RoleKind};

use crate::{Scene, Verdict};

pub(crate) async fn heard(scene: &Scene<'_>, role: &Role) -> Option<Verdict> {
    if role.kind != RoleKind::Steward {
        return None;
    }
    Some(match scene.home.fleet.sinks.is_empty() {
        // What nobody hears is not told.
        true => Verdict::error("there is no chat that it could tell"),
        false => Verdict::ok("a chat hears it"),
    })
}
