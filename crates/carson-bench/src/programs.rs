//! Where programs live, beside the system's own places: what a session must be able to read so that
//! its CLI and the toolchains on `PATH` run.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::ground::Ground;

/// Places that every session reads anyway.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix"];

/// Most entries of a directory on `PATH` that are looked at for links that lead elsewhere.
const MAX_ENTRIES: usize = 2_000;

/// What stands beside a `bin` and belongs to its programs.
const BESIDE_BIN: [&str; 4] = ["lib", "lib64", "libexec", "include"];

/// What of a package its programs need. It may be somebody's project, with an `.env` and a `.git`,
/// so it is never read whole.
const OF_PACKAGE: [&str; 9] = [
    "package.json",
    "node_modules",
    "bin",
    "build",
    "dist",
    "lib",
    "out",
    "src",
    "vendor",
];

/// How far above a program its package may begin.
const PACKAGE_DEPTH: usize = 4;

/// How long an answer holds: a firing asks several times, and a walk takes milliseconds.
const HOLDS: Duration = Duration::from_secs(60);

/// What was asked last, and when.
struct Asked {
    path: OsString,
    user: Option<PathBuf>,
    ground: Ground,
    when: Instant,
    found: BTreeSet<PathBuf>,
}

static LAST: Mutex<Option<Asked>> = Mutex::new(None);

/// The places of programs on a `PATH`. `user` is the operator's home: what belongs to its programs
/// is read, the home itself never is.
pub fn on_path(path: &OsStr, user: Option<&Path>, ground: &Ground) -> BTreeSet<PathBuf> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(asked) = last.as_ref()
        && asked.when.elapsed() < HOLDS
        && (asked.path.as_os_str(), asked.user.as_deref()) == (path, user)
        && asked.ground == *ground
    {
        return asked.found.clone();
    }
    let found = walk(path, user, ground);
    *last = Some(Asked {
        path: path.to_owned(),
        user: user.map(Path::to_owned),
        ground: ground.clone(),
        when: Instant::now(),
        found: found.clone(),
    });
    found
}

fn walk(path: &OsStr, user: Option<&Path>, ground: &Ground) -> BTreeSet<PathBuf> {
    let mut found = Found::new(user, ground);
    for entry in std::env::split_paths(path).filter(|entry| entry.is_absolute()) {
        if !found.too_wide(&entry) && entry.is_dir() {
            found.linked(&entry);
            found.directory(&entry);
        }
    }
    found.places
}

/// The places of one program: its file, what it links to, its interpreter, and what is installed
/// around them.
pub fn places_of_program(
    program: &Path,
    user: Option<&Path>,
    ground: &Ground,
) -> BTreeSet<PathBuf> {
    let mut found = Found::new(user, ground);
    found.add_program(program);
    if let Some(interpreter) = interpreter(program) {
        found.add_program(&interpreter);
    }
    found.places
}

/// Places as they are found.
struct Found<'a> {
    user: Option<&'a Path>,
    ground: &'a Ground,
    places: BTreeSet<PathBuf>,
}

impl<'a> Found<'a> {
    fn new(user: Option<&'a Path>, ground: &'a Ground) -> Self {
        Self {
            user,
            ground,
            places: BTreeSet::new(),
        }
    }

    /// Adds a place, and where it leads, if it may lead there.
    fn add(&mut self, path: &Path) {
        if let Some(real) = self.ground.lead(path) {
            self.places.extend([real, path.to_owned()]);
        }
    }

    fn add_program(&mut self, program: &Path) {
        // What must not be followed is no program either.
        let Some(real) = self.ground.lead(program) else {
            return;
        };
        for file in [program, &real] {
            if in_system(file) {
                continue;
            }
            self.add(file);
            // Packages of npm read each other, and themselves, from their root on.
            let packages = |dir: &&Path| dir.ends_with("node_modules");
            if let Some(packages) = file.ancestors().filter(packages).last() {
                self.add(packages);
            } else {
                self.package(file);
            }
            let Some(dir) = file.parent().filter(|dir| !self.too_wide(dir)) else {
                continue;
            };
            if is_bin(dir) {
                self.directory(dir);
            } else if dir.ends_with("versions") {
                self.add(dir);
            } else if dir.join("versions").is_dir() {
                self.add(&dir.join("versions"));
            }
        }
    }

