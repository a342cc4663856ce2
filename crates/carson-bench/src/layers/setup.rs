//! What the setup of a repository left.
//!
//! It is kept as long as nothing changes on which it depends: the lines themselves, the files that say
//! what is installed, and the programs that install it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_config::{Repo, Role, Setup, passes};
use carson_core::text::matches;
use carson_core::{FiringId, RepoName};
use carson_git::{
    HOME, LAYER_BYTES, LAYER_TREE, Mirror, Oid, REPOSITORY, file_system_of, strip_setup,
};
use carson_proc::find_on_path;

use super::cache;
use super::error::{LayerError, io};
use super::failures::{forget, lines, note_of_layer, resting};
use crate::bench::{Bench, CACHES};
use carson_home::Home;

/// What it left in the worktree and git does not know, as git writes patterns.
pub(crate) const EXCLUDE: &str = "exclude";
/// The commit that it was made on.
const OF: &str = "of";
/// The topmost places that it left in the worktree, as JSON.
const PLACES: &str = "places";

/// Files that say what is installed, in whatever directory.
const DECIDE: [&str; 80] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    ".npmrc",
    ".yarnrc.yml",
    ".nvmrc",
    ".node-version",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain",
    "rust-toolchain.toml",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "uv.lock",
    "poetry.lock",
    "Pipfile",
    "Pipfile.lock",
    ".python-version",
    "go.mod",
    "go.sum",
    "Gemfile",
    "Gemfile.lock",
    "composer.lock",
    "mise.toml",
    ".tool-versions",
    "Makefile",
    "environment.yml",
    "pdm.lock",
    "deno.json",
    "deno.lock",
    "mix.exs",
    "mix.lock",
    "go.work",
    "go.work.sum",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.lockfile",
    "libs.versions.toml",
    "Package.swift",
    "Package.resolved",
    "pubspec.yaml",
    "pubspec.lock",
    "flake.nix",
    "flake.lock",
    "composer.json",
    "pixi.toml",
    "pixi.lock",
    "pylock.toml",
    "conda-lock.yml",
    "environment.yaml",
    "packages.lock.json",
    "Directory.Packages.props",
    "Podfile",
    "Podfile.lock",
    ".pnpmfile.cjs",
    "bunfig.toml",
    ".ruby-version",
    ".java-version",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    "vcpkg.json",
    "conanfile.txt",
    "conanfile.py",
    "conan.lock",
    "MODULE.bazel",
    "MODULE.bazel.lock",
    "renv.lock",
];

/// Programs that install.
const INSTALL: [&str; 12] = [
    "node", "npm", "pnpm", "yarn", "bun", "cargo", "rustc", "python3", "pip", "uv", "go", "make",
];

/// Whether a file decides what the setup of a repository leaves: it says what is installed, the lines name
/// it or a directory above it, or the operator does.
pub fn decides(setup: &Setup) -> impl Fn(&str) -> bool + Send + 'static {
    let named = Named::by(&setup.lines);
    let inputs = setup.inputs.clone();
    let asked = setup.toolchains.iter().flat_map(|one| one.files());
    let asked: Vec<&str> = asked.copied().collect();
    move |path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        let mut places = above.chain([path]);
        DECIDE.contains(&name)
            || asked.contains(&path)
            || path.contains("requirements") && (path.ends_with(".txt") || path.ends_with(".in"))
            || name.starts_with("constraints") && name.ends_with(".txt")
            || path.ends_with(".cargo/config.toml")
            || path.ends_with(".csproj")
            || path.starts_with("patches/")
            || places.any(|place| named.has(place))
            || inputs.iter().any(|pattern| matches(pattern, path))
    }
}

/// What lines name, as their words say it.
#[derive(Default)]
struct Named {
    /// Places from the top.
    places: HashSet<String>,
    /// How a place ends that is told from a directory that the line is in: behind `../` or a variable.
    ends: Vec<String>,
    /// Patterns of the shell's.
    patterns: Vec<String>,
}

impl Named {
    fn by(lines: &[String]) -> Self {
        let mut named = Self::default();
        let apart = |letter: char| letter.is_whitespace() || "'\"();|&<>=`".contains(letter);
        let quoted = |line: &'_ String| {
            line.split(['"', '\''])
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let words = lines
            .iter()
            .flat_map(|line| line.split(apart))
            .map(str::to_owned);
        for word in words.chain(lines.iter().flat_map(quoted)) {
            named.add(&word);
        }
        named
    }

    fn add(&mut self, word: &str) {
        let word = word.trim_start_matches("./").trim_end_matches('/');
        let mut rest = word;
        loop {
            let variable = rest
                .starts_with('$')
                .then(|| rest.split_once('/'))
                .flatten();
            rest = match (rest.strip_prefix("../"), variable) {
                (Some(below), _) | (None, Some((_, below))) => below.trim_start_matches("./"),
                (None, None) => break,
            };
        }
        match rest {
            "" | "." | ".." => {}
            _ if rest.contains(['*', '?']) => {
                // One without a directory is mostly of what the lines make themselves.
                if rest.contains('/') {
                    let pattern = rest.replace('?', "*");
                    self.patterns.push(format!("*/{pattern}"));
                    self.patterns.push(pattern);
                }
            }
            _ if rest == word => drop(self.places.insert(word.to_owned())),
            _ => self.ends.push(rest.to_owned()),
        }
    }

