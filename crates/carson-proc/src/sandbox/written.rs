//! What was written in a tree that is put together of layers, said to git.
//!
//! git looks at every file of a worktree to find those that changed, unless a program names them
//! (githooks(5), "fsmonitor-watchman", version 2): then what a command costs is what was changed. Here
//! nobody has to watch for that, since what was written lies above the layers. The program runs in the
//! session's own sandbox and is believed by the session's own git alone.
//!
//! What was made there and is gone leaves nothing above, so what git has in its index beside the commit below is said to be
//! written, too: git looks at each of these, and finds those that are gone. And a command that works in another
//! tree, a second worktree of the repository say, is told that everything may have been written.
//!
//! A directory that was written in shows the inode of the topmost below it; one that is new, or was moved
//! or put in the place of another, shows its own or that of another (overlayfs.rst, "Inode properties"), and
//! then everything in it counts as written.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// So many names at most; where there are more, everything may have been written.
const MOST: usize = 50_000;

/// What git gives back at the next question. Every answer is whole, so it means nothing.
const TOKEN: &[u8] = b"carson\0";

/// What git is told where everything may have been written.
const EVERYTHING: &[u8] = b"/";

/// Answers git's question on standard output. Without an answer git looks at every file.
pub(super) fn answer(args: impl Iterator<Item = OsString>) -> ExitCode {
    let mut args = args.take_while(|arg| arg != "--");
    let commit = args.next();
    let mut places = args.map(PathBuf::from);
    let (Some(commit), Some(at), Some(above)) = (commit, places.next(), places.next()) else {
        return ExitCode::from(2);
    };
    let tree = Tree {
        at,
        above,
        below: places.collect(),
    };
    let names = || -> io::Result<Vec<Vec<u8>>> {
        if !tree.is_here()? {
            return Ok(vec![EVERYTHING.to_vec()]);
        }
        let mut names = tree.written()?;
        if names != [EVERYTHING] {
            names.extend(in_the_index_beside(&commit)?);
        }
        Ok(names)
    };
    let said = names().and_then(|names| {
        let names = names.iter().flat_map(|name| [name.as_slice(), b"\0"]);
        let all = std::iter::once(TOKEN).chain(names);
        io::stdout().write_all(&all.flatten().copied().collect::<Vec<u8>>())
    });
    match said {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The names of what the index of who asks has beside a commit, as git says them. It compares two trees, and looks at no file.
#[expect(
    clippy::disallowed_methods,
    reason = "a moment of the session's own git, in its own sandbox"
)]
fn in_the_index_beside(commit: &OsString) -> io::Result<Vec<Vec<u8>>> {
    let mut git = Command::new("git");
    git.args(["-c", "core.fsmonitor=false", "diff-index", "--cached"]);
    git.args(["--no-renames", "--no-ext-diff", "--diff-filter=d"]);
    git.args(["--ita-visible-in-index", "--name-only", "-z"]);
    let said = git.arg(commit).arg("--").stdin(Stdio::null()).output()?;
    if !said.status.success() {
        return Err(io::Error::other("git does not say what its index has"));
    }
    let names = said.stdout.split(|byte| *byte == 0);
    Ok(names
        .filter(|name| !name.is_empty())
        .map(<[u8]>::to_vec)
        .collect())
}

/// A tree on layers, where it is seen.
struct Tree {
    at: PathBuf,
    /// What is written.
    above: PathBuf,
    /// The topmost first.
    below: Vec<PathBuf>,
}

impl Tree {
    /// Whether it is the tree in which git works: it starts whom it asks in the topmost directory of that.
    fn is_here(&self) -> io::Result<bool> {
        let (here, at) = (fs::metadata(".")?, self.at.symlink_metadata()?);
        Ok((here.dev(), here.ino()) == (at.dev(), at.ino()))
    }

    /// The names of what was written, as git writes them; those of directories end with a slash. A single
    /// slash stands for everything.
    fn written(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        let mut left = vec![PathBuf::new()];
        while let Some(dir) = left.pop() {
            for item in fs::read_dir(self.above.join(&dir))? {
                let item = item?;
                let path = dir.join(item.file_name());
                if path == Path::new(".git") {
                    continue;
                }
                let is_dir = item.file_type()?.is_dir();
                if is_dir && self.is_as_below(&path) {
                    left.push(path);
                    continue;
                }
                // Where one is, or nothing, there may have been a file, or a directory.
                let name = path.as_os_str().as_bytes();
                names.extend([name.to_vec(), [name, b"/"].concat()]);
            }
            if names.len() + left.len() > MOST {
                return Ok(vec![EVERYTHING.to_vec()]);
            }
        }
        Ok(names)
    }

    /// Whether a directory is one from below, with what was written in it.
    fn is_as_below(&self, path: &Path) -> bool {
        let found = |root: &PathBuf| root.join(path).symlink_metadata().ok();
        let below = self.below.iter().find_map(found);
        let seen = found(&self.at);
        below.zip(seen).is_some_and(|(below, seen)| {
            below.is_dir() && seen.is_dir() && below.ino() == seen.ino()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a mount: what is seen of a directory from below is a link to it.
    #[test]
    fn a_directory_from_below_is_looked_into_and_another_is_named_whole() {
        let dir = tempfile::tempdir().unwrap();
        let (at, above, below) = ("at", "above", "below");
        let [at, above, below] = [at, above, below].map(|name| dir.path().join(name));
        for made in [
            "below/old/deep",
            "above/old/deep",
            "above/new",
            "above/moved",
            "below/moved",
        ] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        std::os::unix::fs::symlink(&above, &at).unwrap();
        for file in ["old/deep/a", "new/b", "c", ".git"] {
            fs::write(above.join(file), "").unwrap();
        }
        let tree = Tree {
            at: at.clone(),
            above: above.clone(),
            below: vec![below.clone()],
        };
        let said = |tree: &Tree| {
            let mut names = tree.written().unwrap();
            names.sort();
            let names = names
                .into_iter()
                .map(|name| String::from_utf8(name).unwrap());
            names.collect::<Vec<_>>()
        };
        // Every directory has an inode of its own here: none is the one from below.
        let all = ["c", "c/", "moved", "moved/", "new", "new/", "old", "old/"];
        assert_eq!(said(&tree), all);
        fs::remove_file(&at).unwrap();
        fs::create_dir(&at).unwrap();
        std::os::unix::fs::symlink(below.join("old"), at.join("old")).unwrap();
        assert_eq!(said(&tree), all, "a link is no directory");
        let same = Tree {
            at: below.clone(),
            ..tree
        };
        assert_eq!(
            said(&same),
            ["c", "c/", "new", "new/", "old/deep/a", "old/deep/a/"]
        );
        for at in 0..=MOST / 2 {
            fs::write(above.join(at.to_string()), "").unwrap();
        }
        assert_eq!(said(&same), ["/"]);
    }
}
