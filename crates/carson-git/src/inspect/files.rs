//! The files of a worktree, taken up as a tree.
//!
//! We walk ourselves. What equals Carson's own copy of the index, as git made it at the checkout, is
//! as it was: the session cannot set the time at which a file's inode last changed. Everything else
//! is hashed by git, which is given names of plain files and nothing to look at by itself.

use std::collections::HashSet;
use std::fs::{self, DirEntry, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use git2::{Index, IndexEntry, Oid};

use super::bounds::{ENTRIES, HIDDEN, HIDDEN_BYTES, OBJECT, PATH, PATHS, REPOSITORIES};
use super::edited_tree::Edits;
use super::entry::{Changed, Entry, LINK, SYMLINK};
use super::found::Hidden;
use super::hash;
use super::lower::Lower;
use super::objects::Objects;
use super::residue::Residue;
use super::sieve::{BaseRules, Sieve, Verdict};
use super::staged::Staged;
use super::submodules::Submodules;
use crate::paths::path_of;

/// What a directory holds.
#[derive(Default)]
pub(super) struct Files {
    /// The tree of its files, without ignored ones.
    pub tree: Option<Oid>,
    /// What only rules of the session's own hide.
    pub hidden: Hidden,
    /// Directories in it that have a `.git` of their own.
    pub repositories: Vec<PathBuf>,
    /// What could not be taken up, and why.
    pub trouble: Vec<String>,
    /// Files that are kept under another name, because git refuses theirs.
    pub renamed: Vec<String>,
    /// Files and directories whose rights keep us out.
    pub unreadable: u32,
}

/// How a worktree began, and what its session says.
pub(super) struct Ground<'g> {
    pub objects: &'g Objects,
    /// Carson's own index of the checkout.
    pub base: Base,
    /// What a setup left in it before any session.
    pub residue: Residue,
    /// The layers that it stands on, where these tell what is untouched.
    pub lower: Option<Lower>,
    pub staged: &'g Staged,
    /// What of the base the session tracks no more, in the order of an index.
    pub let_go: Vec<Vec<u8>>,
    pub submodules: &'g mut Submodules,
}

/// Carson's own index of the checkout.
pub(super) struct Base {
    index: Index,
    /// Files that changed after this are hashed, whatever the index says; `None`: all of them.
    trusted: Option<(i64, i64)>,
}

impl Base {
    /// Reads the index at `file`; without one, or where a power cut left half of one, everything is as
    /// new.
    pub(super) fn read(file: &Path, tree: &Path) -> Result<Self, String> {
        let written = fs::metadata(file).ok();
        let opened = written.zip(Index::open(file).ok());
        let (index, trusted) = match opened {
            Some((written, index)) => {
                let trusted = super::stat::times_are_kept(tree);
                let trusted = trusted.then(|| super::stat::before(&written));
                (index, trusted)
            }
            None => (Index::new().map_err(git_error_message)?, None),
        };
        Ok(Self { index, trusted })
    }

    /// The same where no file's times mean anything: each is hashed.
    pub(super) fn untrusted(file: &Path) -> Result<Self, String> {
        let index = Index::open(file).or_else(|_| Index::new());
        Ok(Self {
            index: index.map_err(git_error_message)?,
            trusted: None,
        })
    }

    fn at(&self, path: &[u8]) -> Option<IndexEntry> {
        self.index.get_path(&path_of(path), 0)
    }

    /// The tree that it is of. It was written with the index, so that nothing is read for it.
    fn tree(&mut self, objects: &Objects) -> Result<Oid, String> {
        let tree = self.index.write_tree_to(&objects.repo);
        tree.map_err(git_error_message)
    }
}

/// Takes up everything below `top`.
pub(super) fn take(top: &Path, ground: Ground<'_>) -> Result<Files, String> {
    let (objects, staged) = (ground.objects, ground.staged);
    let mut walk = Walk::everything(top, ground);
    let base = walk.base.tree(objects)?;
    let mut edits = Edits::default();
    for path in walk.gone() {
        match staged.left_out(&path) {
            Some((oid, mode)) => edits.put((path, oid, mode)),
            None => edits.remove(&path),
        }
    }
    let Walk {
        residue,
        mut files,
        changed,
        hidden,
        links,
        submodules,
        ..
    } = walk;
    let mut hashed = hash::all(objects, top, &changed, &mut files.trouble);
    hashed.retain(|(path, oid, mode)| {
        staged.tracks(path) || submodules.tracks(path) || !residue.has(path, *oid, *mode)
    });
    links
        .into_iter()
        .chain(hashed)
        .for_each(|one| edits.put(one));
    let write = |edits: &Edits, base| {
        let tree = edits.write(&objects.repo, Some(base));
        tree.map_err(git_error_message)
    };
    let tree = submodules.put_back(objects, write(&edits, base)?)?;
    files.tree = Some(tree);
    let mut hidden = hash::all(objects, top, &hidden, &mut files.trouble);
    let all = hidden.len();
    hidden.retain(|(path, oid, mode)| !residue.has(path, *oid, *mode));
    files.hidden.files -= (all - hidden.len()) as u64;
    // A walk of layers meets them in another order than one of a copy.
    hidden.sort_unstable();
    if !hidden.is_empty() {
        let mut edits = Edits::default();
        for one in hidden {
            files.hidden.tell(&one.0);
            edits.put(one);
        }
        files.hidden.tree = Some(write(&edits, tree)?.into());
    }
    Ok(files)
}

