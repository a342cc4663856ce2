//! A path as git writes it in a list of what it ignores.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// As a pattern that means just this path from the top (gitignore(5)). What no line can hold, the end
/// of a line and bytes that are no text, is any letter: that is as near as a list comes.
#[must_use]
pub fn ignore_pattern(path: &Path) -> String {
    let mut text = String::from("/");
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\n' | '\r' => text.push('?'),
                '*' | '?' | '[' | '\\' | ' ' | '!' | '#' => text.extend(['\\', letter]),
                _ => text.push(letter),
            }
        }
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

/// The same of a path as git has it.
pub(crate) fn of_bytes(path: &[u8]) -> String {
    ignore_pattern(Path::new(OsStr::from_bytes(path)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fixture::git;

    #[test]
    fn git_ignores_just_what_a_pattern_was_made_of() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        git(top, ["init", "--quiet"]);
        let odd: [&[u8]; 9] = [
            b"line\nbreak",
            b"return\r",
            b"\xff\xfe",
            b"*star",
            b"wh?t",
            b"[ab]",
            b"#hash",
            b"!not",
            b"space ",
        ];
        let patterns = odd.map(|name| of_bytes(name) + "\n");
        fs::create_dir_all(top.join(".git/info")).unwrap();
        fs::write(top.join(".git/info/exclude"), patterns.concat()).unwrap();
        for name in odd {
            fs::write(top.join(OsStr::from_bytes(name)), "").unwrap();
        }
        for name in ["a star", "what", "a", "hash", "not", "space"] {
            fs::write(top.join(name), "").unwrap();
        }
        let seen = git(top, ["ls-files", "-z", "--others", "--exclude-standard"]);
        let mut seen: Vec<&str> = seen.split_terminator('\0').collect();
        seen.sort_unstable();
        assert_eq!(seen, ["a", "a star", "hash", "not", "space", "what"]);
    }
}
