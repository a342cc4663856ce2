//! Directories that only their owner enters.

use std::path::Path;

/// Creates a directory and its parents, mode 0700.
pub fn private_dir(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)?;
    // Beneath a directory with the setgid bit a new one has it too, and so would all that a session
    // makes; `chmod`, which keeps it on directories, would then be refused behind the walls.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}
