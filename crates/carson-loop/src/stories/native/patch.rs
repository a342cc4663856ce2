//! What an attempt changed, as a patch: for people, and for `git apply` where it is text.
//!
//! What is no text, or too long, is named with its hashes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use similar::{Algorithm, TextDiff};

use crate::tree::{Change, Contents, Entry, TreePath, What};

/// Bytes of a file that are compared line by line.
const TEXT: usize = 1 << 20;
/// Bytes of a patch; what does not fit is named.
const MOST: usize = 32 << 20;
/// Time for one file.
const PATIENCE: Duration = Duration::from_secs(2);

/// The patch that makes these changes; what was is kept, what is stands in the tree.
#[must_use]
pub fn patch(root: &Path, contents: &Contents, changes: &[Change]) -> String {
    let mut text = String::new();
    for change in changes.iter().filter(|change| !change.is_of_dirs()) {
        let one = pieces(change)
            .iter()
            .map(|piece| of(root, contents, piece))
            .collect::<String>();
        if text.len() + one.len() <= MOST {
            text += &one;
        } else {
            let _ = writeln!(text, "{} is not shown: the patch is too long", change.path);
        }
    }
    text
}

/// What became another kind of thing goes, and comes anew: no patch says it otherwise.
fn pieces(change: &Change) -> Vec<Change> {
    let is_link = |entry: &Option<Entry>| {
        matches!(
            entry,
            Some(Entry {
                what: What::Link { .. },
                ..
            })
        )
    };
    if change.before.is_none()
        || change.after.is_none()
        || is_link(&change.before) == is_link(&change.after)
    {
        return vec![change.clone()];
    }
    let gone = Change {
        after: None,
        ..change.clone()
    };
    let came = Change {
        before: None,
        ..change.clone()
    };
    vec![gone, came]
}

fn of(root: &Path, contents: &Contents, change: &Change) -> String {
    let kind = |entry: &Option<Entry>| entry.as_ref().filter(|entry| !entry.is_dir()).map(git_mode);
    let (old, new) = (kind(&change.before), kind(&change.after));
    let [a, b] = ["a", "b"].map(|side| shown(side, &change.path));
    let mut text = format!("diff --git {a} {b}\n");
    let _ = match (old, new) {
        (None, Some(new)) => writeln!(text, "new file mode {new}"),
        (Some(old), None) => writeln!(text, "deleted file mode {old}"),
        (Some(old), Some(new)) if old != new => writeln!(text, "old mode {old}\nnew mode {new}"),
        _ => Ok(()),
    };
    let before = side(change.before.as_ref(), |entry| kept(contents, entry));
    let after = side(change.after.as_ref(), |entry| {
        there(root, &change.path, entry)
    });
    match (before, after) {
        (Some(before), Some(after)) => {
            let names = [
                old.map_or("/dev/null", |_| &a),
                new.map_or("/dev/null", |_| &b),
            ];
            text += &hunks(&before, &after, names);
        }
        _ => {
            let _ = writeln!(text, "Binary files {a} and {b} differ");
        }
    }
    text
}

/// A side as text; `None` for what is none.
fn side(entry: Option<&Entry>, read: impl Fn(&Entry) -> Option<Vec<u8>>) -> Option<String> {
    match entry.map(|entry| &entry.what) {
        None | Some(What::Dir) => Some(String::new()),
        Some(What::Link { to }) => String::from_utf8(to.0.clone()).ok(),
        Some(What::File { size, .. }) if *size <= TEXT as u64 => {
            let bytes = entry.and_then(read)?;
            let text = String::from_utf8(bytes).ok()?;
            (!text.contains('\0')).then_some(text)
        }
        Some(_) => None,
    }
}

fn kept(contents: &Contents, entry: &Entry) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    contents.copy(entry.content()?, &mut bytes).ok()?;
    Some(bytes)
}

fn there(root: &Path, path: &TreePath, entry: &Entry) -> Option<Vec<u8>> {
    let bytes = fs::read(root.join(path.as_path())).ok()?;
    (crate::digest::Digest::of(&bytes) == *entry.content()?).then_some(bytes)
}

