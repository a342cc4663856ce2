//! What lies uncommitted in second worktrees of the session's repository, in its home or among its temporary files.
//!
//! Those inside the first are directories of it like any other. What these have goes with the bench: it becomes a commit, which is
//! kept as what a stash has is.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use git2::{Oid, Signature};

use super::bounds::{ASIDE, SECOND_WORKTREES};
use super::files::{self, Base, Files, Ground};
use super::found::Look;
use super::git_dir::GitDir;
use super::objects::Objects;
use super::residue::Residue;
use super::safe_read::{Within, items};
use super::staged::Staged;
use super::submodules::Submodules;

/// A path is one line.
const PATH: u64 = 4096;
/// How deep a worktree is looked for that is not where its repository says.
const DEEP: usize = 4;

/// What was found.
#[derive(Default)]
pub(super) struct Uncommitted {
    /// A commit each, on top of where `HEAD` stands there.
    pub commits: Vec<crate::Oid>,
    /// Files and directories whose rights keep us out.
    pub unreadable: u32,
    /// What could not be taken up, and why.
    pub trouble: Vec<String>,
}

impl Uncommitted {
    pub(super) fn of(ask: &Look, within: &Within, objects: &Objects, own: &GitDir) -> Self {
        let mut found = Self::default();
        let mut moved = None;
        let others = own.worktrees().into_iter().filter(|git| *git != own.git);
        for (at, git) in others.enumerate() {
            let name = git.file_name().unwrap_or_default().to_owned();
            let dir = match place(ask, within, &git) {
                Place::At(dir) => Some(dir),
                Place::Closed => {
                    found.unreadable += 1;
                    None
                }
                Place::InTheFirst => continue,
                Place::Gone => {
                    let moved = moved.get_or_insert_with(|| elsewhere(ask, within));
                    let is_it = |one: &&(PathBuf, PathBuf)| one.1 == Path::new(&name);
                    moved.iter().find(is_it).map(|one| one.0.clone())
                }
            };
            let one = GitDir { git, ..own.clone() };
            let taken = match at < SECOND_WORKTREES {
                true => found.take(ask, objects, &one, dir.as_deref()),
                false => Err(format!("there are more than {SECOND_WORKTREES}")),
            };
            if let Err(why) = taken {
                let shown = dir.unwrap_or_else(|| name.into());
                found.trouble.push(format!(
                    "{}: what is not committed in this second worktree cannot be taken up: {why}",
                    shown.display()
                ));
            }
        }
        found
    }

    fn take(
        &mut self,
        ask: &Look,
        objects: &Objects,
        one: &GitDir,
        dir: Option<&Path>,
    ) -> Result<(), String> {
        // One whose `HEAD` is no commit has nothing that could be told from what it began with.
        let Some(head) = one.head() else {
            return Ok(());
        };
        let index = one.within.file(&one.git.join("index"));
        let mut staged = Staged::read(objects, index.as_deref(), head.git2());
        let files = match dir {
            Some(dir) => {
                let ground = Ground {
                    objects,
                    base: Base::untrusted(&ask.index)?,
                    residue: Residue::default(),
                    lower: None,
                    staged: &staged,
                    // Each file is read anyway.
                    let_go: Vec::new(),
                    submodules: &mut Submodules::new(&one.within, &ask.out, &ask.objects),
                };
                files::take(dir, ground)?
            }
            None => Files::default(),
        };
        self.unreadable += files.unreadable;
        let head = objects.commit(head.git2())?;
        let hidden = files.hidden.tree.as_ref().map(crate::Oid::git2);
        let mut trees: Vec<Oid> = [staged.tree(objects)?, files.tree, hidden]
            .into_iter()
            .flatten()
            .filter(|tree| *tree != head.tree_id())
            .collect();
        trees.dedup();
        let place = dir.unwrap_or(&one.git).display();
        for tree in trees {
            // Looks that find the same make the same commit.
            let who = Signature::new("Carson", "carson@localhost", &head.time());
            let said = format!("Left uncommitted in {place}");
            let made = who.and_then(|who| {
                let tree = objects.repo.find_tree(tree)?;
                let own = objects.repo.find_commit(head.id())?;
                objects.repo.commit(None, &who, &who, &said, &tree, &[&own])
            });
            self.commits
                .push(made.map_err(|error| error.message().to_owned())?.into());
        }
        match files.trouble.first() {
            Some(why) => Err(why.clone()),
            None => Ok(()),
        }
    }
}

/// Where a worktree is now.
enum Place {
    At(PathBuf),
    /// Nobody may look.
    Closed,
    /// It is looked at with that.
    InTheFirst,
    /// Not where it was, or no business of the bench's.
    Gone,
}

/// By what its repository says.
fn place(ask: &Look, within: &Within, git: &Path) -> Place {
    let told = within.tail(&git.join("gitdir"), PATH);
    let told = told.and_then(|told| String::from_utf8(told).ok());
    let told = PathBuf::from(told.unwrap_or_default().trim_end());
    let dir = told.parent().unwrap_or(&told);
    if dir.starts_with(&ask.tree) {
        return Place::InTheFirst;
    }
    let mut places = ask.beside.iter();
    let at = places.find_map(|(seen, at)| Some((at, at.join(dir.strip_prefix(seen).ok()?))));
    let Some((top, at)) = at else {
        return Place::Gone;
    };
    let is_closed = |path: &Path| {
        let found = path.symlink_metadata();
        found.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
    };
    match within.dir(&at).filter(|dir| is_below(dir, top)) {
        Some(dir) if is_closed(&dir.join(".git")) => Place::Closed,
        Some(dir) => Place::At(dir),
        None if is_closed(&at) => Place::Closed,
        None => Place::Gone,
    }
}

fn is_below(dir: &Path, top: &Path) -> bool {
    top.canonicalize().is_ok_and(|top| dir.starts_with(top))
}

/// Worktrees that say of themselves of which repository they are: where, and its name there.
fn elsewhere(ask: &Look, within: &Within) -> Vec<(PathBuf, PathBuf)> {
    let tops = ask.beside.iter().map(|(_, at)| (at.clone(), 0));
    let (mut todo, mut seen, mut found) = (Vec::from_iter(tops), 0, Vec::new());
    while let Some((dir, deep)) = todo.pop() {
        for item in items(&dir) {
            seen += 1;
            if seen > ASIDE {
                return found;
            }
            let Ok(kind) = item.file_type() else { continue };
            if kind.is_dir() && deep < DEEP {
                todo.push((item.path(), deep + 1));
            }
            if kind.is_file() && item.file_name() == ".git" {
                let told = within.tail(&item.path(), PATH);
                let told = told.and_then(|told| String::from_utf8(told).ok());
                let git = told
                    .as_deref()
                    .and_then(|told| told.strip_prefix("gitdir: "));
                let name = git.and_then(|git| Path::new(git.trim_end()).file_name());
                found.extend(name.map(|name| (dir.clone(), PathBuf::from(name))));
            }
        }
    }
    found
}
