//! Where objects of a session are judged before the mirror has them.
//!
//! A throwaway repository beside the mirror: its configuration is ours, its alternates are the
//! mirror's objects, and its own objects are the plain object files of the session's repository.
//! What is wanted goes from here into the mirror by `git fetch`, which computes every name anew,
//! checks the form of every object and that everything they lead to is there. Nothing else of the
//! session's repository is seen by git: no configuration, no alternates, no grafts, no indexes of
//! many packs.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use crate::error::{GitError, io};
use crate::foreign::Foreign;
use crate::git::{Git, LOCAL};
use crate::mirror::{Mirror, read};
use crate::oid::Oid;
use crate::plain::{Within, walk};
use crate::scratch::ScratchDir;

/// Object files beyond this many are not looked at; what they hold stays where it is.
const MOST: usize = 2_000_000;
/// A repository's alternates are followed this deep, as git does.
const DEEP: usize = 5;

/// The throwaway repository; it goes with the value.
pub(crate) struct Quarantine {
    dir: ScratchDir,
    mirror: Mirror,
}

impl Quarantine {
    /// With the objects of these repositories. Those of the mirror are there in any case.
    pub(crate) async fn of(mirror: &Mirror, sources: Vec<Foreign>) -> Result<Self, GitError> {
        let dir = ScratchDir::new(mirror.path(), "quarantine")?;
        let (path, objects) = (dir.path().to_owned(), mirror.path().join("objects"));
        let filled = tokio::task::spawn_blocking(move || {
            skeleton(&path, &objects)?;
            let own = Within::of(&objects);
            for source in sources {
                fill(
                    &path,
                    &source.common.join("objects"),
                    &source.within,
                    own.as_ref(),
                    DEEP,
                )?;
            }
            Ok(())
        });
        let filled = filled
            .await
            .unwrap_or_else(|panic| Err(std::io::Error::other(panic)));
        filled.map_err(|source| io(dir.path(), source))?;
        Ok(Self {
            dir,
            mirror: mirror.clone(),
        })
    }

    /// A command in here.
    pub(crate) fn git(&self, verb: &str) -> Git {
        Git::new(self.dir.path(), verb)
    }

    /// Reads with libgit2.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        judge: impl FnOnce(&git2::Repository) -> Result<T, git2::Error> + Send + 'static,
    ) -> Result<T, GitError> {
        read(self.dir.path().to_owned(), judge).await
    }

    /// Takes objects, and all that they lead to, into the mirror; all of them or none. `base` is a
    /// commit that both have. With a ref's name the mirror keeps the object under it.
    pub(crate) async fn release(
        &self,
        wants: &[(Oid, Option<String>)],
        base: &Oid,
    ) -> Result<(), GitError> {
        let mut list = String::new();
        for (oid, kept) in wants {
            list.push_str(oid.as_str());
            if let Some(kept) = kept {
                list.push(':');
                list.push_str(kept);
            }
            list.push('\n');
        }
        let fetch = self.mirror.git("fetch").within(LOCAL).args([
            "--quiet",
            "--stdin",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
        ]);
        fetch
            .arg(format!("--negotiation-tip={base}"))
            .arg("--")
            .arg(self.dir.path())
            .config("fetch.fsckObjects", "true")
            .env("GIT_ALLOW_PROTOCOL", "file")
            .env("GIT_NO_LAZY_FETCH", "1")
            .stdin(list.into_bytes())
            .text()
            .await
            .map(drop)
    }
}

/// What makes a directory a repository.
fn skeleton(dir: &Path, objects: &Path) -> std::io::Result<()> {
    for name in ["objects/info", "objects/pack", "refs"] {
        fs::create_dir_all(dir.join(name))?;
    }
    fs::write(dir.join("HEAD"), "ref: refs/heads/none\n")?;
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\
                  [uploadpack]\n\tallowAnySHA1InWant = true\n";
    fs::write(dir.join("config"), config)?;
    fs::write(dir.join("objects/info/alternates"), alternate(objects))
}

/// A line of an alternates file.
pub(crate) fn alternate(objects: &Path) -> Vec<u8> {
    let mut line = objects.as_os_str().as_encoded_bytes().to_vec();
    line.push(b'\n');
    line
}

/// Links the object files at `from` into the repository at `dir`.
fn fill(
    dir: &Path,
    from: &Path,
    within: &Within,
    mirror: Option<&Within>,
    deep: usize,
) -> std::io::Result<()> {
    // One that is or leads to the mirror's is there already; one elsewhere is not the session's.
    if mirror.is_some_and(|mirror| mirror.dir(from).is_some()) {
        return Ok(());
    }
    let Some(from) = within.dir(from) else {
        return Ok(());
    };
    let to = dir.join("objects");
    let mut failed = None;
    walk(&from, MOST, |file, name| {
        if is_object(name) && failed.is_none() {
            failed = adopt(file, &to.join(name)).err();
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let more = within.tail(&from.join("info/alternates"), 1 << 20);
    let more = String::from_utf8_lossy(&more.unwrap_or_default()).into_owned();
    for line in more.lines().filter(|line| deep > 0 && !line.is_empty()) {
        fill(dir, &from.join(line), within, mirror, deep - 1)?;
    }
    Ok(())
}

/// `ab/<38 digits>`, or a pack with its index; nothing else that may lie there is an object.
fn is_object(name: &Path) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Vec<&OsStr> = name.iter().collect();
    let [dir, file] = parts.as_slice() else {
        return false;
    };
    match (dir.to_str(), file.to_str()) {
        (Some("pack"), Some(file)) => {
            file.starts_with("pack-") && (file.ends_with(".pack") || file.ends_with(".idx"))
        }
        (Some(dir), Some(file)) => {
            dir.len() == 2 && file.len() == 38 && is_hex(dir) && is_hex(file)
        }
        _ => false,
    }
}

/// A second name for the file; a copy where the file system has no such thing.
fn adopt(file: &Path, to: &Path) -> std::io::Result<()> {
    let found = file.symlink_metadata()?;
    // Git writes objects that their owner may read; without that right they cannot be saved.
    if found.mode() & 0o400 == 0 {
        let _ = fs::set_permissions(file, Permissions::from_mode(found.mode() | 0o400));
    }
    let link = || match fs::hard_link(file, to) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    };
    let linked = link().or_else(|_| {
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        link()
    });
    // Unreadable to us means missing, and that is said when it is wanted.
    match linked {
        Ok(()) => Ok(()),
        Err(_) => fs::copy(file, to).map(drop).or_else(|_| forget(to)),
    }
}

fn forget(path: &Path) -> std::io::Result<()> {
    let _ = fs::remove_file(path);
    Ok(())
}
