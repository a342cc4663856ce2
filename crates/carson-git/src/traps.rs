//! What would block or mislead git when it looks at the files of a worktree.
//!
//! Git opens `.gitignore`, `.gitattributes` and the `HEAD` of every repository inside: a pipe in
//! their place blocks it until its deadline. Pipes, sockets and devices hold nothing that could be
//! saved; they go. A repository inside that has anything but plain files where git looks is not
//! shown to git: its files are taken up like those of one without commits.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use tracing::warn;

use crate::foreign::Foreign;
use crate::plain::Within;

/// What git reads of a repository to learn its `HEAD`.
const READ: [&str; 4] = ["HEAD", "config", "commondir", "packed-refs"];
/// More refs than this are looked at by nobody.
const MOST: usize = 250_000;

/// Removes what blocks, and gives the repositories, seen from `root`, that git must not look into.
pub(crate) fn clear(root: &Path, bench: &Path) -> Vec<PathBuf> {
    let bench = Within::of(bench);
    let (mut odd, mut todo) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(root.join(&dir))
            .into_iter()
            .flatten()
            .flatten()
        {
            let Ok(kind) = item.file_type() else { continue };
            let path = dir.join(item.file_name());
            if item.file_name() == ".git" {
                // The one of the worktree itself is never asked.
                if !dir.as_os_str().is_empty() && !is_safe(&root.join(&dir), bench.as_ref()) {
                    odd.push(dir.clone());
                }
            } else if kind.is_dir() {
                todo.push(path);
            } else if is_special(kind) && fs::remove_file(item.path()).is_ok() {
                warn!(file = %item.path().display(), "neither file nor directory: removed");
            }
        }
    }
    odd
}

fn is_special(kind: fs::FileType) -> bool {
    kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device()
}

/// Whether git may look into the repository at `dir`.
fn is_safe(dir: &Path, within: Option<&Within>) -> bool {
    let Some(inner) = within.and_then(|within| Foreign::at(dir, within)) else {
        return false;
    };
    let plain = |path: &Path| match path.symlink_metadata() {
        Ok(found) => found.is_file(),
        Err(_) => true,
    };
    let files = [&inner.git, &inner.common];
    let files = files
        .into_iter()
        .all(|git| READ.iter().all(|name| plain(&git.join(name))));
    files
        && [&inner.git, &inner.common]
            .iter()
            .all(|git| only_plain(&git.join("refs")))
}

/// Nothing but directories and plain files.
fn only_plain(root: &Path) -> bool {
    match root.symlink_metadata() {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return false,
        Err(_) => return true,
    }
    let (mut todo, mut seen) = (vec![root.to_owned()], 0);
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(dir).into_iter().flatten().flatten() {
            seen += 1;
            match item.file_type() {
                Ok(kind) if kind.is_dir() && seen <= MOST => todo.push(item.path()),
                Ok(kind) if kind.is_file() && seen <= MOST => {}
                _ => return false,
            }
        }
    }
    true
}
