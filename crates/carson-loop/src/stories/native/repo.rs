//! What git says of a repository. It is asked by its own program, by which nothing that the repository configured runs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Command, Limits, capture, find_on_path};

use super::error::StoriesError;
use crate::own_git::NOTHING_RUNS;
use crate::tree::{Change, GitDir, Target, TreePath, What, read_plain};

/// The longest that git may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of a file `.git` that are read.
const POINTER: u64 = 64 << 10;
/// Bytes that git prints and are kept: an index of a million files is less.
const PRINTED: usize = 256 << 20;
/// What `HEAD` says where git keeps its refs in tables (git-init(1), `--ref-format=reftable`).
const NOT_HERE: &str = "ref: refs/heads/.invalid";
/// How a ref that names another one is written down.
pub(super) const SYMBOLIC: &str = "ref: ";
/// The ref of the stash, whose log has what is stashed.
pub(super) const STASH: &str = "refs/stash";
/// Commits of one attempt that are looked at.
pub const COMMITS: usize = 1_000;

/// A repository.
#[derive(Clone, Debug)]
pub struct Repo {
    git: PathBuf,
    dir: GitDir,
    /// The tree, from the top of the work tree.
    below: PathBuf,
    env: Vec<(OsString, OsString)>,
}

/// What stands at `.git`: what it leads to says where all of git's own files are.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DotGit {
    /// The repository itself.
    #[default]
    Dir,
    /// A file that says where it is, as work trees and submodules have it.
    File(Vec<u8>),
    /// A link to it.
    Link(Target),
    /// Nothing, or what is none of them.
    Gone,
}

/// Its refs at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refs {
    /// What stands at `.git`.
    pub dot_git: DotGit,
    /// What `HEAD` names: `ref: refs/heads/main`, or a commit.
    pub head: String,
    /// The commit that it names; `None` on a branch without commits.
    pub commit: Option<String>,
    /// What each ref names: an object, or `ref: ` and another one.
    pub all: BTreeMap<String, String>,
    /// What is stashed, the newest first: its commit, and what is said of it.
    #[serde(default)]
    pub stashes: Vec<(String, String)>,
    /// The other work trees, with the branch that each has checked out.
    #[serde(default)]
    pub elsewhere: BTreeMap<String, Option<String>>,
}

impl Refs {
    /// The branch that is checked out.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        Some(self.head.strip_prefix("ref:")?.trim())
    }
}

impl Repo {
    /// That of a tree, where there is one, and a git.
    #[must_use]
    pub fn of(root: &Path, env: &[(OsString, OsString)]) -> Option<Self> {
        let path = env
            .iter()
            .rev()
            .find(|(name, _)| name == "PATH")
            .map(|(_, path)| path.as_os_str());
        let dir = GitDir::of(root)?;
        Some(Self {
            git: find_on_path(Path::new("git"), path)?,
            below: root.strip_prefix(&dir.top).ok()?.to_owned(),
            dir,
            env: env
                .iter()
                .filter(|(name, _)| !name.as_encoded_bytes().starts_with(b"GIT_"))
                .cloned()
                .collect(),
        })
    }

    /// What stands at `.git`.
    #[must_use]
    pub fn dot_git(&self) -> DotGit {
        let path = self.dir.top.join(".git");
        let Ok(found) = fs::symlink_metadata(&path) else {
            return DotGit::Gone;
        };
        let said = match (found.is_dir(), found.is_symlink()) {
            (true, _) => Some(DotGit::Dir),
            (_, true) => fs::read_link(&path)
                .ok()
                .map(|to| DotGit::Link(Target(to.into_os_string().into_encoded_bytes()))),
            _ => read_plain(&path, POINTER).ok().flatten().map(DotGit::File),
        };
        said.unwrap_or(DotGit::Gone)
    }

