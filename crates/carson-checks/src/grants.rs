//! Whether a role's grants leave Carson its own.

use std::path::Path;

use carson_config::{Role, Sandbox};
use carson_proc::sandbox::Ns;

use crate::{Scene, Verdict};
use carson_bench::own_places::{self, OwnPlace};
use carson_bench::sandbox_profile::forced;

/// What lies inside a grant is carved out of it, where sessions have mounts of their own. What is
/// granted itself cannot be.
pub(crate) async fn own(scene: &Scene<'_>, role: &Role) -> Option<Verdict> {
    if role.confinement.write.is_empty() || role.confinement.sandbox == Sandbox::Off {
        return None;
    }
    let pretended = forced(scene.home).is_none_or(|abi| abi.namespaces);
    let carved = pretended && scene.machine.level().has(Ns::Mount);
    let programs = own_places::programs(scene.home).map(|path| OwnPlace {
        path,
        what: "Carson's own programs",
    });
    let own = own_places::believed(scene.home);
    let lent = own_places::lent(scene.home);
    for grant in &role.confinement.write {
        let Ok(real) = grant.canonicalize() else {
            continue;
        };
        let taken = programs.iter().chain(&own).find(|place| {
            let inside = place.path.starts_with(&real);
            real.starts_with(&place.path) || (inside && !carved)
        });
        // What sessions are given is not carved out of anything.
        let is_taken =
            |place: &&OwnPlace| place.path.starts_with(&real) || real.starts_with(&place.path);
        if let Some(taken) = taken.or_else(|| lent.iter().find(is_taken)) {
            return Some(broken(grant, taken));
        }
    }
    Some(Verdict::ok(
        "its sessions write nothing that Carson runs or believes",
    ))
}

fn broken(grant: &Path, taken: &OwnPlace) -> Verdict {
    Verdict::error(format!(
        "[paths] write has {}, and {} is {}: its sessions could change what runs outside the walls",
        grant.display(),
        taken.path.display(),
        taken.what
    ))
}
