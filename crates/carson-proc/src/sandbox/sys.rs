//! System calls that no crate wraps. All `unsafe` of the launcher is here.

use std::io;

/// From now on no program that we become gains privileges by being started.
pub(super) fn no_new_privileges() -> io::Result<()> {
    Ok(nix::sys::prctl::set_no_new_privs()?)
}

/// The Landlock ABI of the kernel; 0 for none.
#[expect(unsafe_code, reason = "no crate tells the number")]
pub(super) fn landlock_abi() -> u8 {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the call reads no memory; it answers with a number.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    u8::try_from(abi).unwrap_or(0)
}
