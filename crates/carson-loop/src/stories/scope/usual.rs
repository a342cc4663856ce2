//! Folders that tools fill: what changes there is nobody's work.

use std::path::Path;

/// Names of folders that builds, tests and package managers fill. Only where the repository ignores them, too:
/// a tracked `target/` is work like all else.
pub const BUILD_FOLDERS: [&str; 22] = [
    ".cache",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    "__pycache__",
    "build",
    "coverage",
    "dist",
    "node_modules",
    "target",
    "venv",
];

/// Whether a path lies in a folder of such a name.
#[must_use]
pub fn in_build_folder(path: &Path) -> bool {
    let above = path.parent().map(Path::components).into_iter().flatten();
    let mut names = above.filter_map(|part| part.as_os_str().to_str());
    names.any(|name| BUILD_FOLDERS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_by_their_whole_name() {
        assert!(BUILD_FOLDERS.is_sorted());
        for path in ["target/a", "x/node_modules/y/z", "a/__pycache__/b.pyc"] {
            assert!(in_build_folder(Path::new(path)), "{path}");
        }
        for path in ["target", "targets/a", "src/target", "Build/a"] {
            assert!(!in_build_folder(Path::new(path)), "{path}");
        }
    }
}
