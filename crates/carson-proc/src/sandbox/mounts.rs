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

/// What every program gets, made before it is known which one comes: nothing of it depends on that.
pub(super) struct Common {
    /// By its place, and as what it is there.
    mounts: BTreeMap<PathBuf, (Place, Mounted)>,
    root: OwnedFd,
    proc: OwnedFd,
    dev: OwnedFd,
    terminals: OwnedFd,
    devices: Vec<(&'static str, OwnedFd)>,
}

/// What is mounted nowhere yet, and whether it is a directory.
struct Mounted {
    mount: OwnedFd,
    is_dir: bool,
}

/// Everything that is to be mounted, while the old root can still be seen.
pub(super) struct Parts {
    root: OwnedFd,
    mounts: BTreeMap<PathBuf, Mounted>,
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

impl Common {
    /// Makes it for these namespaces, with the places of a plan of which every other one is expected to have most.
    pub(super) fn make(plan: &Plan, set: &[Ns]) -> Result<Self, String> {
        sys::make_private().step("private mounts")?;
        let mut mounts = BTreeMap::new();
        for (path, place) in &plan.places {
            if let Some(mounted) = mount_of(path, *place).step(path)? {
                mounts.insert(path.clone(), (*place, mounted));
            }
        }
        let proc = if set.contains(&Ns::Pid) {
            let attributes = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC;
            fresh("proc", &[], &[], attributes).step("proc")?
        } else {
            let proc = There::open(Path::new("/proc")).and_then(|proc| tree(proc.fd.as_fd()));
            let proc = proc.step("proc")?;
            restrict(proc.as_fd(), ATTR_RDONLY).step("proc")?;
            proc
        };
        let terminals = [("ptmxmode", "0666"), ("mode", "0620")];
        let terminals = fresh("devpts", &terminals, &[], ATTR_NOSUID | ATTR_NOEXEC);
        Ok(Self {
            mounts,
            root: skeleton().step("a new root")?,
            proc,
            dev: skeleton().step("dev")?,
            terminals: terminals.step("dev/pts")?,
            devices: devices(),
        })
    }

    /// What is made already of what a plan wants there.
    fn take(&mut self, path: &Path, place: Place) -> Option<Mounted> {
        let (made, _) = self.mounts.get(path)?;
        let fits = *made == place;
        fits.then(|| self.mounts.remove(path))
            .flatten()
            .map(|(_, mounted)| mounted)
    }
}

impl Parts {
    /// Collects them for these namespaces, with what is made already.
    pub(super) fn collect(plan: &Plan, set: &[Ns], mut common: Common) -> Result<Self, String> {
        for overlay in &plan.overlays {
            put_together(overlay, set.contains(&Ns::User)).step(&overlay.at)?;
        }
        let mut skeletons = Vec::new();
        let mut mounts = BTreeMap::new();
        for (path, place) in &plan.places {
            let mounted = match common.take(path, *place) {
                Some(mounted) => mounted,
                None => match mount_of(path, *place).step(path)? {
                    Some(mounted) => mounted,
                    None => continue,
                },
            };
            if *place == Place::Covered {
                skeletons.push(mounted.mount.try_clone().step(path)?);
            }
            mounts.insert(path.clone(), mounted);
        }
        let root = match mounts.remove(Path::new("/")) {
            Some(root) => root.mount,
            None => {
                skeletons.push(common.root.try_clone().step("a new root")?);
                common.root
            }
        };
        skeletons.push(common.dev.try_clone().step("dev")?);
        let own = [
            ("/proc", common.proc),
            ("/dev", common.dev),
            ("/dev/pts", common.terminals),
        ];
        let own = own.map(|(path, mount)| {
            (
                path.into(),
                Mounted {
                    mount,
                    is_dir: true,
                },
            )
        });
        mounts.extend(own);
        Ok(Self {
            root,
            mounts,
            devices: common.devices,
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
        for (path, Mounted { mount, is_dir }) in &self.mounts {
            make_place(path, !is_dir).step(path)?;
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

/// What is to be mounted at a path; `None` where there is nothing any more, or a link: then somebody means to lead us
/// elsewhere, and nothing is granted.
fn mount_of(path: &Path, place: Place) -> io::Result<Option<Mounted>> {
    let directory = |mount| {
        Ok(Some(Mounted {
            mount,
            is_dir: true,
        }))
    };
    if place == Place::Scratch {
        return directory(scratch()?);
    }
    let there = match There::open(path).map_err(|error| (error.raw_os_error(), error)) {
        Ok(there) => there,
        Err((Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP), _)) => return Ok(None),
        Err((_, error)) => return Err(error),
    };
    let (source, attributes) = match place {
        Place::Covered if there.is_dir => return directory(skeleton()?),
        Place::Covered => {
            let nothing = There::open(Path::new("/dev/null"))?;
            (nothing, ATTR_RDONLY | ATTR_NODEV)
        }
        Place::Read => (there, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV),
        Place::Scratch | Place::Write => (there, ATTR_NOSUID | ATTR_NODEV),
    };
    let mount = tree(source.fd.as_fd())?;
    restrict(mount.as_fd(), attributes)?;
    let is_dir = source.is_dir;
    Ok(Some(Mounted { mount, is_dir }))
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
