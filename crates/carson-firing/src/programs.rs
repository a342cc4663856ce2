//! Where programs live, beside the system's own places: what a session must be able to read so that
//! its CLI and the toolchains on `PATH` run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Places that every session reads anyway.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix"];

/// Most entries of a directory on `PATH` that are looked at for links that lead elsewhere.
const MAX_ENTRIES: usize = 2_000;

/// What stands beside a `bin` and belongs to its programs.
const BESIDE_BIN: [&str; 4] = ["lib", "lib64", "libexec", "include"];

/// The places of programs on a `PATH`. `user` is the operator's home: what belongs to its programs
/// is read, the home itself never is.
pub(crate) fn on_path(path: &OsStr, user: Option<&Path>) -> BTreeSet<PathBuf> {
    let mut places = BTreeSet::new();
    for entry in std::env::split_paths(path).filter(|entry| entry.is_absolute()) {
        if !too_wide(&entry, user) && entry.is_dir() {
            linked(&entry, user, &mut places);
            directory(&entry, user, &mut places);
        }
    }
    places
}

/// The places of one program: its file, what it links to, its interpreter, and what is installed
/// around them.
pub(crate) fn of(program: &Path, user: Option<&Path>) -> BTreeSet<PathBuf> {
    let mut places = BTreeSet::new();
    one(program, user, &mut places);
    if let Some(interpreter) = interpreter(program) {
        one(&interpreter, user, &mut places);
    }
    places
}

fn one(program: &Path, user: Option<&Path>, places: &mut BTreeSet<PathBuf>) {
    for file in [Some(program.to_owned()), program.canonicalize().ok()] {
        let Some(file) = file.filter(|file| !in_system(file)) else {
            continue;
        };
        match file.parent() {
            Some(dir) if is_bin(dir) && !too_wide(dir, user) => directory(dir, user, places),
            Some(dir) if installed(dir) && !too_wide(dir, user) => {
                places.insert(dir.to_owned());
            }
            _ => {}
        }
        places.insert(file);
    }
}

/// A directory of programs, and what belongs to it.
fn directory(dir: &Path, user: Option<&Path>, places: &mut BTreeSet<PathBuf>) {
    if in_system(dir) {
        return;
    }
    places.insert(dir.to_owned());
    let Some(parent) = dir.parent().filter(|parent| !too_wide(parent, user)) else {
        return;
    };
    if dir.file_name().is_some_and(|name| name == "shims") {
        // The shims of version managers run what lies beside them.
        let manager = parent.parent().filter(|up| up.ends_with("plugins"));
        let manager = manager.and_then(Path::parent);
        places.insert(manager.unwrap_or(parent).to_owned());
    } else if is_bin(dir) {
        let beside = BESIDE_BIN.iter().map(|name| parent.join(name));
        places.extend(beside.filter(|place| place.is_dir()));
    }
}

/// Links in a directory on `PATH` that lead out of it and of the system.
fn linked(dir: &Path, user: Option<&Path>, places: &mut BTreeSet<PathBuf>) {
    // Whole distributions are in these, and lead nowhere else.
    if ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        .iter()
        .any(|own| dir == Path::new(own))
    {
        return;
    }
    let Ok(items) = std::fs::read_dir(dir) else {
        return;
    };
    for item in items.take(MAX_ENTRIES).flatten() {
        let is_link = item.file_type().is_ok_and(|kind| kind.is_symlink());
        if let Some(target) = is_link.then(|| item.path().canonicalize().ok()).flatten()
            && !target.starts_with(dir)
            && target.is_file()
        {
            one(&target, user, places);
        }
    }
}

/// The program of a script's first line.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let mut start = [0_u8; 256];
    let read = std::fs::File::open(program).ok()?.read(&mut start).ok()?;
    let line = start.get(..read)?.strip_prefix(b"#!")?;
    let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next()?).into_owned();
    // `/usr/bin/env NAME` looks on PATH, whose places are granted.
    line.split_whitespace().next().map(PathBuf::from)
}

fn is_bin(dir: &Path) -> bool {
    dir.file_name().is_some_and(|name| name == "bin")
}

/// Whether a directory is that of one installed thing, so that its files belong together.
fn installed(dir: &Path) -> bool {
    ["package.json", "versions", "node_modules"]
        .iter()
        .any(|sign| dir.join(sign).exists())
        || dir
            .components()
            .any(|part| part.as_os_str() == "node_modules")
        || dir.file_name().is_some_and(|name| name == "versions")
}

fn in_system(path: &Path) -> bool {
    SYSTEM.iter().any(|place| path.starts_with(place))
}

/// Whether a directory holds more than programs: the root, all homes, a home, what is temporary.
fn too_wide(dir: &Path, user: Option<&Path>) -> bool {
    let shared = [
        "/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/srv", "/etc", "/mnt",
    ];
    shared.iter().any(|place| dir == Path::new(place))
        || user.is_some_and(|user| {
            user.starts_with(dir) || dir == user.join(".local") || dir == user.join(".config")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn scene() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap().join("ann");
        touch(&home.join(".cargo/bin/cargo"), "");
        touch(&home.join(".cargo/credentials.toml"), "");
        touch(&home.join(".nvm/v20/bin/node"), "");
        touch(
            &home.join(".nvm/v20/lib/node_modules/x/cli.js"),
            "#!/usr/bin/env node\n",
        );
        touch(&home.join(".pyenv/plugins/p/shims/python"), "");
        touch(&home.join(".pyenv/shims/python"), "");
        touch(&home.join(".local/bin/tool"), "");
        touch(&home.join(".local/share/claude/versions/2.1"), "");
        touch(&home.join("secret"), "");
        (dir, home)
    }

    #[test]
    fn what_is_on_the_path_can_be_read_and_the_home_cannot() {
        let (_dir, home) = scene();
        let link = home.join(".local/bin/claude");
        std::os::unix::fs::symlink(home.join(".local/share/claude/versions/2.1"), &link).unwrap();
        let cli = home.join(".nvm/v20/bin/x");
        std::os::unix::fs::symlink("../lib/node_modules/x/cli.js", &cli).unwrap();
        let path = [
            ".cargo/bin",
            ".nvm/v20/bin",
            ".pyenv/plugins/p/shims",
            ".local/bin",
            "",
        ];
        let path = std::env::join_paths(path.iter().map(|part| home.join(part))).unwrap();
        let places = on_path(&path, Some(&home));
        let reads = |file: &str| {
            places
                .iter()
                .any(|place| home.join(file).starts_with(place))
        };
        for granted in [
            ".cargo/bin/cargo",
            ".nvm/v20/lib/node_modules/x/cli.js",
            ".pyenv/shims/python",
            ".local/bin/tool",
            ".local/share/claude/versions/2.1",
        ] {
            assert!(reads(granted), "{granted}: {places:?}");
        }
        for closed in [
            "secret",
            ".cargo/credentials.toml",
            ".local/share/keyrings/x",
            ".ssh/id",
        ] {
            assert!(!reads(closed), "{closed}: {places:?}");
        }
    }

    #[test]
    fn a_script_needs_its_interpreter() {
        let (dir, home) = scene();
        let script = home.join("agent");
        let python = dir.path().canonicalize().unwrap().join("py/bin/python3");
        touch(&python, "");
        touch(&script, &format!("#!{} -u\n", python.display()));
        let places = of(&script, Some(&home));
        assert!(
            places.contains(&script) && places.contains(&python),
            "{places:?}"
        );
        assert!(!places.contains(&home), "{places:?}");
    }
}
