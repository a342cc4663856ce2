//! Trees that are put together of others: overlayfs.
//!
//! What is below is never written; what is written goes above it, on a directory that stays when the
//! mount goes with its namespace, and can be put together again. The names of what was removed, and of
//! directories that were replaced or renamed, stand there as marks of the kernel's own
//! (Documentation/filesystems/overlayfs.rst of Linux), so nobody but the kernel reads such a directory.
//!
//! What is written reaches the disk when the machine pleases (`volatile`): otherwise every such tree that goes waits for
//! whatever anybody has written on that file system, and a session ends as late as the slowest neighbour's build. What
//! must not be lost is synced by who keeps it: work when it is looked at, a layer before it appears.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One such tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// Where it is seen: an empty directory of the machine's, for this alone.
    pub at: PathBuf,
    /// What is below, the topmost first. These must not change meanwhile.
    pub lower: Vec<PathBuf>,
    /// Where what is written goes; `None` for a tree that is only read.
    pub upper: Option<Upper>,
    /// In which form the kernel leaves its marks.
    pub marks: Marks,
    /// Whether a directory from below can be renamed in one step, where the marks allow it: what is above
    /// says then which directory below it was.
    pub renames: bool,
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upper {
    /// The directory that stays.
    pub dir: PathBuf,
    /// The kernel's own directory, empty, on the same file system.
    pub work: PathBuf,
}

/// In which form the kernel leaves its marks in what is written. A tree keeps its form: marks of the
/// other are not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marks {
    /// As anybody may have them. A directory from below is not renamed in one step (EXDEV): programs
    /// copy it, or say that they cannot.
    #[default]
    User,
    /// As root alone may have them.
    Trusted,
}

impl Overlay {
    /// The same tree, to be read only.
    #[must_use]
    pub fn read_only(&self) -> Self {
        let above = self.upper.iter().map(|upper| upper.dir.clone());
        Self {
            lower: above.chain(self.lower.iter().cloned()).collect(),
            upper: None,
            ..self.clone()
        }
    }

    /// Every path that it names.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let upper = self
            .upper
            .iter()
            .flat_map(|upper| [&upper.dir, &upper.work]);
        std::iter::once(&self.at).chain(&self.lower).chain(upper)
    }
}

#[cfg(target_os = "linux")]
pub(super) use mounting::put_together;

#[cfg(target_os = "linux")]
mod mounting {
    use std::io;
    use std::os::fd::{AsFd as _, AsRawFd as _};
    use std::path::Path;

    use nix::errno::Errno;
    use nix::unistd::{UnlinkatFlags, unlinkat};

    use super::{Marks, Overlay};
    use crate::sandbox::sys::{ATTR_NODEV, ATTR_NOSUID, attach, fresh, tree};
    use crate::sandbox::there::There;

    /// Mounts it where it is to be seen. `own_users`: whether users have a namespace of their own.
    pub(in crate::sandbox) fn put_together(overlay: &Overlay, own_users: bool) -> io::Result<()> {
        if overlay.marks == Marks::Trusted && own_users {
            return Err(io::Error::other("its marks are root's"));
        }
        let lower: io::Result<Vec<There>> = overlay.lower.iter().map(open).collect();
        let lower = lower?;
        let upper = overlay.upper.as_ref();
        let mount = match (lower.as_slice(), upper) {
            // Layers of one directory are that directory.
            ([only], None) => tree(only.fd.as_fd())?,
            ([], Some(upper)) => tree(open(&upper.dir)?.fd.as_fd())?,
            _ => {
                let named = |there: &There| format!("/proc/self/fd/{}", there.fd.as_raw_fd());
                let below: Vec<String> = lower.iter().map(named).collect();
                let below = below.join(":");
                let mut options = vec![("lowerdir", below.as_str()), ("index", "off")];
                let above = match upper {
                    Some(upper) => Some((open(&upper.dir)?, open(&upper.work)?)),
                    None => None,
                };
                let above_named = above.as_ref().map(|(dir, work)| (named(dir), named(work)));
                if let Some((dir, work)) = &above_named {
                    options.extend([("upperdir", dir.as_str()), ("workdir", work.as_str())]);
                }
                let redirect = match (overlay.marks, upper) {
                    (Marks::User, _) => None,
                    (Marks::Trusted, Some(_)) if overlay.renames => Some("on"),
                    (Marks::Trusted, Some(_)) => Some("nofollow"),
                    (Marks::Trusted, None) => Some("follow"),
                };
                if let Some(redirect) = redirect {
                    options.extend([("redirect_dir", redirect), ("metacopy", "off")]);
                }
                let mut flags = Vec::new();
                flags.extend((overlay.marks == Marks::User).then_some("userxattr"));
                if let Some((_, work)) = &above {
                    forget_last_time(work)?;
                    flags.push("volatile");
                }
                fresh("overlay", &options, &flags, ATTR_NOSUID | ATTR_NODEV)?
            }
        };
        attach(mount.as_fd(), &overlay.at)
    }

    /// The kernel refuses a tree that was not synced as long as its note stands there: if the machine went down
    /// meanwhile, what is above may be torn, as what nobody synced always may. Whoever reads it reads every byte again.
    fn forget_last_time(work: &There) -> io::Result<()> {
        let notes = [
            ("work/incompat/volatile/dirty", UnlinkatFlags::NoRemoveDir),
            ("work/incompat/volatile", UnlinkatFlags::RemoveDir),
            ("work/incompat", UnlinkatFlags::RemoveDir),
        ];
        for (note, kind) in notes {
            match unlinkat(&work.fd, note, kind) {
                Ok(()) | Err(Errno::ENOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn open(path: impl AsRef<Path>) -> io::Result<There> {
        let path = path.as_ref();
        There::open(path).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
    }
}