/// What of the files below `top` the base does not have, and git does not ignore; and what else was met.
pub(super) fn untracked(top: &Path, ground: Ground<'_>) -> (Vec<Entry>, Files) {
    let objects = ground.objects;
    let mut walk = Walk::everything(top, ground);
    let mut found = std::mem::take(&mut walk.changed);
    found.append(&mut walk.hidden);
    found.retain(|one| walk.base.at(&one.path).is_none());
    // One that is too large to be read is known by its times alone.
    let large = found.iter().filter(|one| one.size > OBJECT);
    let large = large.map(|one| (one.path.clone(), Oid::ZERO_SHA1, one.mode));
    let large: Vec<Entry> = large.collect();
    found.retain(|one| one.size <= OBJECT);
    let mut entries = hash::all(objects, top, &found, &mut walk.files.trouble);
    entries.extend(large);
    (entries, walk.files)
}

fn git_error_message(error: git2::Error) -> String {
    error.message().to_owned()
}

struct Walk<'w> {
    top: &'w Path,
    base: Base,
    /// What of Carson's index was met, and is as it was or taken up anew.
    met: HashSet<Vec<u8>>,
    /// Submodules in it.
    gitlinks: Vec<Vec<u8>>,
    /// What it ignores.
    rules: BaseRules<'w>,
    residue: Residue,
    lower: Option<Lower>,
    /// What the session tracks of what a setup left below: in the order of an index.
    brought: Vec<Vec<u8>>,
    /// What of the base the session tracks no more: as a file that it made, and gone where a rule ignores that.
    let_go: Vec<Vec<u8>>,
    /// Directories that nobody has written in; they are not walked.
    untouched: HashSet<Vec<u8>>,
    staged: &'w Staged,
    submodules: &'w mut Submodules,
    files: Files,
    changed: Vec<Changed>,
    /// What only rules of the session's own hide.
    hidden: Vec<Changed>,
    hidden_bytes: u64,
    links: Vec<(Vec<u8>, Oid, u32)>,
    entries: usize,
    /// Bytes of the paths that were met.
    paths: usize,
}

/// A directory that is still to be walked.
struct Dir {
    path: Vec<u8>,
    /// Where it is kept: another place only if git refuses a name on the way.
    kept: Vec<u8>,
    rules: Sieve,
    /// What it is; one that is ignored has something tracked in it.
    verdict: Verdict,
}

impl<'w> Walk<'w> {
    /// Walks through everything below `top`.
    fn everything(top: &'w Path, ground: Ground<'w>) -> Self {
        let Ground {
            objects,
            base,
            residue,
            lower,
            staged,
            let_go,
            submodules,
        } = ground;
        let has_setup = lower.as_ref().is_some_and(Lower::has_setup);
        let brought: Vec<Vec<u8>> = match has_setup {
            true => staged
                .paths()
                .filter(|path| base.at(path).is_none())
                .collect(),
            false => Vec::new(),
        };
        let (mut gitlinks, mut rules) = (Vec::new(), BaseRules::new(objects));
        for entry in base.index.iter() {
            rules.note(&entry.path, entry.id);
            if entry.mode == LINK {
                gitlinks.push(entry.path);
            }
        }
        let mut walk = Self {
            top,
            base,
            met: HashSet::new(),
            gitlinks,
            rules,
            residue,
            lower,
            brought,
            let_go,
            untouched: HashSet::new(),
            staged,
            submodules,
            files: Files::default(),
            changed: Vec::new(),
            hidden: Vec::new(),
            hidden_bytes: 0,
            links: Vec::new(),
            entries: 0,
            paths: 0,
        };
        walk.walk();
        walk
    }

    /// What the base has and is not there any more.
    fn gone(&self) -> Vec<Vec<u8>> {
        // Neighbours lie in the same directory.
        let mut last: (Vec<u8>, bool) = (Vec::new(), false);
        let mut lies_in = |path: &[u8]| {
            let dir = path.iter().rposition(|byte| *byte == b'/');
            let dir = dir.map_or(&path[..0], |at| &path[..at]);
            if last.0 != dir {
                last = (dir.to_vec(), lies_in(path, &self.untouched));
            }
            last.1
        };
        let paths = self.base.index.iter().map(|entry| entry.path);
        paths
            .filter(|path| !lies_in(path) && !self.met.contains(path))
            .collect()
    }

