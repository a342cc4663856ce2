//! A root of our own in which only what was granted exists.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, umount2};
use nix::unistd::pivot_root;

use crate::sandbox::landlock::DEVICES;
use crate::sandbox::level::Ns;
use crate::sandbox::overlay::put_together;
use crate::sandbox::plan::{Place, Plan};
use crate::sandbox::sys::{
    self, ATTR_NODEV, ATTR_NOEXEC, ATTR_NOSUID, ATTR_RDONLY, attach, fresh, restrict, tree,
};
use crate::sandbox::there::There;

/// Room in each file system of our own that can be written.
const SCRATCH: &str = "256m";

/// Room in those that hold nothing but places to mount at.
const SKELETON: &str = "1m";

/// Everything that is to be mounted, while the old root can still be seen.
pub(super) struct Parts {
    root: OwnedFd,
    mounts: BTreeMap<PathBuf, (OwnedFd, bool)>,
    devices: Vec<(&'static str, OwnedFd)>,
    /// What is complete only when everything is in its place, and is then made read-only.
    skeletons: Vec<OwnedFd>,
    links: BTreeMap<PathBuf, PathBuf>,
}

/// Says which step it was that failed.
trait Step<T> {
    fn step(self, what: impl AsRef<Path>) -> Result<T, String>;
}

impl<T> Step<T> for io::Result<T> {
    fn step(self, what: impl AsRef<Path>) -> Result<T, String> {
        self.map_err(|error| format!("{}: {error}", what.as_ref().display()))
    }
}

impl Parts {
    /// Collects them for these namespaces.
    pub(super) fn collect(plan: &Plan, set: &[Ns]) -> Result<Self, String> {
        sys::make_private().step("private mounts")?;
        for overlay in &plan.overlays {
            put_together(overlay, set.contains(&Ns::User)).step(&overlay.at)?;
        }
        let own_proc = set.contains(&Ns::Pid);
        let mut skeletons = Vec::new();
        let mut mounts = BTreeMap::new();
        for (path, place) in &plan.places {
            let Some((mount, is_dir)) = mount_of(path, *place).step(path)? else {
                continue;
            };
            if *place == Place::Covered {
                skeletons.push(mount.try_clone().step(path)?);
            }
            mounts.insert(path.clone(), (mount, *place != Place::Covered && !is_dir));
        }
        let root = match mounts.remove(Path::new("/")) {
            Some((root, _)) => root,
            None => {
                let root = skeleton().step("a new root")?;
                skeletons.push(root.try_clone().step("a new root")?);
                root
            }
        };
        let proc = if own_proc {
            let attributes = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC;
            fresh("proc", &[], &[], attributes).step("proc")?
        } else {
            let proc = There::open(Path::new("/proc")).and_then(|proc| tree(proc.fd.as_fd()));
            let proc = proc.step("proc")?;
            restrict(proc.as_fd(), ATTR_RDONLY).step("proc")?;
            proc
        };
        mounts.insert("/proc".into(), (proc, false));
        let dev = skeleton().step("dev")?;
        skeletons.push(dev.try_clone().step("dev")?);
        mounts.insert("/dev".into(), (dev, false));
        let terminals = [("ptmxmode", "0666"), ("mode", "0620")];
        let terminals = fresh("devpts", &terminals, &[], ATTR_NOSUID | ATTR_NOEXEC);
        mounts.insert("/dev/pts".into(), (terminals.step("dev/pts")?, false));
        Ok(Self {
            root,
            mounts,
            devices: devices(),
            skeletons,
            links: plan.links.clone(),
        })
    }

