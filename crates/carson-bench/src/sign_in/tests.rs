use std::os::unix::fs::{PermissionsExt, symlink};

use super::lent::{operators, replace};
use super::*;

fn dir() -> (tempfile::TempDir, LentDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("lent");
    let lent = LentDir::make(&path).unwrap();
    (root, lent, path)
}

#[test]
fn a_file_is_written_and_read_at_any_depth_by_its_owner_only() {
    let (_root, lent, path) = dir();
    assert_eq!(lent.read("a/b/c.json", 9).unwrap(), None);
    for text in ["first", "second"] {
        lent.write("a/b/c.json", text.as_bytes()).unwrap();
        assert_eq!(
            lent.read("a/b/c.json", 9).unwrap().unwrap(),
            text.as_bytes()
        );
    }
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("a")), 0o700);
    assert_eq!(mode(&path.join("a/b/c.json")), 0o600);
    assert!(lent.read("a/b/c.json", 5).is_err(), "it is too large");
    lent.remove("a/b/c.json");
    assert_eq!(lent.read("a/b/c.json", 9).unwrap(), None);
}

#[test]
fn what_is_no_plain_file_of_its_own_is_not_read() {
    let (root, lent, path) = dir();
    let outside = root.path().join("outside");
    fs::write(&outside, "outside").unwrap();
    fs::create_dir(root.path().join("elsewhere")).unwrap();
    fs::write(root.path().join("elsewhere/file"), "outside").unwrap();
    symlink(&outside, path.join("link")).unwrap();
    fs::hard_link(&outside, path.join("second-name")).unwrap();
    symlink(root.path().join("elsewhere"), path.join("dir")).unwrap();
    fs::create_dir(path.join("directory")).unwrap();
    nix::unistd::mkfifo(&path.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for name in ["link", "second-name", "dir/file", "directory", "pipe"] {
        assert!(lent.read(name, 99).is_err(), "{name}");
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let (root, lent, path) = dir();
    let outside = root.path().join("outside");
    fs::write(&outside, "outside").unwrap();
    for name in ["file", "file.carson"] {
        symlink(&outside, path.join(name)).unwrap();
    }
    lent.write("file", b"mine").unwrap();
    assert_eq!(fs::read(&outside).unwrap(), b"outside");
    assert_eq!(lent.read("file", 9).unwrap().unwrap(), b"mine");
    symlink(root.path(), path.join("up")).unwrap();
    assert!(lent.write("up/planted", b"mine").is_err());
    assert!(!root.path().join("planted").exists());
    // The session's own name for the directory does not matter.
    fs::rename(&path, root.path().join("moved")).unwrap();
    symlink(root.path(), &path).unwrap();
    lent.write("planted", b"mine").unwrap();
    assert!(!root.path().join("planted").exists());
}

#[test]
fn the_operator_s_file_is_replaced_where_its_link_leads() {
    let root = tempfile::tempdir().unwrap();
    let real = root.path().join("real");
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).unwrap();
    let link = root.path().join("link");
    symlink(&real, &link).unwrap();
    replace(&link, b"new").unwrap();
    assert!(link.is_symlink());
    assert_eq!(operators(&real, 9).unwrap().unwrap(), b"new");
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2);
}

#[test]
fn one_at_a_time_holds_the_lock() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("lock");
    let held = locked(&path).unwrap();
    assert!(held.is_some());
    assert!(locked(&path).unwrap().is_none());
    drop(held);
    assert!(locked(&path).unwrap().is_some());
}

#[test]
fn what_an_earlier_session_left_is_moved_out_of_reach() {
    let root = tempfile::tempdir().unwrap();
    let (left, old) = (root.path().join("sign-in"), root.path().join("old"));
    for number in 0..3 {
        fs::create_dir(&left).unwrap();
        fs::write(left.join("planted"), "").unwrap();
        move_away(&left, &old).unwrap();
        assert!(!left.exists());
        assert!(old.join(number.to_string()).join("planted").exists());
    }
    move_away(&left, &old).unwrap();
}
