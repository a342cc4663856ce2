//! Notes what a setup left in a copy, before any session is there.

use carson_proc::inspector::Question;
use git2::Index;
use serde::{Deserialize, Serialize};

use super::entry::bare;
use super::files::{self, Base, Ground};
use super::found::Look;
use super::objects::Objects;
use super::residue::{RESIDUE, Residue};
use super::safe_read::Within;
use super::staged::Staged;
use super::stat;
use super::submodules::Submodules;
use crate::paths::path_of;

/// Notes in `look.out` what lies in a worktree beside the base, before any session.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NoteResidue(pub Look);

impl Question for NoteResidue {
    const NAME: &'static str = "note-residue";
    /// How many files were noted.
    type Answer = usize;

    fn answer(self) -> Result<usize, String> {
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
            submodules: &mut submodules,
        };
        let said = |error: git2::Error| error.message().to_owned();
        let mut note = Index::open(&look.out.join(RESIDUE)).map_err(said)?;
        let mut has_large = false;
        for (path, oid, mode) in files::untracked(&look.tree, ground) {
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
        Ok(note.len())
    }
}
