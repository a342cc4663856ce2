//! A tree of files that shares its blocks with another one: a clone, on file systems that can have that
//! (btrfs, XFS with `reflink=1`, APFS). What it costs is its names, not its bytes.
//!
//! Whatever lies there is the same in the clone: modes, times, links, hard links among its files, extended
//! attributes. Only who changed it when is not, and a pipe, a device or a socket is none that a checkout has.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, FileTimes, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// Bytes of the list of a file's extended attributes, and of one of them, as Linux bounds them.
const ATTRIBUTES: usize = 64 * 1024;

/// Clones `from`, a directory that nobody writes, to `to`, which is not there yet.
///
/// # Errors
/// What the file system says; of one that cannot clone, what it says of that. `to` is left half made then.
pub fn clone_tree(from: &Path, to: &Path) -> io::Result<()> {
    let listed = list(from, to)?;
    for (_, dir) in &listed.dirs {
        // What is in it comes first, whatever its own mode will be.
        DirBuilder::new().mode(0o700).create(dir)?;
    }
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = listed.files.len().div_ceil(workers).max(1);
    std::thread::scope(|scope| {
        let shares = listed.files.chunks(share);
        let all: Vec<_> = shares.map(|share| scope.spawn(|| files(share))).collect();
        let joined = all
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|_| Err(died())));
        joined.collect::<io::Result<()>>()
    })?;
    for (first, other) in &listed.again {
        fs::hard_link(first, other)?;
    }
    // The innermost first: an entry that comes changes the times of its directory.
    for (from, to) in listed.dirs.iter().rev() {
        let (from, to) = (File::open(from)?, File::open(to)?);
        same_notes(&from, &to, &from.metadata()?)?;
    }
    Ok(())
}

/// Whether files of `from` can be cloned to `to`: tried with one, which is removed again.
///
/// # Errors
/// Why not.
pub fn can_clone(from: &Path, to: &Path) -> io::Result<()> {
    let name = format!("clone.{}.try", std::process::id());
    let (from, to) = (from.join(&name), to.join(format!("{name}d")));
    // Larger than what any file system keeps beside its notes of a file.
    let tried = fs::write(&from, [b'x'; 64 * 1024]);
    let tried = tried.and_then(|()| file(&from, &to, &from.symlink_metadata()?));
    let is_same = tried.and_then(|()| Ok(fs::read(&to)? == fs::read(&from)?));
    for gone in [&from, &to] {
        let _ = fs::remove_file(gone);
    }
    match is_same? {
        true => Ok(()),
        false => Err(io::Error::other("a clone is not the same")),
    }
}

/// What is there, each with where it comes to be.
#[derive(Default)]
struct Listed {
    /// Outer ones before inner ones.
    dirs: Vec<(PathBuf, PathBuf)>,
    /// Files and links.
    files: Vec<One>,
    /// Other names of files that have more than one: the first of the clone's, and this one.
    again: Vec<(PathBuf, PathBuf)>,
}

/// A file or link, where its clone comes to be, and what is known of it.
type One = (PathBuf, PathBuf, Metadata);

fn list(from: &Path, to: &Path) -> io::Result<Listed> {
    let mut listed = Listed::default();
    let mut first: HashMap<(u64, u64), PathBuf> = HashMap::new();
    listed.dirs.push((from.to_owned(), to.to_owned()));
    let mut next = 0;
    while let Some((from, to)) = listed.dirs.get(next).cloned() {
        next += 1;
        for item in fs::read_dir(&from)? {
            let item = item?;
            let pair = (item.path(), to.join(item.file_name()));
            let kind = item.file_type()?;
            if kind.is_dir() {
                listed.dirs.push(pair);
                continue;
            }
            if !kind.is_file() && !kind.is_symlink() {
                let what = format!("{} is neither file nor link", pair.0.display());
                return Err(io::Error::new(io::ErrorKind::Unsupported, what));
            }
            let found = item.metadata()?;
            if found.nlink() > 1
                && let Some(known) = first.get(&(found.dev(), found.ino()))
            {
                listed.again.push((known.clone(), pair.1));
                continue;
            }
            if found.nlink() > 1 {
                first.insert((found.dev(), found.ino()), pair.1.clone());
            }
            listed.files.push((pair.0, pair.1, found));
        }
    }
    Ok(listed)
}

fn files(all: &[One]) -> io::Result<()> {
    all.iter()
        .try_for_each(|(from, to, found)| file(from, to, found))
}

fn file(from: &Path, to: &Path, found: &Metadata) -> io::Result<()> {
    if found.is_symlink() {
        // Nothing builds by the time of a link itself.
        return symlink(fs::read_link(from)?, to);
    }
    let source = File::open(from)?;
    let made = content(&source, found, to)?;
    same_notes(&source, &made, found)
}

/// A new file with the blocks of another one.
#[cfg(not(target_vendor = "apple"))]
fn content(from: &File, found: &Metadata, to: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let made = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    #[cfg(target_os = "linux")]
    if found.size() > 0 {
        rustix::fs::ioctl_ficlone(&made, from)?;
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (from, found);
        return Err(io::ErrorKind::Unsupported.into());
    }
    #[cfg(target_os = "linux")]
    Ok(made)
}

