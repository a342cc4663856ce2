//! Whatever a session builds, it goes.

use std::ffi::CString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use nix::sys::stat::mkdirat;

use super::*;
use crate::fixture::write;

#[test]
fn everything_goes_and_what_links_lead_to_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (gone, stays) = (dir.path().join("gone"), dir.path().join("stays"));
    write(&stays.join("file"), "x");
    write(&gone.join("a/b/c/file"), "x");
    write(&gone.join(".carson-1/file"), "x");
    write(&gone.join(".GIT/git~1/x"), "x");
    fs::create_dir_all(gone.join("empty/er")).unwrap();
    symlink(&stays, gone.join("a/link")).unwrap();
    symlink(stays.join("file"), gone.join("a/b/link")).unwrap();
    for shut in ["a/b/c", "a/b", "empty"] {
        fs::set_permissions(gone.join(shut), Permissions::from_mode(0o000)).unwrap();
    }
    empty(&gone).unwrap();
    assert_eq!(fs::read_dir(&gone).unwrap().count(), 0);
    assert!(stays.join("file").exists());
}

#[test]
fn directories_deeper_than_any_path_go() {
    let dir = tempfile::tempdir().unwrap();
    let mut at = OwnedFd::from(File::open(dir.path()).unwrap());
    let name = CString::new("d".repeat(200)).unwrap();
    for _ in 0..3_000 {
        mkdirat(&at, name.as_c_str(), Mode::S_IRWXU).unwrap();
        at = openat(&at, name.as_c_str(), OFlag::O_RDONLY, Mode::empty()).unwrap();
    }
    drop(at);
    empty(dir.path()).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn directories_around_the_depth_at_which_they_move_go() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path();
    for deep in [DEEP - 1, DEEP, DEEP + 1, 2 * DEEP + 2, 3 * DEEP] {
        let mut at = top.join(format!("to-{deep}"));
        for level in 0..deep {
            at.push(format!("{level}"));
            write(&at.join("beside/file"), "x");
        }
        fs::set_permissions(&at, Permissions::from_mode(0o000)).unwrap();
    }
    empty(top).unwrap();
    assert_eq!(fs::read_dir(top).unwrap().count(), 0);
}
