//! System calls that no crate wraps.

#![expect(
    unsafe_code,
    reason = "system calls of the launcher; each block says why it is sound"
)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;

use nix::sched::CloneFlags;
use nix::unistd::Pid;

use self::answer::{c_path, check};

pub(super) use self::mount_calls::{ATTR_NODEV, ATTR_NOEXEC, ATTR_NOSUID, ATTR_RDONLY};
pub(super) use self::mount_calls::{attach, fresh, make_private, restrict, restrict_one, tree};

mod answer;
mod mount_calls;

/// The Landlock ABI of the kernel; 0 for none.
pub(super) fn landlock_abi() -> u8 {
    const VERSION: u32 = 1;
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call reads no memory; it answers with a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0_usize, VERSION) };
    u8::try_from(abi).unwrap_or(0)
}

/// Forks into new namespaces; `None` in the child. Only while there is one thread.
pub(super) fn fork_into(namespaces: CloneFlags) -> io::Result<Option<Pid>> {
    let flags = libc::c_long::from(namespaces.bits() | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and without a stack this is fork(2): the child has a copy of all
    // our memory. The launcher has one thread, so that no lock is held by another one.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    let pid = i32::try_from(check(pid)?).map_err(io::Error::other)?;
    Ok((pid != 0).then(|| Pid::from_raw(pid)))
}

/// Forks into new namespaces and into a control group of version 2; `None` in the child. Only while
/// there is one thread.
pub(super) fn fork_into_group(
    namespaces: CloneFlags,
    group: BorrowedFd<'_>,
) -> io::Result<Option<Pid>> {
    // linux/sched.h; the constant of the crate has lost its upper half.
    const INTO_CGROUP: u64 = 0x2_0000_0000;
    let number = |number: i32| u64::try_from(number).map_err(io::Error::other);
    // SAFETY: all zeros are valid arguments: no stack, nothing to be written.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.flags = number(namespaces.bits())? | INTO_CGROUP;
    args.exit_signal = number(libc::SIGCHLD)?;
    args.cgroup = number(group.as_raw_fd())?;
    // SAFETY: as above, and the size is that of the arguments.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of_val(&args)) };
    let pid = i32::try_from(check(pid)?).map_err(io::Error::other)?;
    Ok((pid != 0).then(|| Pid::from_raw(pid)))
}

/// Marks everything above standard error to be closed when a program is started.
pub(super) fn close_at_exec() {
    let first: libc::c_uint = 3;
    // SAFETY: descriptors are marked, none is closed under its owner.
    let done = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    if done == 0 {
        return;
    }
    for fd in 3..4096 {
        // SAFETY: as above; a number that is no descriptor is an error that changes nothing.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Gives up every capability, and that a program gets any by being started. What remains of them;
/// 0 if all is well.
pub(super) fn drop_capabilities() -> u64 {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    for capability in 0..64 {
        // SAFETY: numbers only. One that does not exist, or that may not be dropped, is an error
        // that changes nothing.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    // SAFETY: numbers only.
    unsafe {
        libc::prctl(
            libc::PR_CAP_AMBIENT,
            libc::PR_CAP_AMBIENT_CLEAR_ALL,
            0,
            0,
            0,
        )
    };
    let mut header = Header {
        version: VERSION_3,
        pid: 0,
    };
    let none = [0_u32; 6];
    // SAFETY: the header and the two times three words are as capset(2) describes version 3.
    unsafe { libc::syscall(libc::SYS_capset, &raw mut header, none.as_ptr()) };
    let mut held = [0_u32; 6];
    // SAFETY: as above; the kernel writes the two times three words.
    unsafe { libc::syscall(libc::SYS_capget, &raw mut header, held.as_mut_ptr()) };
    u64::from(held[0]) | u64::from(held[1]) << 32
}

/// Brings the loopback interface of our network namespace up.
pub(super) fn loopback_up() -> io::Result<()> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    let socket = socket(
        AddressFamily::Inet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    // SAFETY: all zeros is a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_flags = libc::IFF_UP.try_into().map_err(io::Error::other)?;
    // SAFETY: the request names an interface and its flags, as netdevice(7) describes it.
    check(unsafe {
        libc::c_long::from(libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCSIFFLAGS,
            &raw const request,
        ))
    })
    .map(drop)
}

/// Nobody of our user may look into this process, and it leaves no core.
pub(super) fn be_undumpable() {
    let _ = nix::sys::prctl::set_dumpable(false);
}

/// Whether the service manager has left a control group to us.
pub(super) fn is_delegated(group: &Path) -> bool {
    let Ok(group) = c_path(group) else {
        return false;
    };
    [c"user.delegate", c"trusted.delegate"].iter().any(|name| {
        let mut value = [0_u8; 1];
        // SAFETY: both texts end with a NUL, and the size is that of the buffer.
        let length = unsafe {
            libc::getxattr(
                group.as_ptr(),
                name.as_ptr(),
                value.as_mut_ptr().cast(),
                value.len(),
            )
        };
        length == 1 && value == *b"1"
    })
}

/// Forks; `None` in the child. Only while there is one thread.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    fork_into(CloneFlags::empty())
}

/// Changes to a directory that is held.
pub(super) fn enter(directory: BorrowedFd<'_>) -> io::Result<()> {
    Ok(nix::unistd::fchdir(directory)?)
}
