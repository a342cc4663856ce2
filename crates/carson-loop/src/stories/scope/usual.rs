//! Folders that tools fill: what changes there is nobody's work.

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
