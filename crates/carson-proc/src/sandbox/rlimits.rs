//! Limits of each process.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::sandbox::level::{Level, Ns};
use crate::sandbox::profile::Resources;

const MIB: u64 = 1024 * 1024;

/// Sets what the profile bounds; core dumps are off always. A limit that is lower already stays.
pub(super) fn apply(resources: &Resources, level: &mut Level) -> Result<(), String> {
    lower(Resource::RLIMIT_CORE, 0)?;
    let megabytes = |mb: Option<u64>| mb.map(|mb| mb.saturating_mul(MIB));
    // Elsewhere the kernel counts every process of the user, or none if that is root.
    let counts_ours = level.has(Ns::User) && !level.cgroup.pids;
    let processes = resources.processes.filter(|_| counts_ours);
    // Of the address space much is only reserved; this counts what can be written.
    let memory = resources.memory_mb.filter(|_| !level.cgroup.memory);
    for (resource, bound) in [
        (Resource::RLIMIT_FSIZE, megabytes(resources.file_size_mb)),
        (Resource::RLIMIT_NOFILE, resources.open_files),
        (Resource::RLIMIT_CPU, resources.cpu_seconds),
        (Resource::RLIMIT_NPROC, processes),
        (Resource::RLIMIT_DATA, megabytes(memory)),
    ] {
        if let Some(bound) = bound {
            lower(resource, bound)?;
        }
    }
    Ok(())
}

fn lower(resource: Resource, bound: u64) -> Result<(), String> {
    let fail = |error| format!("{resource:?}: {error}");
    let (_, hard) = getrlimit(resource).map_err(fail)?;
    let bound = bound.min(hard);
    setrlimit(resource, bound, bound).map_err(fail)
}