    /// Changes over to the new root; the old one is gone then.
    pub(super) fn put_together(self) -> Result<(), String> {
        attach(self.root.as_fd(), Path::new("/")).step("the new root")?;
        sys::enter(self.root.as_fd()).step("the new root")?;
        pivot_root(".", ".")
            .map_err(io::Error::from)
            .step("the new root")?;
        umount2(".", MntFlags::MNT_DETACH)
            .map_err(io::Error::from)
            .step("the old root")?;
        nix::unistd::chdir("/")
            .map_err(io::Error::from)
            .step("the new root")?;
        for (path, (mount, is_file)) in &self.mounts {
            make_place(path, *is_file).step(path)?;
            attach(mount.as_fd(), path).step(path)?;
        }
        for (path, device) in &self.devices {
            make_place(Path::new(path), true).step(path)?;
            attach(device.as_fd(), Path::new(path)).step(path)?;
        }
        self.links();
        for skeleton in &self.skeletons {
            sys::restrict_one(skeleton.as_fd(), ATTR_RDONLY).step("read-only")?;
        }
        Ok(())
    }

    /// Links, where they are not there already as part of what was granted.
    fn links(&self) {
        let own = [
            ("/dev/fd", "/proc/self/fd"),
            ("/dev/stdin", "/proc/self/fd/0"),
            ("/dev/stdout", "/proc/self/fd/1"),
            ("/dev/stderr", "/proc/self/fd/2"),
            ("/dev/ptmx", "pts/ptmx"),
        ];
        let own = own.map(|(path, target)| (Path::new(path), Path::new(target)));
        let granted = self
            .links
            .iter()
            .map(|(path, target)| (path.as_path(), target.as_path()));
        for (path, target) in granted.chain(own) {
            // One that is there, or lies in what cannot be written, is part of a granted tree.
            if let Some(parent) = path.parent() {
                let _ = fs::create_dir_all(parent);
            }
            let _ = symlink(target, path);
        }
    }
}

/// What is to be mounted at a path, and whether that is a directory; `None` where there is nothing
/// any more, or a link: then somebody means to lead us elsewhere, and nothing is granted.
fn mount_of(path: &Path, place: Place) -> io::Result<Option<(OwnedFd, bool)>> {
    if place == Place::Scratch {
        return Ok(Some((scratch()?, true)));
    }
    let there = match There::open(path).map_err(|error| (error.raw_os_error(), error)) {
        Ok(there) => there,
        Err((Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP), _)) => return Ok(None),
        Err((_, error)) => return Err(error),
    };
    let (source, attributes) = match place {
        Place::Covered if there.is_dir => return Ok(Some((skeleton()?, true))),
        Place::Covered => {
            let nothing = There::open(Path::new("/dev/null"))?;
            (nothing, ATTR_RDONLY | ATTR_NODEV)
        }
        Place::Read => (there, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV),
        Place::Scratch | Place::Write => (there, ATTR_NOSUID | ATTR_NODEV),
    };
    let mount = tree(source.fd.as_fd())?;
    restrict(mount.as_fd(), attributes)?;
    Ok(Some((mount, source.is_dir)))
}

fn skeleton() -> io::Result<OwnedFd> {
    let options = [("size", SKELETON), ("mode", "0755")];
    fresh("tmpfs", &options, &[], ATTR_NOSUID | ATTR_NODEV)
}

fn scratch() -> io::Result<OwnedFd> {
    let options = [("size", SCRATCH), ("mode", "1777")];
    fresh("tmpfs", &options, &[], ATTR_NOSUID | ATTR_NODEV)
}

/// The devices of this machine that every program expects; `/dev/ptmx` is that of our own
/// terminals.
fn devices() -> Vec<(&'static str, OwnedFd)> {
    DEVICES
        .into_iter()
        .filter(|path| *path != "/dev/ptmx")
        .filter_map(|path| Some((path, There::open(Path::new(path)).ok()?)))
        .filter_map(|(path, device)| Some((path, tree(device.fd.as_fd()).ok()?)))
        .collect()
}

/// Something to mount at, where there is nothing yet.
fn make_place(path: &Path, is_file: bool) -> io::Result<()> {
    let made = match make(path, is_file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            make(path, is_file)
        }
        made => made,
    };
    made.or_else(|error| fs::symlink_metadata(path).map(drop).map_err(|_| error))
}

fn make(path: &Path, is_file: bool) -> io::Result<()> {
    match is_file {
        false => fs::create_dir(path),
        true => fs::File::create_new(path)?.set_permissions(fs::Permissions::from_mode(0o644)),
    }
}
