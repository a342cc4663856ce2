//! What a setup left in a copy.
//!
//! Such a setup runs in the workspace itself, before any session, and what it leaves there and git does not
//! ignore is nobody's work. Its files are noted in an index of their own: what a later look finds as it is
//! there is passed over, unless the session tracks it.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use carson_proc::inspector::Question;
use git2::{Index, IndexEntry, Oid};
use serde::{Deserialize, Serialize};

use super::entry::bare;
use super::files::{self, Base, Ground};
use super::found::Look;
use super::objects::Objects;
use super::safe_read::Within;
use super::staged::Staged;
use super::stat;
use super::submodules::Submodules;
use crate::paths::path_of;

/// The note of it, among those of how a worktree began.
pub(crate) const RESIDUE: &str = "residue";

/// What lies there at a path, as it was when the setup had ended.
#[derive(Default)]
pub(super) struct Residue {
    entries: HashMap<Vec<u8>, IndexEntry>,
    /// Files that changed after this are hashed; `None`: all of them.
    trusted: Option<(i64, i64)>,
}

impl Residue {
    /// Reads the note at `file`; without one, or where a power cut left half of one, nothing is known.
    pub(super) fn read(file: &Path, tree: &Path) -> Self {
        let written = fs::metadata(file).ok();
        let Some((written, index)) = written.zip(Index::open(file).ok()) else {
            return Self::default();
        };
        let entries = index.iter().map(|entry| (entry.path.clone(), entry));
        Self {
            entries: entries.collect(),
            trusted: stat::times_are_kept(tree).then(|| stat::before(&written)),
        }
    }

    /// Whether nobody has touched the file at this path since.
    pub(super) fn is_untouched(&self, path: &[u8], found: &fs::Metadata) -> bool {
        let noted = self.entries.get(path).zip(self.trusted);
        noted.is_some_and(|(entry, before)| stat::is_same(entry, found, before))
    }

    /// Whether the setup left this at this path.
    pub(super) fn has(&self, path: &[u8], oid: Oid, mode: u32) -> bool {
        let noted = self.entries.get(path);
        noted.is_some_and(|entry| entry.id == oid && entry.mode == mode)
    }
}

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
        for (path, oid, mode) in files::untracked(&look.tree, ground) {
            let mut entry = bare(&path, oid, mode);
            // What is kept under another name than it has there is known by what is in it.
            if let Ok(found) = look.tree.join(path_of(&path)).symlink_metadata() {
                stat::describe(&mut entry, &found);
            }
            note.add(&entry).map_err(said)?;
        }
        note.write().map_err(said)?;
        Ok(note.len())
    }
}