    /// Whether the base has this path; then it is not gone.
    fn meet(&mut self, path: &[u8]) -> bool {
        let is_there = self.base.at(path).is_some();
        if is_there {
            self.met.insert(path.to_vec());
        }
        is_there
    }

    fn walk(&mut self) {
        let mut todo = vec![Dir {
            path: Vec::new(),
            kept: Vec::new(),
            rules: Sieve::default(),
            verdict: Verdict::Taken,
        }];
        while let Some(dir) = todo.pop() {
            let here = self.top.join(path_of(&dir.path));
            let listed = match fs::read_dir(&here) {
                Ok(listed) => listed,
                Err(error) => {
                    self.cannot(&dir.path, &error);
                    continue;
                }
            };
            let rules = dir.rules.below(&dir.path, &here, &self.rules);
            for item in listed.flatten() {
                self.entries += 1;
                self.paths += dir.path.len() + item.file_name().len();
                if self.entries > ENTRIES || self.paths > PATHS {
                    let much = "it has more files, or longer paths, than are read".to_owned();
                    self.files.trouble.push(much);
                    return;
                }
                todo.extend(self.item(&dir, &rules, &item));
            }
        }
    }

    /// One entry; the directory to walk, when it is one.
    fn item(&mut self, dir: &Dir, rules: &Sieve, item: &DirEntry) -> Option<Dir> {
        let name = item.file_name();
        if name == ".git" {
            self.repository(&dir.path, item);
            return None;
        }
        let path = below(&dir.path, name.as_bytes());
        if path.len() > PATH {
            let trouble = "its directories lie too deep for the system".to_owned();
            self.add_trouble(trouble);
            return None;
        }
        let kind = item.file_type().ok()?;
        let kept = match refused(name.as_bytes()) {
            true => below(&dir.kept, &[name.as_bytes(), b".kept"].concat()),
            false => below(&dir.kept, name.as_bytes()),
        };
        if kind.is_dir() {
            return self.dir(dir, rules, path, kept);
        }
        // Pipes, sockets and devices hold nothing that could be saved.
        if kind.is_file() || kind.is_symlink() {
            self.file(dir, rules, path, kept, &item.metadata().ok()?);
        }
        None
    }

    fn repository(&mut self, dir: &[u8], item: &DirEntry) {
        // That of the worktree itself is read elsewhere.
        if dir.is_empty() || self.files.repositories.len() > REPOSITORIES {
            return;
        }
        if self.files.repositories.len() == REPOSITORIES {
            self.add_trouble(format!(
                "it has more than {REPOSITORIES} repositories in it"
            ));
        }
        let dir = item.path().parent().map(Path::to_owned);
        self.files.repositories.extend(dir);
    }

    fn dir(&mut self, above: &Dir, rules: &Sieve, path: Vec<u8>, kept: Vec<u8>) -> Option<Dir> {
        let here = self.top.join(path_of(&path));
        let holds_link = |link: &Vec<u8>| link.starts_with(&path);
        if !self.gitlinks.iter().any(holds_link)
            && self.is_untouched(&path, || here.symlink_metadata())
            && !any_below(&self.brought, &path)
            && !any_below(&self.let_go, &path)
        {
            self.untouched.insert(path);
            return None;
        }
        let linked = self.base.at(&path).filter(|entry| entry.mode == LINK);
        let linked = linked.map(|entry| entry.id);
        let staged = self.staged.at(&path).filter(|(_, mode)| *mode == LINK);
        let is_link = linked.is_some() || staged.is_some();
        if is_link && fs::read_dir(&here).is_ok_and(|mut items| items.next().is_none()) {
            // Not checked out is not deleted; where it leads may have been changed, or itself moved here.
            self.meet(&path);
            if let Some((oid, mode)) = staged.filter(|(oid, _)| linked != Some(*oid)) {
                self.links.push((path, oid, mode));
            }
            return None;
        }
        if linked.is_some() {
            self.submodules.met(&path, &here);
        }
        let verdict = rules.directory(&path, &here, above.verdict);
        let ignored = verdict == Verdict::Ignored;
        if ignored && !self.staged.tracks_below(&path) && !self.submodules.tracks(&path) {
            return None;
        }
        Some(Dir {
            path,
            kept,
            rules: rules.clone(),
            verdict,
        })
    }

