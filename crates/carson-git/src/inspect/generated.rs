//! What programs make again by themselves: left beside the work, it is none.
//!
//! Names that people give to nothing else, the tags that caches carry (bford.info/cachedir), and what
//! the base's own `.gitattributes` call generated. What is tracked is work, whatever its name.

use std::path::Path;

use super::safe_read::tail;

/// Directories.
const DIRECTORIES: [&str; 24] = [
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".pytype",
    ".pyre",
    ".hypothesis",
    ".tox",
    ".nox",
    ".eggs",
    ".ipynb_checkpoints",
    ".venv",
    "node_modules",
    ".npm",
    ".pnpm-store",
    ".parcel-cache",
    ".turbo",
    ".nyc_output",
    ".gradle",
    ".dart_tool",
    ".terraform",
    ".ccls-cache",
    ".zig-cache",
    ".phpunit.cache",
];
/// Files.
const FILES: [&str; 8] = [
    ".coverage",
    ".eslintcache",
    ".stylelintcache",
    ".phpunit.result.cache",
    ".ninja_log",
    ".ninja_deps",
    ".DS_Store",
    "Thumbs.db",
];
/// How such files end.
const FILE_ENDINGS: [&str; 4] = [".pyc", ".pyo", ".tsbuildinfo", ".swp"];
/// How such directories end.
const DIRECTORY_ENDINGS: [&str; 1] = [".egg-info"];
/// Directories that are made again where a rule ignores them by their name; elsewhere people work in
/// directories of these names.
const OUTPUTS: [&str; 18] = [
    "target", "build", "dist", "out", "bin", "obj", "coverage", "htmlcov", "venv", "env", "tmp",
    "temp", "log", "logs", ".cache", ".next", ".nuxt", ".output",
];

/// What a directory carries that may be thrown away as a whole.
const TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";
/// Bytes of such a tag.
const TAG_FILE: u64 = 4096;

/// Whether a directory of this name is made by programs alone.
pub(super) fn is_directory(name: &[u8]) -> bool {
    is_one(name, &DIRECTORIES, &DIRECTORY_ENDINGS)
}

/// Whether a file of this name is made by programs alone.
pub(super) fn is_file(name: &[u8]) -> bool {
    is_one(name, &FILES, &FILE_ENDINGS)
}

/// Whether a directory says of itself that it is a cache, or an environment of Python's.
pub(super) fn is_tagged(dir: &Path) -> bool {
    let plain = |name: &str| {
        let path = dir.join(name);
        let found = path.symlink_metadata().ok()?;
        (found.is_file() && found.len() <= TAG_FILE).then_some(path)
    };
    let tag = plain("CACHEDIR.TAG").and_then(|path| tail(&path, TAG_FILE));
    tag.is_some_and(|tag| tag.starts_with(TAG)) || plain("pyvenv.cfg").is_some()
}

/// Whether a directory of this name is what a build leaves, where a rule says so.
pub(super) fn is_output(name: &[u8]) -> bool {
    is_one(name, &OUTPUTS, &[])
}

fn is_one(name: &[u8], names: &[&str], endings: &[&str]) -> bool {
    names.iter().any(|one| one.as_bytes() == name)
        || (endings.iter()).any(|end| name.len() > end.len() && name.ends_with(end.as_bytes()))
}

/// The lines of a `.gitattributes` file that say what is generated, as lines of an ignore file.
pub(super) fn patterns(attributes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(attributes);
    let mut lines = String::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(pattern) = words.next() else {
            continue;
        };
        // Comments, macros, quoted patterns; none of a directory counts for what is in it.
        let is_odd = pattern.starts_with(['#', '[', '"', '!']) || pattern.ends_with('/');
        let said = words.filter_map(said).next_back().filter(|_| !is_odd);
        match said {
            Some(true) => lines.push_str(&format!("{pattern}\n")),
            Some(false) => lines.push_str(&format!("!{pattern}\n")),
            None => {}
        }
    }
    lines.into_bytes()
}

/// What one attribute says of being generated.
fn said(attribute: &str) -> Option<bool> {
    let (attribute, unset) = match attribute.strip_prefix(['-', '!']) {
        Some(rest) => (rest, true),
        None => (attribute, false),
    };
    let (name, value) = attribute.split_once('=').unwrap_or((attribute, "true"));
    let known = matches!(name, "linguist-generated" | "gitlab-generated");
    known.then_some(!unset && value != "false")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_again_is_known_by_name() {
        for dir in ["__pycache__", ".pytest_cache", "node_modules", "x.egg-info"] {
            assert!(is_directory(dir.as_bytes()), "{dir}");
        }
        for file in [
            "a.cpython-312.pyc",
            ".coverage",
            ".DS_Store",
            "x.tsbuildinfo",
        ] {
            assert!(is_file(file.as_bytes()), "{file}");
        }
        // People work in these, or write them.
        for name in [
            "src",
            "build",
            "dist",
            "target",
            "bin",
            "vendor",
            "lib",
            "cache",
            "a.py",
            "a.log",
            ".env",
            ".pyc",
            "Cargo.lock",
            "notes.md",
            "core",
            "a.o",
            ".gitignore",
        ] {
            assert!(
                !is_directory(name.as_bytes()) && !is_file(name.as_bytes()),
                "{name}"
            );
        }
    }

    #[test]
    fn attributes_become_patterns() {
        let text = b"# *.x linguist-generated\n*.pb.go linguist-generated=true diff\n\
                     gen/** gitlab-generated\nkeep.pb.go -linguist-generated\n\
                     *.txt text=auto\nb linguist-generated=false\n\"q\" linguist-generated\n";
        let said = String::from_utf8(patterns(text)).unwrap();
        assert_eq!(said, "*.pb.go\ngen/**\n!keep.pb.go\n!b\n");
    }
}
