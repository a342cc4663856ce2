//! Where the tests write: in memory, where there is enough of it. A disk makes a third of their time of
//! syncing files whose machine does not fail; `cargo xtask machine` is where it does.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

/// Memory that is a directory, on Linux.
const SHARED_MEMORY: &str = "/dev/shm";

/// What must be free there: a session may write gigabytes before a bound ends it.
const FREE_BYTES: u64 = 8 << 30;

/// A directory in memory; goes with its content.
#[derive(Debug)]
pub struct MemoryDir(PathBuf);

impl MemoryDir {
    /// One of this run; `None` where there is no memory for it, or the environment names another place.
    pub fn make() -> Option<Self> {
        let chosen = std::env::var_os("TMPDIR").is_some();
        if chosen || !is_in_memory() || free_bytes()? < FREE_BYTES {
            return None;
        }
        let name = format!("carson-tests-{}", std::process::id());
        let dir = Path::new(SHARED_MEMORY).join(name);
        // Tests play other users too: they may go through.
        DirBuilder::new().mode(0o755).create(&dir).ok()?;
        Some(Self(dir))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for MemoryDir {
    fn drop(&mut self) {
        // Whoever finds it after us loses nothing by removing it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_in_memory() -> bool {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let mut mounts = mounts.lines().map(|line| line.split(' '));
    mounts.any(|mut mount| mount.nth(1) == Some(SHARED_MEMORY) && mount.next() == Some("tmpfs"))
}

fn free_bytes() -> Option<u64> {
    let found = statvfs(SHARED_MEMORY).ok()?;
    Some(found.blocks_available() * found.fragment_size())
}
