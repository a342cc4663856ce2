//! What makes a directory a repository, and what may lie among its objects.

use std::fs;
use std::path::Path;

/// Makes an empty bare repository that borrows objects; with its last file it is one.
pub(crate) fn skeleton(dir: &Path, objects: &Path, config: &str) -> std::io::Result<()> {
    for name in ["objects/info", "objects/pack", "refs/heads"] {
        fs::create_dir_all(dir.join(name))?;
    }
    fs::write(dir.join("config"), config)?;
    fs::write(dir.join("objects/info/alternates"), alternate(objects))?;
    fs::write(dir.join("HEAD"), "ref: refs/heads/none\n")
}

/// A line of an alternates file.
pub(crate) fn alternate(objects: &Path) -> Vec<u8> {
    let mut line = objects.as_os_str().as_encoded_bytes().to_vec();
    line.push(b'\n');
    line
}

/// Whether this is how git names a pack, without an ending.
pub(crate) fn is_pack(name: &str) -> bool {
    let hash = name.strip_prefix("pack-").unwrap_or_default();
    hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}
