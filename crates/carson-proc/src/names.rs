//! Names of hosts and users in a program that no library is loaded into.

/// From now on libc looks names up by itself: hosts in `/etc/hosts` and by DNS, users and groups in `/etc/passwd` and
/// `/etc/group`.
///
/// Static programs call it before there is a second thread. The glibc in them would load the modules that
/// `/etc/nsswitch.conf` names, which are the machine's: `libnss_systemd` of Debian 12 ends it by SIGSEGV, even beside the
/// same glibc (see its FAQ, "Even statically linked programs need some shared libraries"). What is set here names only
/// what it holds itself, since 2.34. Another libc has no modules.
pub fn look_names_up_alone() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::set_sources();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::ffi::CStr;

    use nix::libc::{c_char, c_int};

    /// Where each kind of name is looked up, as in `/etc/nsswitch.conf`.
    const SOURCES: [(&CStr, &CStr); 4] = [
        (c"hosts", c"files dns"),
        (c"services", c"files"),
        (c"passwd", c"files"),
        (c"group", c"files"),
    ];

    #[expect(unsafe_code, reason = "no crate declares it: it is in glibc's nss.h")]
    unsafe extern "C" {
        fn __nss_configure_lookup(database: *const c_char, sources: *const c_char) -> c_int;
    }

    #[expect(unsafe_code, reason = "a call of libc")]
    pub(super) fn set_sources() {
        for (database, sources) in SOURCES {
            // SAFETY: both are C strings that live for ever, and glibc copies what it keeps of them. It fails only
            // for a database that it does not know, or without memory.
            unsafe { __nss_configure_lookup(database.as_ptr(), sources.as_ptr()) };
        }
    }
}
