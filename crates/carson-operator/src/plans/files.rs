//! Decisions by file: `approvals/ID.approve` or `.reject` in the home, with the hash in it.
//!
//! Whoever can write there as the home's owner is the operator. A directory or a file that others could have
//! written decides nothing; it is set aside as `….refused`, so that it is said once.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use carson_core::Event;
use carson_home::Home;
use carson_store::Decision;
use tracing::warn;

use super::decide::{Choice, decide};
use crate::refusal::Refusal;

/// Below the home.
const DIR: &str = "approvals";
/// A hash and a line end; more is none.
const MOST: u64 = 200;
/// Files that are looked at in one go.
const AT_ONCE: usize = 50;
const BY: &str = "the operator, by a file";

/// Reads what lies there; how many questions that decided.
pub(super) async fn read(home: &Home) -> Result<u32, Refusal> {
    let root = &home.fleet.layout.root;
    let dir = root.join(DIR);
    let mut decided = 0;
    for (path, id, decision) in found(&dir) {
        let hash = match held(root, &dir, &path) {
            Ok(hash) => hash,
            Err(why) => {
                refuse(home, &path, why).await?;
                continue;
            }
        };
        let choice = Choice {
            id: &id,
            hash: &hash,
            decision,
            by: BY,
        };
        match decide(home, &choice).await {
            Ok(Ok(_)) => {
                decided += 1;
                gone(fs::remove_file(&path), &path);
            }
            // It has its event; and a decision stands, whether its forge answers or not.
            Ok(Err(_)) => set_aside(&path),
            Err(Refusal::Store(error)) => return Err(error.into()),
            Err(error) => {
                warn!(%error, "what was decided by a file is carried out later");
                gone(fs::remove_file(&path), &path);
            }
        }
    }
    Ok(decided)
}

/// The files that would decide something.
fn found(dir: &Path) -> Vec<(PathBuf, String, Decision)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let named = paths.filter_map(|path| {
        let decision = match path.extension()?.to_str()? {
            "approve" => Decision::Approved,
            "reject" => Decision::Rejected,
            _ => return None,
        };
        let id = path.file_stem()?.to_str()?.to_owned();
        Some((path, id, decision))
    });
    let mut all: Vec<_> = named.take(AT_ONCE).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

/// What a file holds that only the home's owner can have written.
fn held(root: &Path, dir: &Path, path: &Path) -> Result<String, &'static str> {
    let unread = "its file cannot be read";
    let owner = fs::metadata(root).map_err(|_| unread)?.uid();
    let place = fs::symlink_metadata(dir).map_err(|_| unread)?;
    if !place.is_dir() || !is_of(owner, &place) {
        return Err("others may write in approvals/: it is to be the home's owner's, mode 0700");
    }
    let file = fs::symlink_metadata(path).map_err(|_| unread)?;
    if !file.is_file() || !is_of(owner, &file) {
        return Err("others may write its file: it is to be the home's owner's, mode 0600");
    }
    if file.len() > MOST {
        return Err("its file holds more than a hash");
    }
    let text = fs::read_to_string(path).map_err(|_| unread)?;
    Ok(text.trim().to_owned())
}

/// Whether it is theirs, and nobody else may write it.
fn is_of(owner: u32, found: &Metadata) -> bool {
    found.uid() == owner && found.mode() & 0o022 == 0
}

async fn refuse(home: &Home, path: &Path, why: &'static str) -> Result<(), Refusal> {
    set_aside(path);
    let by = BY.to_owned();
    let event = Event::ApprovalRefused { by, why };
    home.store
        .event(&event, None, None, home.clock.now())
        .await?;
    Ok(())
}

fn set_aside(path: &Path) {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".refused");
    gone(fs::rename(path, aside), path);
}

fn gone(done: io::Result<()>, path: &Path) {
    if let Err(error) = done {
        warn!(path = %path.display(), %error, "a file of a decision stays where it is");
    }
}
