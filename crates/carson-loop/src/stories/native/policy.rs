//! The file whose text stands at the end of every prompt: what may be one.
//!
//! Whoever wrote the plan names it, and what it says goes to a model: so it is a plain file of the repository, to which no link
//! leads, and a text that people can read.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::stories::finding::Finding;
use crate::stories::hygiene::hidden_in_lines;
use crate::stories::json::Pointer;
use crate::tree::{is_own, read_plain};

/// Bytes that are read.
pub const POLICY_BYTES: usize = 64 << 10;

/// The path that a plan names, from the top of the repository.
///
/// # Errors
/// What is wrong with it, for people.
pub(super) fn path(named: &str) -> Result<PathBuf, String> {
    let mut clean = PathBuf::new();
    for part in Path::new(named).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) if is_own(name.as_encoded_bytes()) => {
                return Err("is git's or Carson's own: name a file of the repository".to_owned());
            }
            Component::Normal(name) => clean.push(name),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                let why = "leads out of the repository: paths are from its top, without `..`";
                return Err(why.to_owned());
            }
        }
    }
    match clean.as_os_str().is_empty() {
        true => Err("names no file".to_owned()),
        false => Ok(clean),
    }
}

/// What is wrong with the file that a plan names.
pub(super) fn finding(named: &str, why: &str) -> Finding {
    Finding::new(&Pointer::root().key("policy"), format!("{named}: {why}"))
}

/// The text that bytes are.
///
/// # Errors
/// What is wrong with it, for people.
pub fn policy_text(bytes: Vec<u8>) -> Result<String, String> {
    let text = String::from_utf8(bytes).ok();
    let text = text.filter(|text| !text.contains('\0'));
    let text = text.ok_or("it is no text")?;
    match hidden_in_lines(&text) {
        Some((line, letter)) => Err(format!(
            "line {line} holds {letter}, which nobody sees: take it out"
        )),
        None => Ok(text),
    }
}

/// The text of the file that a plan names.
///
/// # Errors
/// What is wrong with it.
pub(super) fn of_plan(root: &Path, named: &str) -> Result<String, Finding> {
    let read = path(named).and_then(|path| in_tree(root, &path));
    read.map_err(|why| finding(named, &why))
}

fn in_tree(root: &Path, path: &Path) -> Result<String, String> {
    let mut at = root.to_owned();
    for part in path {
        at.push(part);
        let found = fs::symlink_metadata(&at).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => error.to_string(),
        })?;
        if found.is_symlink() {
            let shown = at.strip_prefix(root).unwrap_or(&at).display();
            return Err(format!(
                "{shown} is a link, and none is followed to a policy"
            ));
        }
    }
    let most = POLICY_BYTES as u64;
    match read_plain(&at, most).map_err(|error| error.to_string())? {
        Some(bytes) => policy_text(bytes),
        None if at.is_file() => Err(format!("it has more than {most} bytes")),
        None => Err("it is no regular file".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_plain_text_of_the_repository_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("tree");
        fs::create_dir_all(root.join("docs")).unwrap();
        fs::write(dir.path().join("secret"), "s").unwrap();
        fs::write(root.join("docs/rules.md"), "Be brief.\n\tAlways.\r\n").unwrap();
        fs::write(root.join("binary"), b"a\0b").unwrap();
        fs::write(root.join("bytes"), b"\xff").unwrap();
        fs::write(root.join("hidden"), "one\ntwo\u{202e}\n").unwrap();
        fs::write(root.join("long"), vec![b'a'; POLICY_BYTES + 1]).unwrap();
        symlink("../secret", root.join("AGENTS.md")).unwrap();
        symlink("docs", root.join("way")).unwrap();
        nix::unistd::mkfifo(&root.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        for right in ["docs/rules.md", "./docs//rules.md"] {
            assert_eq!(of_plan(&root, right).unwrap(), "Be brief.\n\tAlways.\r\n");
        }
        for (named, why) in [
            ("/etc/passwd", "/etc/passwd: leads out of the repository"),
            ("../secret", "../secret: leads out of the repository"),
            ("docs/../../secret", "docs/../../secret: leads out"),
            (".git/config", ".git/config: is git's"),
            ("docs/.GIT/config", "docs/.GIT/config: is git's"),
            (".carson/x", ".carson/x: is git's or Carson's own"),
            (".", ".: names no file"),
            ("none", "none: there is no such file"),
            ("AGENTS.md", "AGENTS.md: AGENTS.md is a link"),
            ("way/rules.md", "way/rules.md: way is a link"),
            ("docs", "docs: it is no regular file"),
            ("pipe", "pipe: it is no regular file"),
            ("binary", "binary: it is no text"),
            ("bytes", "bytes: it is no text"),
            ("hidden", "hidden: line 2 holds U+202E"),
            ("long", "long: it has more than 65536 bytes"),
        ] {
            let said = of_plan(&root, named).unwrap_err();
            assert!(said.message.starts_with(why), "{named}: {said}");
            assert_eq!(said.at.as_str(), "/policy");
        }
    }
}
