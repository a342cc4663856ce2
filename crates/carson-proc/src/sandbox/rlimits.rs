//! Limits of each process.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::sandbox::level::Level;
use crate::sandbox::profile::Resources;

const MIB: u64 = 1024 * 1024;

/// Sets what the profile bounds; core dumps are off always. A limit that is lower already stays.
pub(super) fn apply(resources: &Resources, level: &mut Level) -> Result<(), String> {
    lower(Resource::RLIMIT_CORE, 0)?;
    let megabytes = |mb: Option<u64>| mb.map(|mb| mb.saturating_mul(MIB));
    // Of the address space much is only reserved; this counts what can be written.
    let memory = resources.memory_mb.filter(|_| !level.cgroup.memory);
    for (resource, bound) in [
        (Resource::RLIMIT_FSIZE, megabytes(resources.file_size_mb)),
        (Resource::RLIMIT_NOFILE, resources.open_files),
        (Resource::RLIMIT_CPU, resources.cpu_seconds),
        #[cfg(target_os = "linux")]
        (Resource::RLIMIT_NPROC, processes(resources, level)),
        (Resource::RLIMIT_DATA, megabytes(memory)),
    ] {
        if let Some(bound) = bound {
            lower(resource, bound)?;
        }
    }
    Ok(())
}

/// Outside a namespace of users the kernel counts every process of the user, or none if that is
/// root.
#[cfg(target_os = "linux")]
fn processes(resources: &Resources, level: &Level) -> Option<u64> {
    use crate::sandbox::level::Ns;
    let counts_ours = level.has(Ns::User) && !level.cgroup.pids;
    resources.processes.filter(|_| counts_ours)
}

fn lower(resource: Resource, bound: u64) -> Result<(), String> {
    let fail = |error| format!("{resource:?}: {error}");
    let (_, hard) = getrlimit(resource).map_err(fail)?;
    let bound = bound.min(hard);
    setrlimit(resource, bound, bound).map_err(fail)
}
