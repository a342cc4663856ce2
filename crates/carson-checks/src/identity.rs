//! Who a role's sessions are to others. Only a firing can ask: in its sandbox, with its environment.

use carson_config::Role;

use crate::{Scene, Verdict};

pub(crate) async fn asked(_: &Scene<'_>, role: &Role) -> Option<Verdict> {
    let check = role.identity_check.as_ref()?;
    let found = format!("each firing asks `{}` in its sandbox first", check.run);
    Some(Verdict::ok(found))
}
