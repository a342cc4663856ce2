//! The store of what sessions made and is kept.
//!
//! It borrows the mirror's objects and has those of sessions for its own. No bench sees it: what one
//! session made, and perhaps a key that was caught on its way out, is not to be found in what the
//! next one borrows. The firings' branches are pushed from here.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bare::Bare;
use crate::config::Own;
use crate::durable;
use crate::error::{GitError, io};
use crate::idle_ref::IdleRef;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::remote::Remote;
use crate::skeleton::{is_pack, skeleton};
use crate::torn;

/// The store that belongs to a mirror. Cheap to make; it appears when something is first kept.
#[derive(Clone, Debug)]
pub struct Kept {
    pub(crate) bare: Bare,
    pub(crate) remote: Remote,
    mirror: PathBuf,
}

impl Mirror {
    /// The store beside this mirror: `kept/` where the mirror lies in `mirrors/`.
    #[must_use]
    pub fn kept(&self) -> Kept {
        let mirror = self.path().to_owned();
        let name = mirror.file_name().unwrap_or_default();
        let above = mirror.parent().unwrap_or(&mirror);
        let path = above.with_file_name("kept").join(name);
        let own = Own::without_remote(path.clone());
        Kept {
            bare: Bare::new(path, own),
            remote: self.remote.clone(),
            mirror,
        }
    }
}

impl Kept {
    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.bare.path()
    }

    /// What lies between two commits, as text for people: a summary of the files, then the changes.
    /// `None` where one of them is not there any more.
    ///
    /// # Errors
    /// When git does not run, or there is more than anybody reads.
    pub async fn diff(&self, base: &str, tip: &str) -> Result<Option<String>, GitError> {
        let (Ok(base), Ok(tip)) = (base.parse::<Oid>(), tip.parse::<Oid>()) else {
            return Ok(None);
        };
        if !self.path().is_dir() {
            return Ok(None);
        }
        let (from, to) = (base.git2(), tip.git2());
        let known = self
            .bare
            .read(move |repo| Ok(repo.find_commit(from).is_ok() && repo.find_commit(to).is_ok()));
        if !known.await? {
            return Ok(None);
        }
        let diff = self.bare.git("diff");
        let diff = diff.args([
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--stat",
            "-p",
        ]);
        let text = diff.args([base.as_str(), tip.as_str(), "--"]).text();
        text.await.map(Some)
    }

    /// What a full ref name points to there.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn at(&self, name: &str) -> Result<Option<Oid>, GitError> {
        if !self.path().is_dir() {
            return Ok(None);
        }
        self.bare.ref_target(name).await
    }

    /// Makes it where it is missing. It appears whole or not at all.
    pub(crate) fn make(&self) -> Result<(), GitError> {
        if self.path().join("HEAD").is_file() {
            return torn::mend_head(self.path());
        }
        let half = self
            .path()
            .with_extension(format!("{}", std::process::id()));
        let own = Own::without_remote(self.path().to_owned());
        let made = skeleton(&half, &self.mirror.join("objects"), own.text());
        made.and_then(|()| fs::rename(&half, self.path()))
            .or_else(|error| match self.path().join("HEAD").is_file() {
                // Another process was faster.
                true => fs::remove_dir_all(&half),
                false => Err(error),
            })
            .map_err(|source| io(self.path(), source))?;
        durable::tree(self.path())?;
        durable::name(self.path(), self.path().parent().unwrap_or(self.path()))
    }

    /// Takes a pack over that the inspector made and checked, durably.
    pub(crate) fn adopt(&self, from: &Path, name: &str) -> Result<(), GitError> {
        self.make()?;
        let to = self.path().join("objects/pack");
        if !is_pack(name) {
            return Err(GitError::Failed {
                verb: "index-pack".into(),
                detail: "the inspector names no pack".into(),
            });
        }
        // The index last: without it the pack is not there.
        for ending in ["pack", "idx"] {
            let file = Path::new(name).with_extension(ending);
            let (from, to) = (from.join(&file), to.join(&file));
            take(&from, &to).map_err(|source| io(&from, source))?;
        }
        durable::name(&to.join(name), &to)
    }

    /// Keeps a commit under `refs/carson/salvage/<firing>`; the ref's name. What the ref held
    /// before stays reachable: when the commit does not descend from it, a number is appended.
    ///
    /// # Errors
    /// When the ref cannot be written.
    pub async fn keep_ref(&self, firing: &str, oid: &Oid) -> Result<String, GitError> {
        self.make()?;
        let (mut name, mut next) = (format!("refs/carson/salvage/{firing}"), 2);
        loop {
            let held = self.bare.ref_target(&name).await?;
            let free = match &held {
                None => true,
                Some(held) => self.bare.descends(oid, held).await?,
            };
            if free {
                self.bare.move_ref(&name, oid, held.as_ref()).await?;
                // The row is going to say that it is there.
                durable::name(&self.path().join(&name), self.path())?;
                return Ok(name);
            }
            name = format!("refs/carson/salvage/{firing}-{next}");
            next += 1;
        }
    }

    /// Removes refs that nothing needs any more.
    ///
    /// # Errors
    /// When one moved, or could not be removed.
    pub async fn delete_refs(&self, all: &[IdleRef]) -> Result<(), GitError> {
        self.bare.delete_refs(all).await
    }
}

/// A second name for a plain file, or a copy on another file system; on the disk when it is done.
pub(crate) fn take(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.symlink_metadata()?.is_file() {
        return Err(std::io::Error::other("it is no plain file"));
    }
    match fs::hard_link(from, to) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
        Err(_) => {
            fs::copy(from, to)?;
        }
        Ok(()) => {}
    }
    fs::File::open(to)?.sync_all()
}
