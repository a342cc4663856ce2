//! Mounts by descriptors (Linux 5.12): no path is looked up twice.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::answer::{c_path, check, descriptor};

/// Nothing beneath can be changed.
pub(in crate::sandbox) const ATTR_RDONLY: u64 = 1;
/// No program beneath gains privileges.
pub(in crate::sandbox) const ATTR_NOSUID: u64 = 2;
/// Device files beneath are dead.
pub(in crate::sandbox) const ATTR_NODEV: u64 = 4;
/// No program beneath can be started.
pub(in crate::sandbox) const ATTR_NOEXEC: u64 = 8;

const AT_RECURSIVE: libc::c_uint = 0x8000;
const OPEN_TREE_CLONE: libc::c_uint = 1;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
const FSCONFIG_SET_FLAG: libc::c_uint = 0;
const FSCONFIG_SET_STRING: libc::c_uint = 1;
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
const CLOEXEC: libc::c_uint = 1;

/// `struct mount_attr` of the kernel.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

fn set_attributes(at: i32, path: &CString, flags: u32, attributes: &Attributes) -> io::Result<()> {
    // SAFETY: the path ends with a NUL, and the size is that of the structure.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at,
            path.as_ptr(),
            flags,
            std::ptr::from_ref(attributes),
            size_of::<Attributes>(),
        )
    })
    .map(drop)
}

/// No mount goes from here to elsewhere, nor comes from there.
pub(in crate::sandbox) fn make_private() -> io::Result<()> {
    let attributes = Attributes {
        propagation: libc::MS_PRIVATE,
        ..Attributes::default()
    };
    set_attributes(
        libc::AT_FDCWD,
        &c_path(Path::new("/"))?,
        AT_RECURSIVE,
        &attributes,
    )
}

/// Adds attributes to a mount and to all beneath it.
pub(in crate::sandbox) fn restrict(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    let attributes = Attributes {
        set: attributes,
        ..Attributes::default()
    };
    let flags = AT_RECURSIVE | libc::AT_EMPTY_PATH.cast_unsigned();
    set_attributes(mount.as_raw_fd(), &CString::default(), flags, &attributes)
}

/// Adds attributes to one mount only.
pub(in crate::sandbox) fn restrict_one(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    let attributes = Attributes {
        set: attributes,
        ..Attributes::default()
    };
    let flags = libc::AT_EMPTY_PATH.cast_unsigned();
    set_attributes(mount.as_raw_fd(), &CString::default(), flags, &attributes)
}

/// A copy of what is opened, and of all that is mounted beneath it, mounted nowhere.
pub(in crate::sandbox) fn tree(place: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let empty = libc::AT_EMPTY_PATH.cast_unsigned();
    let flags = OPEN_TREE_CLONE | AT_RECURSIVE | empty | libc::O_CLOEXEC.cast_unsigned();
    let (fd, nothing) = (place.as_raw_fd(), CString::default());
    // SAFETY: the path ends with a NUL.
    descriptor(unsafe { libc::syscall(libc::SYS_open_tree, fd, nothing.as_ptr(), flags) })
}

/// A new file system, mounted nowhere.
pub(in crate::sandbox) fn fresh(
    kind: &str,
    options: &[(&str, &str)],
    flags: &[&str],
    attributes: u64,
) -> io::Result<OwnedFd> {
    let kind = CString::new(kind)?;
    // SAFETY: the name ends with a NUL.
    let context = descriptor(unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), CLOEXEC) })?;
    let fd = context.as_raw_fd();
    for (name, value) in options {
        let (name, value) = (CString::new(*name)?, CString::new(*value)?);
        // SAFETY: both texts end with a NUL, as this command wants them.
        check(unsafe {
            libc::syscall(
                libc::SYS_fsconfig,
                fd,
                FSCONFIG_SET_STRING,
                name.as_ptr(),
                value.as_ptr(),
                0,
            )
        })?;
    }
    let none = std::ptr::null::<libc::c_char>();
    for name in flags {
        let name = CString::new(*name)?;
        // SAFETY: the name ends with a NUL, and this command takes no value.
        check(unsafe {
            libc::syscall(
                libc::SYS_fsconfig,
                fd,
                FSCONFIG_SET_FLAG,
                name.as_ptr(),
                none,
                0,
            )
        })?;
    }
    // SAFETY: this command takes neither a name nor a value.
    check(unsafe { libc::syscall(libc::SYS_fsconfig, fd, FSCONFIG_CMD_CREATE, none, none, 0) })?;
    // SAFETY: numbers only.
    descriptor(unsafe { libc::syscall(libc::SYS_fsmount, fd, CLOEXEC, attributes) })
}

/// Mounts what is mounted nowhere.
pub(in crate::sandbox) fn attach(mount: BorrowedFd<'_>, at: &Path) -> io::Result<()> {
    let at = c_path(at)?;
    let nothing = CString::default();
    // SAFETY: both paths end with a NUL.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mount.as_raw_fd(),
            nothing.as_ptr(),
            libc::AT_FDCWD,
            at.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    })
    .map(drop)
}