    fn has(&self, place: &str) -> bool {
        let ends = |end: &String| {
            let above = place.strip_suffix(end.as_str());
            above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
        };
        self.places.contains(place)
            || self.ends.iter().any(ends)
            || self.patterns.iter().any(|pattern| matches(pattern, place))
    }
}

/// The name of what the setup leaves on a base when this role runs it: another one when something changes
/// on which it depends. What a role passes to it, and whom it lets it reach, is part of that: nothing that
/// one role may have is found by another.
pub(super) async fn name(
    home: &Home,
    role: &Role,
    repo: &Repo,
    mirror: &Mirror,
    base: &Oid,
) -> Result<String, LayerError> {
    let mut text = lines(&repo.setup);
    for (path, oid) in mirror.files_where(base, decides(&repo.setup)).await? {
        text.push_str(&format!("\0{path} {oid}"));
    }
    let toolchains = repo.setup.toolchains.iter();
    let toolchains: Vec<&str> = toolchains.map(|one| one.program()).collect();
    if !toolchains.is_empty() {
        text.push_str(&format!("\0{toolchains:?}"));
    }
    for program in INSTALL.into_iter().chain(toolchains) {
        let found = find_on_path(Path::new(program), home.path());
        let real = found.and_then(|path| path.canonicalize().ok());
        if let Some(found) = real.and_then(|path| path.metadata().ok()) {
            text.push_str(&format!("\0{program} {} {}", found.mtime(), found.size()));
        }
    }
    for (name, value) in &home.environ {
        if name
            .to_str()
            .is_some_and(|name| passes(&role.confinement.pass, name))
        {
            text.push_str(&format!("\0{name:?}={value:?}"));
        }
    }
    text.push_str(&format!("\0{:?}", role.egress));
    let named = carson_git::name_of(text.as_bytes());
    let named = named.map_or_else(|| base.to_string(), |oid| oid.to_string());
    Ok(format!("{}{}", cache::SETUP, &named[..16]))
}

/// What a setup has not left yet.
#[derive(Clone, Debug)]
pub struct Missing {
    /// Where it will lie.
    pub dir: PathBuf,
}

/// What a setup left.
pub(super) struct Made {
    /// Its name.
    pub name: String,
    /// The commit that it was made on.
    pub of: Oid,
}

impl Made {
    /// Whether something that a base tracks lies where the setup left something: it would not be seen.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub(super) async fn hides(
        &self,
        layer: &Path,
        mirror: &Mirror,
        base: &Oid,
    ) -> Result<bool, LayerError> {
        if self.of == *base {
            return Ok(false);
        }
        let places = fs::read(layer.join(PLACES)).unwrap_or_else(|_| b"[\"\"]".to_vec());
        let places: Vec<String> = serde_json::from_slice(&places).unwrap_or_default();
        if places.iter().any(String::is_empty) {
            return Ok(true);
        }
        let places: HashSet<String> = places.into_iter().collect();
        let hidden = mirror.files_where(base, move |path| {
            let above = path.match_indices('/').map(|(at, _)| &path[..at]);
            let mut all = above.chain([path]);
            all.any(|place| places.contains(place))
                // A file where the setup has a directory's parts.
                || places.iter().any(|place| is_above(path, place))
        });
        Ok(!hidden.await?.is_empty())
    }
}

