//! What the setup of a repository left.
//!
//! It is kept as long as nothing changes on which it depends: the lines themselves, the files that say
//! what is installed, and the programs that install it.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_config::Repo;
use carson_git::{LAYER_BYTES, LAYER_TREE, Mirror, Oid, REPOSITORY, strip_setup};
use carson_proc::find_on_path;

use super::cache;
use super::error::{LayerError, io};
use crate::bench::Bench;
use carson_home::Home;

/// The home that a setup left.
pub(super) const HOME: &str = "home";
/// What it left in the worktree and git does not know, as git writes patterns.
const EXCLUDE: &str = "exclude";
/// The ending of the file that says why it failed.
const FAILED: &str = "failed";
/// How long a setup that failed is not tried again, while nothing changes.
const RESTS: Duration = Duration::from_secs(3600);

/// Files that say what is installed, in whatever directory.
const DECIDE: [&str; 32] = [
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
];

/// Programs that install.
const INSTALL: [&str; 12] = [
    "node", "npm", "pnpm", "yarn", "bun", "cargo", "rustc", "python3", "pip", "uv", "go", "make",
];

/// Whether a file of this name decides what a setup leaves.
#[must_use]
pub fn decides(name: &str) -> bool {
    let is_requirements = name.starts_with("requirements") && name.ends_with(".txt");
    DECIDE.contains(&name) || is_requirements
}

/// The name of what the setup leaves on a base: another one when something changes on which it depends.
pub(super) async fn name(
    home: &Home,
    repo: &Repo,
    mirror: &Mirror,
    base: &Oid,
) -> Result<String, LayerError> {
    let mut text = repo.setup.lines.join("\n");
    for (path, oid) in mirror.files_named(base, decides).await? {
        text.push_str(&format!("\0{path} {oid}"));
    }
    for program in INSTALL {
        let found = find_on_path(Path::new(program), home.path());
        let real = found.and_then(|path| path.canonicalize().ok());
        if let Some(found) = real.and_then(|path| path.metadata().ok()) {
            text.push_str(&format!("\0{program} {} {}", found.mtime(), found.size()));
        }
    }
    let named = carson_git::name_of(text.as_bytes());
    let named = named.map_or_else(|| base.to_string(), |oid| oid.to_string());
    Ok(format!("{}{}", cache::SETUP, &named[..16]))
}

/// Why the setup of a repository failed when it ran last, if it did.
#[must_use]
pub fn last_failure(home: &Home, repo: &Repo) -> Option<String> {
    let items = fs::read_dir(cache::of_repo(home, &repo.name)).ok()?;
    let paths = items.flatten().map(|item| item.path());
    let failed = paths.filter(|path| path.extension().is_some_and(|ending| ending == FAILED));
    let newest =
        failed.max_by_key(|path| path.metadata().and_then(|found| found.modified()).ok())?;
    fs::read_to_string(newest).ok()
}

/// Lets every setup that failed be tried again at once.
pub fn forget_failures(home: &Home) {
    for repo in home.fleet.repos.values() {
        forget(&cache::of_repo(home, &repo.name));
    }
}

fn forget(layers: &Path) {
    for item in fs::read_dir(layers).into_iter().flatten().flatten() {
        let path = item.path();
        if path.extension().is_some_and(|ending| ending == FAILED) {
            let _ = fs::remove_file(path);
        }
    }
}

/// What a setup has not left yet.
#[derive(Clone, Debug)]
pub struct Missing {
    /// Where it will lie.
    pub dir: PathBuf,
}

impl Missing {
    pub(super) fn at(layers: &Path, name: &str) -> Self {
        Self {
            dir: layers.join(name),
        }
    }

    /// What the lines print.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.dir.with_extension("log")
    }

    /// Why it failed a short time ago, if it did.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        let path = self.dir.with_extension(FAILED);
        let at = path.metadata().and_then(|found| found.modified()).ok()?;
        let rests = at.elapsed().is_ok_and(|age| age < RESTS);
        rests.then(|| fs::read_to_string(path).ok()).flatten()
    }

    /// Notes that it failed.
    pub fn note_failure(&self, why: &str) {
        let path = self.dir.with_extension(FAILED);
        if let Err(error) = fs::write(&path, why) {
            tracing::warn!(path = %path.display(), %error, "a failure could not be noted");
        }
    }

    /// Waits until nobody else makes it; `None` when that takes longer than `within`.
    ///
    /// # Errors
    /// What the file system says.
    pub async fn turn(&self, within: Duration) -> Result<Option<File>, LayerError> {
        let path = self.dir.with_extension("turn");
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
        cache::gone_for_good(home, &half).await;
        crate::private_dir::private_dir(&half).map_err(|source| io(&half, source))?;
        Ok(half)
    }

    /// Makes a layer of what the lines left in this bench, in [`half`](Self::half).
    ///
    /// # Errors
    /// When it hides what the repository has, or cannot be read.
    pub async fn adopt(&self, home: &Home, bench: &Bench, half: &Path) -> Result<(), LayerError> {
        let Some(layered) = bench.layered() else {
            return Ok(());
        };
        let tree = bench.tree();
        for dir in [
            half.join(REPOSITORY),
            half.join("began"),
            half.join("tree.work"),
            half.join("home.work"),
            half.join("caches"),
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
            nix::unistd::syncfs(File::open(half)?)?;
            fs::rename(half, &self.dir)
        };
        noted().map_err(|source| io(half, source))?;
        // What failed before was for another state of things.
        forget(half.parent().unwrap_or(half));
        debug_assert_eq!(tree.file_name(), Some(LAYER_TREE.as_ref()));
        Ok(())
    }
}

impl Bench {
    /// Tells git in the bench's repository what the setup left, so that no session takes it for its work.
    ///
    /// # Errors
    /// What the file system says.
    pub fn exclude_setup(&self) -> std::io::Result<()> {
        let Some(layered) = self.layered() else {
            return Ok(());
        };
        let lists = layered.overlay.lower.iter();
        let lists = lists.filter_map(|tree| fs::read_to_string(tree.with_file_name(EXCLUDE)).ok());
        let all: String = lists.collect();
        if all.trim().is_empty() {
            return Ok(());
        }
        let info = self.repository().join("info");
        fs::create_dir_all(&info)?;
        fs::write(info.join("exclude"), all)
    }
}
