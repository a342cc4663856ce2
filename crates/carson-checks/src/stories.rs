//! The plan of a role that does stories. Only a firing, a look ahead and `carson why` read it: it is the newest
//! commit's, and that is fetched.

use carson_config::Role;

use crate::{Scene, Verdict};

pub(crate) async fn plan(_: &Scene<'_>, role: &Role) -> Option<Verdict> {
    let file = role.work.file.as_ref()?;
    let found = format!("each firing reads {file} at the newest commit of the base first");
    Some(Verdict::ok(found))
}
