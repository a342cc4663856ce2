//! How a tester measures what is tested. Only a firing can: in a clean room of the newest base.

use carson_config::Role;

use crate::{Scene, Verdict};

pub(crate) async fn measured(_: &Scene<'_>, role: &Role) -> Option<Verdict> {
    let asked = role.coverage.as_ref()?;
    let found = format!("each firing runs `{}` in its sandbox first", asked.run);
    Some(Verdict::ok(found))
}
