//! Git hashes the files that changed: it knows the conversions that attributes ask for.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use git2::Oid;

use super::bounds::OBJECT;
use super::entry::{Changed, Entry, SYMLINK};
use super::objects::Objects;
use crate::git::{Git, run_here};
use crate::paths::path_of;

/// So many files, and bytes of all of them, are hashed without git where nothing asks for a conversion.
const FEW: usize = 64;
const SMALL: u64 = 4 << 20;

/// Hashes all of them into our own repository. What cannot be read is told.
pub(super) fn all(
    objects: &Objects,
    top: &Path,
    changed: &[Changed],
    trouble: &mut Vec<String>,
) -> Vec<Entry> {
    let (mut by_git, mut entries) = (Vec::new(), Vec::new());
    for file in changed {
        // Git takes a list of lines: it ends a name at the line, leaves out a carriage return before that, and takes one
        // that begins with a quote for a quoted one.
        let is_said = !file.path.contains(&b'\n')
            && !file.path.ends_with(b"\r")
            && !file.path.starts_with(b"\"");
        let plain = file.kept.is_none() && is_said && file.mode != SYMLINK;
        if file.size > OBJECT {
            let name = String::from_utf8_lossy(&file.path);
            let megabytes = file.size >> 20;
            push_trouble(
                trouble,
                format!("{name} has {megabytes} MB, which is too much"),
            );
        } else if plain {
            by_git.push(file);
        } else {
            entries.extend(alone(objects, top, file, trouble));
        }
    }
    let attributes = Attributes::of(top, &by_git);
    let bytes: u64 = by_git.iter().map(|file| file.size).sum();
    if attributes == Attributes::None && by_git.len() <= FEW && bytes <= SMALL {
        // Their bytes are what git would hash, and it would have to be started.
        let each = by_git.into_iter();
        entries.extend(each.filter_map(|file| alone(objects, top, file, trouble)));
        return entries;
    }
    by_git.retain(|file| is_readable(top, file, trouble));
    let hashed = hash(objects, top, &by_git, attributes == Attributes::Odd);
    // A filter or an encoding that `.gitattributes` asks for can fail; the bytes as they are are
    // better than nothing.
    let hashed = hashed.or_else(|_| hash(objects, top, &by_git, true));
    let Ok(hashed) = hashed else {
        // One that git cannot have costs no other.
        let each = by_git.into_iter();
        entries.extend(each.filter_map(|file| alone(objects, top, file, trouble)));
        return entries;
    };
    entries.extend(
        by_git
            .iter()
            .zip(hashed)
            .map(|(file, oid)| (place(file), oid, file.mode)),
    );
    entries
}

/// One that git is not told of; `None` where it cannot be read, which is said.
fn alone(
    objects: &Objects,
    top: &Path,
    file: &Changed,
    trouble: &mut Vec<String>,
) -> Option<Entry> {
    match ourselves(objects, top, file) {
        Ok(oid) => Some((place(file), oid, file.mode)),
        Err(why) => {
            push_trouble(trouble, why);
            None
        }
    }
}

fn place(file: &Changed) -> Vec<u8> {
    file.kept.clone().unwrap_or_else(|| file.path.clone())
}

fn push_trouble(trouble: &mut Vec<String>, one: String) {
    if trouble.len() < super::bounds::TROUBLE {
        trouble.push(one);
    }
}

fn is_readable(top: &Path, file: &Changed, trouble: &mut Vec<String>) -> bool {
    let opened = fs::File::open(top.join(path_of(&file.path)));
    if let Err(error) = &opened {
        let name = String::from_utf8_lossy(&file.path);
        push_trouble(trouble, format!("{name} cannot be read: {error}"));
    }
    opened.is_ok()
}

/// A link by where it leads, a file by its bytes.
fn ourselves(objects: &Objects, top: &Path, file: &Changed) -> Result<Oid, String> {
    let path = top.join(path_of(&file.path));
    let bytes = match file.mode {
        SYMLINK => fs::read_link(&path).map(|to| to.as_os_str().as_bytes().to_vec()),
        _ => fs::read(&path),
    };
    let bytes = bytes.map_err(|error| format!("{}: {error}", path.display()))?;
    let blob = objects.repo.blob(&bytes);
    blob.map_err(|error| {
        let name = String::from_utf8_lossy(&file.path);
        let megabytes = file.size >> 20;
        format!(
            "{name} ({megabytes} MB) cannot be written down: {}",
            error.message()
        )
    })
}

/// What lies at `.gitattributes` beside files and above them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attributes {
    /// Nothing anywhere: no conversion is asked for.
    None,
    /// A file somewhere.
    Some,
    /// Git opens each of them: a pipe would block it.
    Odd,
}

impl Attributes {
    fn of(top: &Path, files: &[&Changed]) -> Self {
        let mut dirs: Vec<_> = files.iter().map(|file| path_of(&file.path)).collect();
        dirs.sort_unstable();
        dirs.dedup_by(|one, other| one.parent() == other.parent());
        let above = dirs.iter().flat_map(|path| path.ancestors().skip(1));
        let mut all = Self::None;
        for dir in above {
            let found = top.join(dir).join(".gitattributes").symlink_metadata();
            match found {
                Ok(found) if !found.is_file() && !found.is_symlink() => return Self::Odd,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                _ => all = Self::Some,
            }
        }
        all
    }
}

fn hash(objects: &Objects, top: &Path, files: &[&Changed], raw: bool) -> Result<Vec<Oid>, String> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut list = Vec::new();
    for file in files {
        list.extend(&file.path);
        list.push(b'\n');
    }
    let hash = Git::new(objects.dir(), "hash-object").args(["-w", "--stdin-paths"]);
    let hash = hash.args(raw.then_some("--no-filters")).at(top);
    let hash = hash
        .env("GIT_WORK_TREE", top)
        .config("core.bare", "false")
        // Large files pass through in pieces, and what is packed next need not be durable here.
        .config("core.bigFileThreshold", "16m")
        .config("core.fsync", "none")
        .stdin(list);
    let said = run_here(hash)?;
    let said = String::from_utf8_lossy(&said);
    let oids: Vec<Oid> = said.lines().filter_map(|line| line.parse().ok()).collect();
    match oids.len() == files.len() {
        true => Ok(oids),
        false => Err("git hash-object did not hash every file".to_owned()),
    }
}