    /// Makes `.git` again what it was. A directory that went is not made: what was in it is put back file by file.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn put_back(&self, was: &DotGit) -> Result<(), StoriesError> {
        let (path, now) = (self.dir.top.join(".git"), self.dot_git());
        if now == *was {
            return Ok(());
        }
        let io = || StoriesError::io(&path);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&path).map_err(io())?,
            Ok(_) => fs::remove_file(&path).map_err(io())?,
            Err(_) => {}
        }
        match was {
            DotGit::File(bytes) => fs::write(&path, bytes).map_err(io()),
            DotGit::Link(to) => symlink(OsStr::from_bytes(&to.0), &path).map_err(io()),
            DotGit::Dir | DotGit::Gone => Ok(()),
        }
    }

    /// Its refs.
    ///
    /// # Errors
    /// When git fails.
    pub async fn refs(&self) -> Result<Refs, StoriesError> {
        let format = "--format=%(refname) %(objectname) %(symref)";
        let said = self.ask("for-each-ref", &[format], b"").await?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let all: BTreeMap<String, String> = said.lines().filter_map(one_ref).collect();
        let stashes = match all.contains_key(STASH) {
            true => self.stashes().await,
            false => Vec::new(),
        };
        let commit = self
            .ask("rev-parse", &["--verify", "--quiet", "HEAD^{commit}"], b"")
            .await
            .ok();
        let commit = commit.map(|said| String::from_utf8_lossy(&said).trim().to_owned());
        Ok(Refs {
            dot_git: self.dot_git(),
            head: self.head().await?,
            commit: commit.filter(|commit| !commit.is_empty()),
            all,
            stashes,
            elsewhere: self.elsewhere().await?,
        })
    }

    async fn head(&self) -> Result<String, StoriesError> {
        let head = self.dir.dir.join("HEAD");
        let head = read_plain(&head, POINTER).map_err(StoriesError::io(&head))?;
        let head = String::from_utf8(head.unwrap_or_default()).unwrap_or_default();
        if head.trim() != NOT_HERE {
            return Ok(head.trim().to_owned());
        }
        let named = self.ask("symbolic-ref", &["--quiet", "HEAD"], b"").await;
        let (first, said) = match named {
            Ok(said) => (SYMBOLIC, said),
            Err(_) => ("", self.ask("rev-parse", &["--verify", "HEAD"], b"").await?),
        };
        Ok(format!("{first}{}", String::from_utf8_lossy(&said).trim()))
    }

    /// What is stashed, as its log says; none where that cannot be read.
    async fn stashes(&self) -> Vec<(String, String)> {
        if self.ask("reflog", &["exists", STASH], b"").await.is_err() {
            return Vec::new();
        }
        let words = [
            "--walk-reflogs",
            "--no-patch",
            "--no-show-signature",
            "--format=%H %gs",
            STASH,
            "--",
        ];
        let said = self.ask("log", &words, b"").await.unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        let entries = said.lines().filter_map(|line| line.split_once(' '));
        let entries = entries.map(|(object, said)| (object.to_owned(), said.to_owned()));
        entries.collect()
    }

    /// The other work trees, as git-worktree(1) lists them; one that is bare, or gone, has nothing checked out.
    async fn elsewhere(&self) -> Result<BTreeMap<String, Option<String>>, StoriesError> {
        let said = self.ask("worktree", &["list", "--porcelain"], b"").await?;
        let said = String::from_utf8_lossy(&said).into_owned();
        // A submodule, and a repository whose files lie elsewhere, are listed by where these lie.
        let own = [&self.dir.top, &self.dir.dir].map(|own| own.canonicalize().ok());
        let is_own = |tree: &str| {
            let tree = Path::new(tree).canonicalize().ok();
            tree.is_some() && own.contains(&tree)
        };
        let blocks = said.split("\n\n").filter_map(|block| {
            let mut lines = block.lines();
            let tree = lines.next()?.strip_prefix("worktree ")?;
            let rest: Vec<&str> = lines.collect();
            let branch = rest.iter().find_map(|line| line.strip_prefix("branch "));
            let is_gone = rest.iter().any(|line| line.starts_with("prunable"));
            let is_none = rest.contains(&"bare") || is_gone || is_own(tree);
            (!is_none).then(|| (tree.to_owned(), branch.map(str::to_owned)))
        });
        Ok(blocks.collect())
    }

    /// The entries of the index, as git-ls-files(1) prints them.
    pub(super) async fn staged(&self) -> Result<Vec<u8>, StoriesError> {
        let words = ["--stage", "-v", "-z", "--full-name"];
        self.ask("ls-files", &words, b"").await
    }

    /// A path from the top of the work tree, from the top of the tree; `None` for one that is not in it.
    #[must_use]
    pub fn in_tree(&self, path: &TreePath) -> Option<TreePath> {
        let below = path.as_path().strip_prefix(&self.below).ok()?;
        TreePath::new(below.as_os_str().as_encoded_bytes()).ok()
    }

    /// The name that bytes have as an object.
    ///
    /// # Errors
    /// When git fails.
    pub async fn blob(&self, bytes: &[u8]) -> Result<String, StoriesError> {
        // A filter would be a program that the repository names.
        let words = ["--stdin", "--no-filters", "-t", "blob"];
        let said = self.ask("hash-object", &words, bytes).await?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }

    /// Commits that are in one's history and not in another's, the newest first, at most one more than [`COMMITS`].
    ///
    /// # Errors
    /// When git fails.
    pub async fn commits(&self, new: &str, old: Option<&str>) -> Result<Vec<String>, StoriesError> {
        let most = format!("--max-count={}", COMMITS + 1);
        let without = old.map(|old| format!("^{old}"));
        let mut words = vec![most.as_str(), new];
        words.extend(without.as_deref());
        let said = self.ask("rev-list", &words, b"").await?;
        Ok(String::from_utf8_lossy(&said)
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// Whether a commit is in another's history.
    ///
    /// # Errors
    /// When git fails.
    pub async fn is_before(&self, old: &str, new: &str) -> Result<bool, StoriesError> {
        let between = self
            .ask("rev-list", &["--max-count=1", old, &format!("^{new}")], b"")
            .await?;
        Ok(between.is_empty())
    }

    /// Paths that commits change, against each of their parents.
    ///
    /// # Errors
    /// When git fails.
    pub async fn paths_of(&self, commits: &[String]) -> Result<Vec<TreePath>, StoriesError> {
        let words = [
            "--stdin",
            "-r",
            "-z",
            "-m",
            "--root",
            "--no-renames",
            "--name-only",
            "--no-commit-id",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=none",
        ];
        let input = commits
            .iter()
            .map(|commit| format!("{commit}\n"))
            .collect::<String>();
        let said = self.ask("diff-tree", &words, input.as_bytes()).await?;
        let names = said
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty());
        let mut paths: Vec<TreePath> = names.filter_map(|name| TreePath::new(name).ok()).collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Whether all these commits that change a file have a regular one with these bytes there.
    ///
    /// # Errors
    /// When git fails.
    pub async fn have(
        &self,
        commits: &[String],
        path: &TreePath,
        bytes: &[u8],
    ) -> Result<bool, StoriesError> {
        let name = format!(":(literal){}", self.below.join(path.as_path()).display());
        let ours = self.blob(bytes).await?;
        let words = [
            "--stdin",
            "-r",
            "-m",
            "--root",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--no-commit-id",
            "--no-ext-diff",
            "--no-textconv",
            "--",
            &name,
        ];
        let input = commits
            .iter()
            .map(|commit| format!("{commit}\n"))
            .collect::<String>();
        let said = self.ask("diff-tree", &words, input.as_bytes()).await?;
        let said = String::from_utf8_lossy(&said);
        // `:100644 100644 OLD NEW M\tPATH`, as git-diff-tree(1) has it.
        let has_ours = |line: &str| {
            let mut words = line.split(' ').skip(1);
            let (mode, new) = (words.next(), words.nth(1));
            matches!(mode, Some("100644" | "100755")) && new == Some(ours.as_str())
        };
        Ok(!said.is_empty() && said.lines().all(has_ours))
    }

    /// Keeps an object under a ref of ours.
    ///
    /// # Errors
    /// When git fails.
    pub async fn keep(&self, name: &str, object: &str) -> Result<(), StoriesError> {
        self.ask("update-ref", &[name, object], b"")
            .await
            .map(|_| ())
    }

    pub(super) async fn ask(
        &self,
        verb: &str,
        words: &[&str],
        input: &[u8],
    ) -> Result<Vec<u8>, StoriesError> {
        let mut command = Command::new(&self.git, &self.dir.top).exact_env(self.env.clone());
        for one in NOTHING_RUNS {
            command = command.args(["-c", one]);
        }
        let command = command
            .arg(verb)
            .args(words.iter().copied())
            .env("GIT_DIR", self.dir.dir.as_os_str())
            .env("GIT_WORK_TREE", self.dir.top.as_os_str())
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .stdin_bytes(input);
        let limits = Limits {
            keep: PRINTED,
            max_output: PRINTED as u64,
            ..Limits::within(PATIENCE)
        };
        let failed = |said: String| StoriesError::Git {
            verb: verb.to_owned(),
            said,
        };
        let done = capture(&command, &limits)
            .await
            .map_err(|error| failed(error.to_string()))?;
        match done.success() && !done.stdout.is_truncated() {
            true => Ok(done.stdout.bytes()),
            false => Err(failed(done.stderr.text().trim().replace('\n', "; "))),
        }
    }
}

/// A line of `for-each-ref`: a name, its object, and the ref that it names instead.
fn one_ref(line: &str) -> Option<(String, String)> {
    let mut words = line.split(' ');
    let (name, object) = (words.next()?, words.next()?);
    let named = words.next().filter(|to| !to.is_empty());
    let object = named.map_or_else(|| object.to_owned(), |to| format!("{SYMBOLIC}{to}"));
    Some((name.to_owned(), object))
}

/// Whether a change in git's own directory is one that commits, or looks at the repository, make.
#[must_use]
pub fn is_of_commits(change: &Change) -> bool {
    let after = change.after.as_ref().map(|entry| &entry.what);
    // Who reads a pipe waits for ever.
    let is_odd = matches!(after, Some(What::Fifo | What::Socket | What::Device));
    !is_odd && is_written_by_commits(&change.path)
}

/// Whether a name in git's own directory is one that commits, or looks at the repository, write: what they mean is in
/// the refs, which are held against each other.
fn is_written_by_commits(path: &TreePath) -> bool {
    const NAMES: [&str; 13] = [
        "AUTO_MERGE",
        "COMMIT_EDITMSG",
        "FETCH_HEAD",
        "HEAD",
        "ORIG_HEAD",
        "gc.log",
        "gc.pid",
        "index",
        "index.lock",
        "info/refs",
        "logs/refs/stash",
        "packed-refs",
        "packed-refs.lock",
    ];
    let text = path.as_path().as_os_str();
    let is_shared_index = path.as_bytes().starts_with(b"sharedindex.");
    let first = path.parts().next().unwrap_or_default();
    let is_ref = [b"refs".as_slice(), b"reftable"].contains(&first);
    // Who looks at a repository writes down the times of a submodule's files, too.
    let is_inner_index =
        first == b"modules" && [b"index".as_slice(), b"index.lock"].contains(&path.name());
    is_ref || is_shared_index || is_inner_index || NAMES.iter().any(|name| text == OsStr::new(name))
}
