//! The objects that a look reads: Carson's own, the mirror's, and the session's.
//!
//! libgit2 reads them and checks the name of each object that it reads. It finds the session's
//! through directories of links to plain object files: what else may lie among them (alternates,
//! commit graphs, pipes in an object's place) is not there. Its packs are indexed anew by git: deltas of
//! a session's own may lead in circles, for ever.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use git2::{Commit, ObjectType, Odb, OdbLookupFlags, Oid, Repository, Tree};

use super::bounds::{INDEXING, OBJECT_FILES, PACKS, TROUBLE};
use super::git_dir::GitDir;
use super::safe_read::{Within, items};
use crate::git::{Git, run_here};
use crate::skeleton::skeleton;

/// A repository's alternates are followed this deep, as git does.
const DEEP: usize = 5;

/// A repository of our own whose objects are those of the mirror, and of whom else is added.
pub(super) struct Objects {
    /// It is bare, and what is written goes into it.
    pub repo: Repository,
    /// The mirror's objects alone.
    mirror: Repository,
    views: PathBuf,
    next: usize,
    /// When the time to index packs is over.
    until: Instant,
    /// Packs that are left out, and why.
    pub trouble: Vec<String>,
}

impl Objects {
    /// Makes the repository at `out/work.git`. `refs` is a file of packed refs: what the remote
    /// has.
    pub(super) fn make(out: &Path, mirror: &Path, refs: &Path) -> Result<Self, String> {
        let dir = out.join("work.git");
        let made = make(&dir, mirror, refs);
        made.map_err(|error| format!("{}: {error}", dir.display()))?;
        Self::open(out, mirror)
    }

    /// The same repository once more, without whom was added.
    pub(super) fn open(out: &Path, mirror: &Path) -> Result<Self, String> {
        let fail = |error: git2::Error| error.message().to_owned();
        let own = Odb::new().map_err(fail)?;
        add(&own, mirror)?;
        Ok(Self {
            repo: Repository::open_bare(out.join("work.git")).map_err(fail)?,
            mirror: Repository::from_odb(own).map_err(fail)?,
            views: out.join("views"),
            next: fs::read_dir(out.join("views")).map_or(0, Iterator::count),
            until: Instant::now() + INDEXING,
            trouble: Vec::new(),
        })
    }

    /// The directory of the repository.
    pub(super) fn dir(&self) -> &Path {
        self.repo.path()
    }

    /// Whether the mirror has it, reachable or not.
    pub(super) fn mirror_has(&self, oid: Oid) -> bool {
        let has = |odb: Odb<'_>| odb.exists_ext(oid, OdbLookupFlags::NO_REFRESH);
        self.mirror.odb().is_ok_and(has)
    }

    /// Where an object is read: what the mirror has is not what a session says that it is.
    fn repo_with(&self, oid: Oid) -> &Repository {
        match self.mirror_has(oid) {
            true => &self.mirror,
            false => &self.repo,
        }
    }

    /// Reads a commit.
    pub(super) fn commit(&self, oid: Oid) -> Result<Commit<'_>, String> {
        self.repo_with(oid)
            .find_commit(oid)
            .map_err(|error| describe_object_error(oid, &error))
    }

    /// Reads a tree.
    pub(super) fn tree(&self, oid: Oid) -> Result<Tree<'_>, String> {
        self.repo_with(oid)
            .find_tree(oid)
            .map_err(|error| describe_object_error(oid, &error))
    }

    /// Size and kind of an object, before it is read.
    pub(super) fn header(&self, oid: Oid) -> Result<(u64, ObjectType), String> {
        let odb = self.repo_with(oid).odb();
        let header = odb.and_then(|odb| odb.read_header(oid));
        let (size, kind) = header.map_err(|error| describe_object_error(oid, &error))?;
        Ok((size as u64, kind))
    }

    /// The content of a file.
    pub(super) fn content(&self, oid: Oid) -> Result<Vec<u8>, String> {
        let blob = self.repo_with(oid).find_blob(oid);
        blob.map(|blob| blob.content().to_vec())
            .map_err(|error| describe_object_error(oid, &error))
    }

    /// Adds the objects of a session's repository and of those that it borrows from, inside the
    /// same bench.
    pub(super) fn borrow(&mut self, from: &GitDir) -> Result<(), String> {
        self.borrow_from(&from.common.join("objects"), &from.within, DEEP)
    }

    /// Links the packs at `from` into a new directory and indexes them there.
    fn packs(&mut self, from: &Path, view: &Path) -> Result<(), String> {
        let plain = |item: &fs::DirEntry| item.file_type().is_ok_and(|kind| kind.is_file());
        let packs = items(from).filter(plain).map(|item| item.path());
        let packs = packs.filter(|path| path.extension() == Some(OsStr::new("pack")));
        for (at, pack) in packs.enumerate() {
            let name = format!("pack-{at}.pack");
            let to = view.join(&name);
            let linked = fs::create_dir_all(view).and_then(|()| symlink(&pack, &to));
            linked.map_err(|error| format!("{}: {error}", view.display()))?;
            let left = self.until.saturating_duration_since(Instant::now());
            let indexed = match at < PACKS && !left.is_zero() {
                true => index(self.repo.path(), &to, left),
                false => Err("there are too many of them".to_owned()),
            };
            if let Err(why) = indexed {
                fs::remove_file(&to).map_err(|error| format!("{}: {error}", to.display()))?;
                let why = format!("a pack of its own cannot be read: {why}");
                if self.trouble.len() < TROUBLE {
                    self.trouble.push(why);
                }
            }
        }
        Ok(())
    }

    fn borrow_from(&mut self, from: &Path, within: &Within, deep: usize) -> Result<(), String> {
        // One that lies elsewhere is not the session's, or is the mirror's and there already.
        let Some(from) = within.dir(from) else {
            return Ok(());
        };
        let view = self.views.join(self.next.to_string());
        self.next += 1;
        let linked = fill(&from, &view).map_err(|error| format!("{}: {error}", view.display()));
        linked?;
        self.packs(&from.join("pack"), &view.join("pack"))?;
        let odb = self.repo.odb();
        add(&odb.map_err(|error| error.message().to_owned())?, &view)?;
        let more = within.tail(&from.join("info/alternates"), 1 << 16);
        let more = String::from_utf8_lossy(&more.unwrap_or_default()).into_owned();
        for line in more.lines().filter(|line| deep > 0 && !line.is_empty()) {
            self.borrow_from(&from.join(line), within, deep - 1)?;
        }
        Ok(())
    }
}