fn hunks(before: &str, after: &str, [a, b]: [&str; 2]) -> String {
    if before == after {
        return String::new();
    }
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(PATIENCE)
        .diff_lines(before, after);
    diff.unified_diff()
        .context_radius(3)
        .header(a, b)
        .to_string()
}

fn git_mode(entry: &Entry) -> &'static str {
    match &entry.what {
        What::Link { .. } => "120000",
        _ if entry.mode & 0o111 != 0 => "100755",
        _ => "100644",
    }
}

/// A path as git writes it in a patch: quoted where it would not be one word.
fn shown(side: &str, path: &TreePath) -> String {
    let bytes = path.as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"\\".contains(byte) || *byte == b' ';
    if bytes.iter().all(is_plain) {
        return format!("{side}/{}", String::from_utf8_lossy(bytes));
    }
    let mut text = format!("\"{side}/");
    for byte in bytes {
        let _ = match byte {
            b'"' | b'\\' => write!(text, "\\{}", char::from(*byte)),
            byte if is_plain(byte) => write!(text, "{}", char::from(*byte)),
            byte => write!(text, "\\{byte:03o}"),
        };
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use carson_proc::{Command, Limits, capture, find_on_path};

    use super::*;
    use crate::tree::{Look, Rules};

    fn write(root: &Path, name: &str, text: &[u8]) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Git makes the same of it: applied to what was, it gives what is.
    #[tokio::test]
    async fn git_takes_it() {
        let dir = tempfile::tempdir().unwrap();
        let (root, other) = (dir.path().join("tree"), dir.path().join("other"));
        let mut contents = Contents::open(&dir.path().join("kept")).unwrap();
        for root in [&root, &other] {
            write(
                root,
                "a/changed.txt",
                b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n",
            );
            write(root, "deleted.txt", b"gone\n");
            write(root, "no newline", b"x");
            write(root, "to-link", b"was a file\n");
        }
        let rules = Rules::everything(&root);
        let before = Look::at(&root, &rules).keeping(&mut contents).unwrap();
        write(
            &root,
            "a/changed.txt",
            b"one\ntwo\nthree\n4\nfive\nsix\nseven\neight\nnine\n",
        );
        fs::remove_file(root.join("deleted.txt")).unwrap();
        write(&root, "new/sp ace.txt", b"new\n");
        write(&root, "q\"uote\né.txt", b"odd\n");
        write(&root, "no newline", b"xy");
        write(&root, "empty", b"");
        symlink("a/changed.txt", root.join("link")).unwrap();
        fs::remove_file(root.join("to-link")).unwrap();
        symlink("empty", root.join("to-link")).unwrap();
        let changes = before.changes(&Look::at(&root, &rules).snapshot().unwrap());
        let text = patch(&root, &contents, &changes);
        assert!(
            text.contains("\n-four\n+4\n") && text.contains("new file mode 120000"),
            "{text}"
        );

        write(&other, "the.patch", text.as_bytes());
        let git = find_on_path(Path::new("git"), std::env::var_os("PATH").as_deref()).unwrap();
        let git = Command::new(git, &other)
            .args(["apply", "the.patch"])
            .inherit_env();
        let git = git.env("GIT_CEILING_DIRECTORIES", dir.path().as_os_str());
        let done = capture(&git, &Limits::within(Duration::from_secs(30)))
            .await
            .unwrap();
        assert!(done.success(), "{}\n{text}", done.stderr.text());
        fs::remove_file(other.join("the.patch")).unwrap();
        let left = Look::at(&other, &rules).snapshot().unwrap();
        let right = Look::at(&root, &rules).snapshot().unwrap();
        assert!(
            right.changes(&left).is_empty(),
            "{:?}",
            right.changes(&left)
        );
    }

    #[test]
    fn what_is_no_text_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("tree");
        let contents = Contents::open(&dir.path().join("kept")).unwrap();
        write(&root, "bytes", b"\xff\0\x01");
        let rules = Rules::everything(&root);
        let after = Look::at(&root, &rules).snapshot().unwrap();
        let text = patch(
            &root,
            &contents,
            &crate::tree::Snapshot::default().changes(&after),
        );
        assert_eq!(
            text,
            "diff --git a/bytes b/bytes\nnew file mode 100644\nBinary files a/bytes and b/bytes differ\n"
        );
    }
}