    fn file(&mut self, dir: &Dir, rules: &Sieve, path: Vec<u8>, kept: Vec<u8>, found: &Metadata) {
        let is_let_go = self.let_go.binary_search(&path).is_ok();
        let may_be_known = path == kept && !is_let_go;
        if may_be_known && self.is_untouched(&path, || Ok(found.clone())) {
            // What is not in the index was there before, too, and is work only where the session tracks it.
            if self.meet(&path) || !self.staged.tracks(&path) {
                return;
            }
        }
        if may_be_known
            && let Some(before) = self.base.trusted
            && let Some(entry) = self.base.at(&path)
            && super::stat::is_same(&entry, found, before)
        {
            self.met.insert(path);
            return;
        }
        let tracked = self.staged.tracks(&path) || self.submodules.tracks(&path);
        if !tracked && path == kept && self.is_residue(&path, found) {
            return;
        }
        let verdict = match tracked {
            true => Verdict::Taken,
            false => rules.file(&path, dir.verdict),
        };
        if verdict == Verdict::Ignored {
            return;
        }
        if verdict == Verdict::Taken {
            self.meet(&path);
        }
        let mode = match found.permissions().mode() {
            _ if found.is_symlink() => SYMLINK,
            mode if mode & 0o100 != 0 => 0o100_755,
            _ => 0o100_644,
        };
        if found.is_file() && found.permissions().mode() & 0o400 == 0 {
            self.files.unreadable += 1;
        }
        if path != kept {
            self.files
                .renamed
                .push(String::from_utf8_lossy(&path).into_owned());
        }
        let kept = (path != kept).then_some(kept);
        let one = Changed {
            path,
            kept,
            mode,
            size: found.size(),
        };
        match verdict {
            Verdict::Hidden => self.hide(one),
            _ => self.changed.push(one),
        }
    }

    fn hide(&mut self, one: Changed) {
        let hidden = &mut self.files.hidden;
        hidden.files += 1;
        if self.hidden.len() >= HIDDEN || self.hidden_bytes + one.size > HIDDEN_BYTES {
            hidden.left += 1;
            hidden.tell(&one.path);
            return;
        }
        self.hidden_bytes += one.size;
        self.hidden.push(one);
    }

    /// Whether a file that nobody tracks is as a setup left it.
    fn is_residue(&self, path: &[u8], found: &Metadata) -> bool {
        let is_below = |lower: &Lower| {
            let file = self.top.join(path_of(path));
            lower.has_setup() && lower.has_same(path, &file, found)
        };
        self.residue.is_untouched(path, found)
            || self.base.at(path).is_none() && self.lower.as_ref().is_some_and(is_below)
    }

    fn is_untouched(&self, path: &[u8], found: impl FnOnce() -> std::io::Result<Metadata>) -> bool {
        let Some(lower) = &self.lower else {
            return false;
        };
        found().is_ok_and(|found| lower.is_untouched(path, found.ino()))
    }

    fn cannot(&mut self, dir: &[u8], error: &std::io::Error) {
        if error.kind() == std::io::ErrorKind::PermissionDenied {
            self.files.unreadable += 1;
        }
        let dir = String::from_utf8_lossy(dir);
        self.add_trouble(format!("could not open directory {dir}: {error}"));
    }

    fn add_trouble(&mut self, trouble: String) {
        if self.files.trouble.len() < super::bounds::TROUBLE
            && !self.files.trouble.contains(&trouble)
        {
            self.files.trouble.push(trouble);
        }
    }
}

/// Whether one of these paths, in the order of an index, lies below a directory.
fn any_below(paths: &[Vec<u8>], dir: &[u8]) -> bool {
    let below = [dir, b"/"].concat();
    let at = paths.partition_point(|path| *path < below);
    paths.get(at).is_some_and(|path| path.starts_with(&below))
}

/// Whether one of these directories is above a path.
fn lies_in(path: &[u8], dirs: &HashSet<Vec<u8>>) -> bool {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    !dirs.is_empty()
        && ends
            .map(|(at, _)| &path[..at])
            .any(|dir| dirs.contains(dir))
}

fn below(dir: &[u8], name: &[u8]) -> Vec<u8> {
    match dir {
        [] => name.to_vec(),
        dir => [dir, b"/", name].concat(),
    }
}

/// Names that git refuses on every system, because they mean `.git` on some (git's path.c,
/// `is_ntfs_dotgit` and `is_hfs_dotgit`).
fn refused(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'\\').any(|part| {
        let text: String = String::from_utf8_lossy(part)
            .chars()
            .filter(|c| !is_ignored_by_hfs(*c))
            .collect();
        let text = text.to_ascii_lowercase();
        let name = text.split(':').next().unwrap_or_default();
        matches!(name.trim_end_matches([' ', '.']), ".git" | "git~1")
    })
}

/// What HFS+ leaves out of names when it compares them (git's utf8.c).
fn is_ignored_by_hfs(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}