/// A session's pack, by the link to it: git reads all of it, and finds every object itself.
fn index(repository: &Path, pack: &Path, within: Duration) -> Result<(), String> {
    let index = Git::new(repository, "index-pack").arg("-o");
    let index = index.arg(pack.with_extension("idx")).arg(pack);
    // It is needed as long as this look.
    let index = index.config("core.fsync", "none");
    run_here(index.within(within)).map(drop)
}

fn describe_object_error(oid: Oid, error: &git2::Error) -> String {
    format!("{oid}: {}", error.message())
}

fn add(odb: &Odb<'_>, objects: &Path) -> Result<(), String> {
    let path = objects.to_str().ok_or("the home's path is not UTF-8")?;
    let added = odb.add_disk_alternate(path);
    added.map_err(|error| format!("{path}: {}", error.message()))
}

fn make(dir: &Path, mirror: &Path, refs: &Path) -> std::io::Result<()> {
    // The odd one keeps libgit2 from looking for deltas: what is packed here is packed again when
    // it is pushed.
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\
                  \tcommitGraph = false\n\tmultiPackIndex = false\n[pack]\n\tdeltaCacheSize = 1\n";
    skeleton(dir, mirror, config)?;
    match fs::copy(refs, dir.join("packed-refs")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Links the object files at `from` into a new directory.
fn fill(from: &Path, view: &Path) -> std::io::Result<()> {
    fs::create_dir_all(view)?;
    let mut seen = 0;
    for item in items(from) {
        let (name, is_dir) = (
            item.file_name(),
            item.file_type().is_ok_and(|it| it.is_dir()),
        );
        if !is_dir || !is_fan(&name) || seen > OBJECT_FILES {
            continue;
        }
        let (mut files, mut odd) = (Vec::new(), false);
        for file in items(&item.path()) {
            seen += 1;
            let is_plain = file.file_type().is_ok_and(|kind| kind.is_file());
            let plain = is_plain && is_object(&file.file_name());
            odd |= !plain;
            if plain && seen <= OBJECT_FILES {
                files.push(file.file_name());
            }
        }
        link(
            &item.path(),
            &view.join(&name),
            &files,
            odd || seen > OBJECT_FILES,
        )?;
    }
    Ok(())
}

/// The directory as a whole where it has nothing but object files in it.
fn link(from: &Path, to: &Path, files: &[std::ffi::OsString], odd: bool) -> std::io::Result<()> {
    if !odd {
        return symlink(from, to);
    }
    fs::create_dir(to)?;
    files
        .iter()
        .try_for_each(|file| symlink(from.join(file), to.join(file)))
}

fn is_fan(name: &OsStr) -> bool {
    name.len() == 2 && is_hex(name)
}

/// `ab/<38 digits>`; nothing else that may lie there is an object.
fn is_object(file: &OsStr) -> bool {
    file.len() == 38 && is_hex(file)
}

fn is_hex(name: &OsStr) -> bool {
    name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit)
}
