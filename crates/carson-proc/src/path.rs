//! Finding a program the way a shell does.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The executable file that `program` names: itself when it has a slash, else the first match in
/// `path` (the value of `PATH`).
#[must_use]
pub fn find_on_path(program: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    candidates(program, path).next()
}

/// Every executable file that `program` may name, in the order of `path`.
pub(crate) fn candidates(program: &Path, path: Option<&OsStr>) -> impl Iterator<Item = PathBuf> {
    let itself = (program.components().count() > 1).then(|| program.to_owned());
    let path = path.filter(|_| itself.is_none()).unwrap_or_default();
    let dirs = std::env::split_paths(path).filter(|dir| dir.is_absolute());
    let named: Vec<PathBuf> = dirs.map(|dir| dir.join(program)).collect();
    itself
        .into_iter()
        .chain(named)
        .filter(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_sh_and_nothing_that_is_not_there() {
        let path = Some(OsStr::new("/nowhere:/bin:/usr/bin"));
        assert!(find_on_path(Path::new("sh"), path).unwrap().ends_with("sh"));
        assert_eq!(find_on_path(Path::new("no-such-program"), path), None);
        assert_eq!(
            find_on_path(Path::new("/etc/passwd"), path),
            None,
            "not executable"
        );
        assert_eq!(find_on_path(Path::new("sh"), None), None);
    }
}
