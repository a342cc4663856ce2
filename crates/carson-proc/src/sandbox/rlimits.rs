//! Limits of each process.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::sandbox::level::Level;
use crate::sandbox::profile::Resources;

const MIB: u64 = 1024 * 1024;

/// Sets what the profile bounds; core dumps are off always. A limit that is lower already stays.
pub(super) fn apply(resources: &Resources, _level: &mut Level) -> Result<(), String> {
    lower(Resource::RLIMIT_CORE, 0)?;
    let bounds = [
        (
            Resource::RLIMIT_FSIZE,
            resources.file_size_mb.map(|mb| mb.saturating_mul(MIB)),
        ),
        (Resource::RLIMIT_NOFILE, resources.open_files),
        (Resource::RLIMIT_CPU, resources.cpu_seconds),
    ];
    for (resource, bound) in bounds {
        if let Some(bound) = bound {
            lower(resource, bound)?;
        }
    }
    Ok(())
}

pub(super) fn lower(resource: Resource, bound: u64) -> Result<(), String> {
    let fail = |error| format!("{resource:?}: {error}");
    let (_, hard) = getrlimit(resource).map_err(fail)?;
    let bound = bound.min(hard);
    setrlimit(resource, bound, bound).map_err(fail)
}