/// A new file with the blocks of another one.
#[cfg(target_vendor = "apple")]
fn content(from: &File, _: &Metadata, to: &Path) -> io::Result<File> {
    rustix::fs::fclonefileat(from, rustix::fs::CWD, to, rustix::fs::CloneFlags::empty())?;
    File::open(to)
}

/// Mode, attributes and times.
fn same_notes(from: &File, to: &File, found: &Metadata) -> io::Result<()> {
    attributes(from, to)?;
    to.set_permissions(Permissions::from_mode(found.mode() & 0o7777))?;
    to.set_times(
        FileTimes::new()
            .set_accessed(found.accessed()?)
            .set_modified(found.modified()?),
    )
}

fn attributes(from: &File, to: &File) -> io::Result<()> {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
    let mut none: [u8; 0] = [];
    match flistxattr(from, &mut none) {
        Ok(0) | Err(rustix::io::Errno::NOTSUP) => return Ok(()),
        other => other?,
    };
    let mut names = vec![0; ATTRIBUTES];
    let many = flistxattr(from, &mut names)?;
    let mut value = vec![0; ATTRIBUTES];
    for name in names[..many].split(|byte| *byte == 0) {
        // Labels of the machine's own policy are given by it, and not to be set by everybody.
        if name.is_empty() || name.starts_with(b"security.") {
            continue;
        }
        let many = fgetxattr(from, name, &mut value)?;
        fsetxattr(to, name, &value[..many], XattrFlags::empty())?;
    }
    Ok(())
}

fn died() -> io::Error {
    io::Error::other("a thread that clones files died")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::time::{Duration, UNIX_EPOCH};

    /// A place whose disk clones, if this machine has one: `CARSON_TEST_CLONES` names it for who mounted one.
    fn place() -> Option<tempfile::TempDir> {
        let named = std::env::var_os("CARSON_TEST_CLONES").map(PathBuf::from);
        let dir = named
            .map_or_else(tempfile::tempdir, tempfile::tempdir_in)
            .unwrap();
        can_clone(dir.path(), dir.path()).is_ok().then_some(dir)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_nothing_can_be_cloned_that_is_said_and_nothing_stays() {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        can_clone(dir.path(), dir.path()).unwrap_err();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn pipes_are_no_part_of_a_checkout() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir(&from).unwrap();
        nix::unistd::mkfifo(&from.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = clone_tree(&from, &dir.path().join("to")).unwrap_err();
        assert!(
            error.to_string().contains("neither file nor link"),
            "{error}"
        );
    }

    /// Only where the place clones.
    #[test]
    fn everything_is_the_same_in_a_clone() {
        let Some(dir) = place() else {
            assert!(
                std::env::var_os("CARSON_TEST_CLONES").is_none(),
                "this disk was to clone"
            );
            return;
        };
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        for deep in ["a b/c", "empty", "closed", "odd"] {
            fs::create_dir_all(from.join(deep)).unwrap();
        }
        let odd = OsStr::from_bytes(b"odd/\xff\n\"-");
        for (name, text) in [
            (OsStr::new("a b/c/file"), "x".repeat(300_000)),
            (OsStr::new("small"), "s".into()),
            (OsStr::new("nothing"), String::new()),
            (OsStr::new("closed/in"), "i".into()),
            (odd, "o".into()),
        ] {
            fs::write(from.join(name), text).unwrap();
        }
        fs::hard_link(from.join("small"), from.join("a b/again")).unwrap();
        symlink("../nowhere", from.join("a b/link")).unwrap();
        let mode = |path: &str, mode| {
            fs::set_permissions(from.join(path), Permissions::from_mode(mode)).unwrap();
        };
        mode("a b/c/file", 0o4755);
        mode("nothing", 0o400);
        let file = File::open(from.join("small")).unwrap();
        let then = UNIX_EPOCH + Duration::new(1_000_000_000, 5);
        file.set_times(FileTimes::new().set_modified(then)).unwrap();
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::fsetxattr(&file, "user.note", b"kept", flags).unwrap();
        mode("closed", 0o500);

        clone_tree(&from, &to).unwrap();
        let described = |top: &Path| {
            let mut all = Vec::new();
            let mut todo = vec![top.to_owned()];
            while let Some(path) = todo.pop() {
                let found = path.symlink_metadata().unwrap();
                let text = match (found.is_file(), found.is_symlink()) {
                    (true, _) => fs::read(&path).unwrap(),
                    (_, true) => fs::read_link(&path)
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes(),
                    _ => {
                        todo.extend(
                            fs::read_dir(&path)
                                .unwrap()
                                .map(|item| item.unwrap().path()),
                        );
                        Vec::new()
                    }
                };
                let when = (!found.is_symlink()).then(|| (found.mtime(), found.mtime_nsec()));
                let links = found.is_file().then(|| found.nlink());
                let name = path.strip_prefix(top).unwrap().to_owned();
                all.push((name, found.mode(), when, links, text));
            }
            all.sort();
            all
        };
        assert_eq!(described(&from), described(&to));
        let mut value = [0_u8; 10];
        let many = rustix::fs::getxattr(to.join("a b/again"), "user.note", &mut value).unwrap();
        assert_eq!(&value[..many], b"kept");
        // One that is written is the other's no more.
        fs::write(to.join("small"), "changed").unwrap();
        assert_eq!(fs::read(from.join("small")).unwrap(), b"s");
        clone_tree(&from, &to).unwrap_err();
    }
}