    /// What a program needs of the package that it lies in.
    fn package(&mut self, file: &Path) {
        let mut above = file.ancestors().skip(1).take(PACKAGE_DEPTH);
        let Some(package) = above.find(|dir| dir.join("package.json").is_file()) else {
            return;
        };
        if self.too_wide(package) {
            return;
        }
        for part in OF_PACKAGE.map(|part| package.join(part)) {
            if part.exists() {
                self.add(&part);
            }
        }
    }

    /// A directory of programs, and what belongs to it.
    fn directory(&mut self, dir: &Path) {
        if in_system(dir) {
            return;
        }
        let parent = dir.parent().filter(|parent| !self.too_wide(parent));
        if dir.ends_with("shims") {
            self.plain(dir);
            // The shims of version managers run what lies beside them.
            if let Some(parent) = parent {
                let manager = parent.parent().filter(|up| up.ends_with("plugins"));
                let manager = manager.and_then(Path::parent);
                self.plain(manager.unwrap_or(parent));
            }
        } else if is_bin(dir) {
            self.add(dir);
            let beside = BESIDE_BIN
                .iter()
                .filter_map(|name| Some(parent?.join(name)));
            for place in beside.filter(|place| place.is_dir()) {
                self.add(&place);
            }
        } else {
            self.plain(dir);
        }
    }

    /// What lies in a directory that may be more than one of programs: not its dotfiles, which are
    /// settings and secrets, and no repository's own directory.
    fn plain(&mut self, dir: &Path) {
        let items = std::fs::read_dir(dir).into_iter().flatten();
        for item in items.take(MAX_ENTRIES).flatten() {
            let name = item.file_name();
            let dotted = name.as_encoded_bytes().starts_with(b".");
            let is_dir = item.file_type().is_ok_and(|kind| kind.is_dir());
            if !dotted || (is_dir && name != ".git") {
                self.add(&item.path());
            }
        }
    }

    /// Links in a directory on `PATH` that lead out of it and of the system.
    fn linked(&mut self, dir: &Path) {
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
            if let Some(target) = is_link.then(|| self.ground.lead(&item.path())).flatten()
                && !target.starts_with(dir)
                && target.is_file()
            {
                self.add_program(&target);
            }
        }
    }

    fn too_wide(&self, dir: &Path) -> bool {
        too_wide(dir, self.user)
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
        let places = walk(&path, Some(&home), &Ground::default());
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
    fn a_project_is_never_read_whole_for_one_program_of_its() {
        let (_dir, home) = scene();
        for file in [
            "proj/package.json",
            "proj/cli.js",
            "proj/dist/run.js",
            "proj/node_modules/dep/index.js",
            "proj/.env",
            "proj/.git/config",
            "proj/secrets.json",
            "proj/versions/notes",
            "tools/run",
            "tools/.env",
            "tools/.git/config",
            "mgr/shims/x",
            "mgr/.env",
            "mgr/versions/1/bin/x",
        ] {
            touch(&home.join(file), "");
        }
        for (link, target) in [("one", "proj/cli.js"), ("two", "proj/dist/run.js")] {
            let link = home.join(".local/bin").join(link);
            std::os::unix::fs::symlink(home.join(target), link).unwrap();
        }
        let path = [".local/bin", "tools", "mgr/shims"].map(|part| home.join(part));
        let path = std::env::join_paths(path).unwrap();
        let places = walk(&path, Some(&home), &Ground::default());
        let reads = |file: &str| {
            let file = home.join(file);
            places.iter().any(|place| file.starts_with(place))
        };
        for granted in [
            "proj/package.json",
            "proj/cli.js",
            "proj/dist/run.js",
            "proj/node_modules/dep/index.js",
            "tools/run",
            "mgr/shims/x",
            "mgr/versions/1/bin/x",
        ] {
            assert!(reads(granted), "{granted}: {places:?}");
        }
        for closed in [
            "proj/.env",
            "proj/.git/config",
            "proj/secrets.json",
            "tools/.env",
            "tools/.git/config",
            "mgr/.env",
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
        let places = places_of_program(&script, Some(&home), &Ground::default());
        assert!(
            places.contains(&script) && places.contains(&python),
            "{places:?}"
        );
        assert!(!places.contains(&home), "{places:?}");
    }
}