fn is_above(dir: &str, path: &str) -> bool {
    path.strip_prefix(dir)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Whether the setup of a repository runs now, for a firing that makes its workspace: in its copy, or for a layer.
#[must_use]
pub fn is_running(home: &Home, repo: &RepoName, id: FiringId) -> bool {
    carson_git::setup_runs_in(&home.fleet.layout.bench(&id)) || cache::is_set_up(home, repo)
}

impl Missing {
    /// That of one base alone.
    pub(super) fn of_base(&self, base: &Oid) -> Self {
        let text = format!("{} {base}", self.dir.display());
        let named = carson_git::name_of(text.as_bytes());
        let named = named.map_or_else(|| base.to_string(), |oid| oid.to_string());
        Self {
            dir: self
                .dir
                .with_file_name(format!("{}{}", cache::SETUP, &named[..16])),
        }
    }

    pub(super) fn at(layers: &Path, name: &str) -> Self {
        Self {
            dir: layers.join(name),
        }
    }

    /// What is there by now.
    pub(super) fn made(&self) -> Option<Made> {
        let of = fs::read_to_string(self.dir.join(OF)).ok()?;
        let is_whole = [LAYER_TREE, HOME]
            .iter()
            .all(|part| self.dir.join(part).is_dir());
        is_whole.then_some(())?;
        Some(Made {
            name: self.dir.file_name()?.to_str()?.to_owned(),
            of: of.parse().ok()?,
        })
    }

    /// What the lines print.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.dir.with_extension("log")
    }

    /// Why it failed a short time ago, if it did, and in how many minutes it is tried again by a firing that gives it
    /// so much time.
    #[must_use]
    pub fn failed(&self, within: Duration) -> Option<(String, u64)> {
        resting(&self.dir, within)
    }

    /// What was left of it goes.
    pub async fn give_up(&self, home: &Home) {
        cache::gone_for_good(home, &self.dir.with_extension("half")).await;
    }

    /// Notes that it failed, or was cut after so long because its firing had no more time.
    pub fn note_failure(&self, setup: &Setup, failed: (&str, Option<Duration>)) {
        note_of_layer(&self.dir, setup, failed);
    }

    /// Waits until nobody else makes it; `None` when that takes longer than `within`.
    ///
    /// # Errors
    /// What the file system says.
    pub async fn turn(&self, within: Duration) -> Result<Option<File>, LayerError> {
        let path = self.dir.with_extension(cache::TURN);
        let file = File::create(&path).map_err(|source| io(&path, source))?;
        let waited = std::time::Instant::now();
        while file.try_lock().is_err() {
            if waited.elapsed() > within {
                return Ok(None);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok(Some(file))
    }

    /// The directory in which it is made.
    ///
    /// # Errors
    /// What the file system says.
    pub async fn half(&self, home: &Home) -> Result<PathBuf, LayerError> {
        let half = self.dir.with_extension("half");
        // What is there by that name is not whole.
        for gone in [&half, &self.dir] {
            cache::gone_for_good(home, gone).await;
        }
        crate::private_dir::private_dir(&half).map_err(|source| io(&half, source))?;
        Ok(half)
    }

    /// Makes a layer of what the lines left in this bench, in [`half`](Self::half).
    ///
    /// # Errors
    /// When it hides what the repository has, or cannot be read.
    pub async fn adopt(
        &self,
        home: &Home,
        bench: &Bench,
        (half, of): (&Path, &Oid),
    ) -> Result<(), LayerError> {
        let Some(layered) = bench.layered() else {
            return Ok(());
        };
        let tree = bench.tree();
        let kept = bench.keep_downloads();
        kept.map_err(|source| io(half, source))?;
        for dir in [
            half.join(REPOSITORY),
            half.join("began"),
            half.join("tree.work"),
            half.join("home.work"),
            half.join(CACHES),
            bench.temp(),
            bench.runtime(),
            bench.sign_in(),
        ] {
            bench.remove_dir(home, &dir).await?;
        }
        let git = tree.join(".git");
        fs::remove_file(&git).map_err(|source| io(&git, source))?;
        let left = strip_setup(
            &home.inspector,
            (&tree, &layered.overlay.lower, &layered.index),
            &[bench.home()],
            (&layered.overlay.at, layered.overlay.marks),
            &bench.sandbox(),
        )
        .await?;
        let noted = || -> std::io::Result<()> {
            fs::write(half.join(LAYER_BYTES), left.bytes.to_string())?;
            fs::write(half.join(EXCLUDE), left.untracked.join("\n") + "\n")?;
            fs::write(half.join(PLACES), serde_json::to_vec(&left.places)?)?;
            fs::write(half.join(OF), of.as_str())?;
            file_system_of(half)?;
            fs::rename(half, &self.dir)
        };
        noted().map_err(|source| io(half, source))?;
        // What failed before was for another state of things.
        forget(half.parent().unwrap_or(half));
        debug_assert_eq!(tree.file_name(), Some(LAYER_TREE.as_ref()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_way_a_line_names_a_file_it_decides() {
        let by = |line: &str| Named::by(&[line.to_owned()]);
        for (line, path) in [
            ("sh scripts/deps.sh", "scripts/deps.sh"),
            (". ./scripts/deps.sh;", "scripts/deps.sh"),
            ("sh ../scripts/deps.sh", "scripts/deps.sh"),
            ("cd a/b; sh ../deps.sh", "a/deps.sh"),
            ("sh ../../deps.sh", "deps.sh"),
            ("sh 'scripts/a b.sh'", "scripts/a b.sh"),
            ("sh \"./scripts/a b.sh\"", "scripts/a b.sh"),
            ("sh $PWD/scripts/deps.sh", "scripts/deps.sh"),
            (
                "sh \"${CARSON_WORKTREE}/scripts/deps.sh\"",
                "scripts/deps.sh",
            ),
            ("for x in scripts/*.sh; do sh $x; done", "scripts/deps.sh"),
            ("cat ../scripts/d?ps.sh | sh", "web/scripts/deps.sh"),
            ("make -C scripts", "scripts"),
        ] {
            assert!(by(line).has(path), "{line}: {path}");
        }
        for (line, path) in [
            ("rm -rf *", "src/lib.rs"),
            ("cd ..", "src/lib.rs"),
            ("sh ../deps.sh", "my-deps.sh"),
            ("sh $X", "src/lib.rs"),
        ] {
            assert!(!by(line).has(path), "{line}: {path}");
        }
    }
}
