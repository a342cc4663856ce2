//! Makes a tree what it was.

use std::path::Path;

use super::beneath::{Stands, Top};
use super::change::Change;
use super::contents::Contents;
use super::entry::{Entry, What};
use super::error::TreeError;
use super::path::TreePath;
use super::snapshot::Missed;

/// Undoes changes: what stood before each stands there again, byte for byte, with its mode. Directories are
/// only taken away when they are empty: what is ignored in them stays.
///
/// What cannot be put back is in the answer, with why; the rest is.
///
/// # Errors
/// When the top of the tree cannot be opened.
pub fn undo(
    root: &Path,
    contents: &Contents,
    changes: &[Change],
) -> Result<Vec<Missed>, TreeError> {
    let undoing = Undoing {
        top: Top::open(root).map_err(TreeError::io(root))?,
        contents,
    };
    let mut missed = Vec::new();
    let mut tell = |path: &TreePath, done: Result<(), String>| {
        if let Err(why) = done {
            missed.push(Missed {
                path: path.clone(),
                why,
            });
        }
    };
    // What is in a directory goes before it; what is to be in one comes after it.
    for change in changes.iter().rev().filter(|change| goes(change)) {
        tell(&change.path, undoing.remove(change));
    }
    for change in changes {
        if let Some(before) = &change.before {
            tell(
                &change.path,
                undoing.put(&change.path, before, change.after.as_ref()),
            );
        }
    }
    undoing.close(changes);
    Ok(missed)
}

/// What is told where there is no directory to put something into.
const NO_DIR: &str = "something else stands where its directory was";

/// Whether something must go before something else can stand there.
fn goes(change: &Change) -> bool {
    match (&change.before, &change.after) {
        (None, Some(_)) => true,
        (Some(before), Some(after)) => before.is_dir() != after.is_dir(),
        (_, None) => false,
    }
}

/// Whether it is a directory that its owner may not look into.
fn is_closed(change: &Change) -> bool {
    let mode = change.after.as_ref().map_or(0, |after| after.mode);
    mode & 0o700 != 0o700
}

struct Undoing<'u> {
    top: Top,
    contents: &'u Contents,
}

impl Undoing<'_> {
    fn remove(&self, change: &Change) -> Result<(), String> {
        let is_dir = change.after.as_ref().is_some_and(Entry::is_dir);
        let stands = self.top.stands(&change.path).map_err(said)?;
        match (stands, is_dir) {
            (Stands::Nothing, _) => Ok(()),
            (Stands::Dir, true) => match self.top.remove(&change.path, true) {
                // What is ignored in it stays, and is nobody's business, unless something else is to
                // stand here. One that was closed was not looked into: the next look sees what is to go.
                Err(_) if change.before.is_none() => match is_closed(change) {
                    true => self.top.set_mode(&change.path, 0o700).map_err(said),
                    false => Ok(()),
                },
                Err(error) => Err(format!("a directory stands there: {error}")),
                Ok(()) => Ok(()),
            },
            (Stands::Other, false) => self.top.remove(&change.path, false).map_err(said),
            _ => Err("somebody put something else there meanwhile".to_owned()),
        }
    }

    fn put(&self, path: &TreePath, before: &Entry, after: Option<&Entry>) -> Result<(), String> {
        if after.is_some_and(|after| after.what == before.what && !before.is_dir()) {
            return self.top.set_mode(path, before.mode).map_err(said);
        }
        match &before.what {
            What::File { hash, .. } => {
                let fill = |file: &mut std::fs::File| {
                    let copied = self.contents.copy(hash, file);
                    copied.map(|_| ()).map_err(Told::from)
                };
                let put = self.top.put_file(path, before.mode, fill);
                put.map_err(|told| told.0)
            }
            What::Link { to } => self.top.put_link(path, &to.0).map_err(said),
            What::Dir => self.top.make_dir(path).map_err(said),
            What::Fifo => {
                let put = self.top.put_fifo(path);
                put.and_then(|()| self.top.set_mode(path, before.mode))
                    .map_err(said)
            }
            What::Unread { .. } => {
                Err("it was too large or might not be read, and nothing of it is kept".to_owned())
            }
            What::Socket | What::Device => Err(format!(
                "it was a {}, of which nothing is kept",
                before.what
            )),
        }
    }
}

impl Undoing<'_> {
    /// Gives directories their modes: those that come back, and those that had to be opened up.
    fn close(&self, changes: &[Change]) {
        let mut modes = self.top.opened();
        let dirs = changes.iter().filter_map(|change| {
            let before = change.before.as_ref().filter(|before| before.is_dir())?;
            Some((change.path.clone(), before.mode))
        });
        modes.extend(dirs);
        // Those inside first: a closed one is not entered.
        for (path, mode) in modes.iter().rev() {
            // One that is not there was told.
            let _ = self.top.set_mode(path, *mode);
        }
    }
}

/// Why a file could not be put back.
struct Told(String);

impl From<std::io::Error> for Told {
    fn from(error: std::io::Error) -> Self {
        Self(said(error))
    }
}

impl From<TreeError> for Told {
    fn from(error: TreeError) -> Self {
        Self(error.to_string())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn said(error: std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotADirectory => NO_DIR.to_owned(),
        _ => error.to_string(),
    }
}
