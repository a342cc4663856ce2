//! What a system call is given and answers, in words of Rust.

use std::ffi::CString;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(super) fn check(answer: libc::c_long) -> io::Result<libc::c_long> {
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer)
}

pub(super) fn descriptor(answer: libc::c_long) -> io::Result<OwnedFd> {
    let fd = i32::try_from(check(answer)?).map_err(io::Error::other)?;
    // SAFETY: the call has just made it, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

pub(super) fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}
