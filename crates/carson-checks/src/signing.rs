//! Whether the commits of a role can be signed: a word is.

use carson_config::Role;

use crate::{Scene, Verdict};

pub(crate) async fn works(_: &Scene<'_>, role: &Role) -> Option<Verdict> {
    let key = role.signing.as_ref()?;
    Some(
        match carson_git::sign(key, b"Carson asks whether this key signs.\n").await {
            Ok(_) => Verdict::ok(format!("{key} signs")),
            Err(error) => Verdict::error(error.to_string()),
        },
    )
}
