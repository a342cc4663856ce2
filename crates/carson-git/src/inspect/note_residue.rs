//! Notes what a setup left in a copy, before any session is there.

use std::fs;

use carson_proc::inspector::Question;
use git2::Index;
use serde::{Deserialize, Serialize};

use super::entry::bare;
use super::files::{self, Base, Ground};
use super::found::Look;
use super::nested_repos;
use super::objects::Objects;
use super::residue::{self, RESIDUE, Residue};
use super::safe_read::Within;
use super::staged::Staged;
use super::stat;
use super::submodules::Submodules;
use crate::paths::path_of;

/// What was noted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Noted {
    /// Files and directories whose rights keep everybody out.
    pub unreadable: u32,
}

/// Notes in `look.out` what lies in a worktree beside the base, before any session.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NoteResidue(pub Look);

impl Question for NoteResidue {
    const NAME: &'static str = "note-residue";
    type Answer = Noted;

    fn answer(self) -> Result<Noted, String> {
        let Self(look) = self;
        let within = Within::of([&look.bench, &look.tree]).ok_or("the bench is gone")?;
        let objects = Objects::make(&look.out, &look.objects, &look.refs)?;
        let mut submodules = Submodules::new(&within, &look.out, &look.objects);
        let ground = Ground {
            objects: &objects,
            base: Base::read(&look.index, &look.tree)?,
            residue: Residue::default(),
            lower: None,
            staged: &Staged::read(&objects, None, look.base.git2()),
            let_go: Vec::new(),
            submodules: &mut submodules,
        };
        let said = |error: git2::Error| error.message().to_owned();
        let mut note = Index::open(&look.out.join(RESIDUE)).map_err(said)?;
        let mut has_large = false;
        let (untracked, met) = files::untracked(&look.tree, ground);
        for (path, oid, mode) in untracked {
            has_large |= oid.is_zero();
            let mut entry = bare(&path, oid, mode);
            // What is kept under another name than it has there is known by what is in it.
            if let Ok(found) = look.tree.join(path_of(&path)).symlink_metadata() {
                stat::describe(&mut entry, &found);
            }
            note.add(&entry).map_err(said)?;
        }
        if has_large {
            // They were not hashed: their times must be older than the note by more than is in doubt.
            std::thread::sleep(stat::STEP * 2);
        }
        note.write().map_err(said)?;
        let mut commits = String::new();
        let places = (look.out.as_path(), look.objects.as_path());
        for batch in nested_repos::batches(&met.repositories, &within, None, places) {
            let lines = batch?.own.into_iter().map(|(_, oid)| format!("{oid}\n"));
            commits.extend(lines);
        }
        let file = residue::commits_beside(&look.out.join(RESIDUE));
        fs::write(&file, commits).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Noted {
            unreadable: met.unreadable,
        })
    }
}
