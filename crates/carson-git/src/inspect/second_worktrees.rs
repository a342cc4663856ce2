//! What lies uncommitted in second worktrees of the session's repository, in its home or among its temporary files.
//!
//! Those inside the first are directories of it like any other. What these have goes with the bench: it becomes a commit, which is
//! kept as what a stash has is.

use std::path::{Path, PathBuf};

use git2::{Oid, Signature};

use super::bounds::SECOND_WORKTREES;
use super::files::{self, Base, Ground};
use super::found::Look;
use super::git_dir::GitDir;
use super::objects::Objects;
use super::residue::Residue;
use super::safe_read::Within;
use super::staged::Staged;
use super::submodules::Submodules;

/// What was found.
#[derive(Default)]
pub(super) struct Uncommitted {
    /// A commit each, on top of where `HEAD` stands there.
    pub commits: Vec<crate::Oid>,
    /// What could not be taken up, and why.
    pub trouble: Vec<String>,
}

impl Uncommitted {
    pub(super) fn of(ask: &Look, within: &Within, objects: &Objects, own: &GitDir) -> Self {
        let mut found = Self::default();
        let all = own.worktrees();
        for git in all.into_iter().filter(|git| *git != own.git) {
            let Some(dir) = place(ask, within, &git) else {
                continue;
            };
            let one = GitDir { git, ..own.clone() };
            let taken = match found.commits.len() < SECOND_WORKTREES {
                true => found.take(ask, objects, &one, &dir),
                false => Err(format!(
                    "there are more than {SECOND_WORKTREES} with changes"
                )),
            };
            if let Err(why) = taken {
                let place = dir.display();
                found.trouble.push(format!(
                    "{place}: what is not committed in this second worktree cannot be taken up: {why}"
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
        dir: &Path,
    ) -> Result<(), String> {
        let head = one.head().ok_or("its HEAD cannot be read")?.git2();
        let index = one.within.file(&one.git.join("index"));
        let mut staged = Staged::read(objects, index.as_deref(), head);
        let ground = Ground {
            objects,
            base: Base::untrusted(&ask.index)?,
            residue: Residue::default(),
            lower: None,
            staged: &staged,
            submodules: &mut Submodules::new(&one.within, &ask.out, &ask.objects),
        };
        let files = files::take(dir, ground)?;
        let head = objects.commit(head)?;
        let mut trees: Vec<Oid> = [staged.tree(objects)?, files.tree]
            .into_iter()
            .flatten()
            .filter(|tree| *tree != head.tree_id())
            .collect();
        trees.dedup();
        for tree in trees {
            // Looks that find the same make the same commit.
            let who = Signature::new("Carson", "carson@localhost", &head.time());
            let said = format!("Left uncommitted in {}", dir.display());
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

/// Where it lies now; nothing for one that is gone, is no business of the bench's, or lies in the first.
fn place(ask: &Look, within: &Within, git: &Path) -> Option<PathBuf> {
    let told = within.tail(&git.join("gitdir"), PATH)?;
    let told = PathBuf::from(String::from_utf8(told).ok()?.trim_end());
    let dir = told.parent()?;
    ask.beside.iter().find_map(|(seen, at)| {
        let found = within.dir(&at.join(dir.strip_prefix(seen).ok()?))?;
        (found.starts_with(at.canonicalize().ok()?) && found.join(".git").is_file())
            .then_some(found)
    })
}

/// A path is one line.
const PATH: u64 = 4096;
