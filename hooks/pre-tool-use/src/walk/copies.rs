//! Copies from other machines into files: `scp`, `rsync`, `sftp`, what stores' clients fetch.

use crate::marks::{self, DOWNLOAD, STAR};
use crate::path;
use crate::words::Words;

use super::options::{self, Arg, Spec};
use super::{Exec, State, Walker};

/// Programs that copy files between machines.
pub(super) const COPIERS: Words = Words("scp rsync rcp pscp sftp psftp rdist unison hsync");

/// Clients in which one asks for files: by a word on the command line or a line of the input.
pub(super) const SESSIONS: Words = Words("sftp psftp lftp ftp tftp smbclient ncftpget curlftpfs");

const SPEC: Spec = Spec {
    short: "cDFiJloPSXeTfBM",
    long: Words(
        "rsh exclude include filter exclude-from include-from files-from rsync-path temp-dir port \
         bwlimit partial-dir password-file log-file chmod chown out-format",
    ),
};

impl Walker<'_> {
    /// `scp HOST:FILE… TO`, `rsync`, `sftp HOST:FILE [TO]`.
    pub(super) fn copied_here(&mut self, exec: &Exec, state: &mut State) -> String {
        let operands = options::operands(exec.args(), SPEC);
        let deep = options::read(exec.args(), SPEC).iter().any(|arg| {
            matches!(
                arg,
                Arg::Short('r' | 'a' | 'R', _) | Arg::Long("archive" | "recursive", _)
            )
        });
        match operands.as_slice() {
            [only] => self.brought(only, ".", deep, state),
            [sources @ .., target] => {
                for source in sources {
                    self.brought(source, target, deep, state);
                }
            }
            [] => {}
        }
        if SESSIONS.has(exec.name()) {
            self.asked_for(exec, state);
        }
        String::new()
    }

    /// Notes the files that a copy of `from` to `to` makes, when it comes from another machine.
    pub(super) fn brought(&mut self, from: &str, to: &str, deep: bool, state: &mut State) {
        let Some(file) = remote_file(from) else {
            return;
        };
        let (name, to) = (path::name(file), to.trim_end_matches('/'));
        let fetched = marks::only(DOWNLOAD);
        let mut below = Vec::new();
        if file.ends_with('/') || name.is_empty() || name == "." {
            below.push(to.to_owned());
        } else {
            let name = marks::live_globs(name);
            for copy in [to.to_owned(), format!("{to}/{name}")] {
                self.write_file(&copy, &fetched, false, state);
            }
            if deep {
                below.push(format!("{to}/{name}"));
            }
            if deep && to != "." {
                below.push(to.to_owned());
            }
        }
        for dir in below {
            if let Some(dir) = self.certain_path(&dir, state) {
                self.world
                    .files
                    .insert(format!("{dir}/{STAR}"), fetched.clone());
            }
        }
    }

    /// The files that a session fetches: `get FILE [TO]`, on lines of the input or in `-c`, `-e`.
    pub(super) fn asked_for(&mut self, exec: &Exec, state: &mut State) {
        let words = exec.args().join(" ");
        let texts = [words.as_str(), exec.stdin.as_str()];
        let lines = texts.iter().flat_map(|text| text.split([';', '\n']));
        let asked: Vec<Vec<String>> = lines.filter_map(got).collect();
        for files in asked {
            for file in files {
                let name = path::name(&file).to_owned();
                self.write_file(&name, &marks::only(DOWNLOAD), false, state);
            }
        }
    }
}

/// The file in the name of one on another machine: `host:FILE`, `host::module/FILE`, `rsync://…`.
fn remote_file(text: &str) -> Option<&str> {
    if let Some((_, rest)) = text.split_once("://") {
        return rest.split_once('/').map(|(_, file)| file);
    }
    let (host, file) = text.split_once(':')?;
    let named = !host.contains('/') && !host.is_empty();
    named.then(|| file.trim_start_matches(':'))
}

/// The files in a command such as `get a b`: what is fetched, and under which name.
fn got(line: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = line
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'']))
        .collect();
    let verb = words
        .iter()
        .position(|word| Words("get mget reget pget mirror recv").has(word))?;
    let files = words[verb + 1..].iter();
    Some(
        files
            .filter(|word| !word.starts_with('-'))
            .map(|word| (*word).to_owned())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_another_machine() {
        assert_eq!(remote_file("u@h:a/b"), Some("a/b"));
        assert_eq!(remote_file("h::m/x"), Some("m/x"));
        assert_eq!(remote_file("rsync://h/m/x"), Some("m/x"));
        assert_eq!(remote_file("./a:b"), None);
        assert_eq!(remote_file("a/b"), None);
    }

    #[test]
    fn what_a_session_fetches() {
        assert_eq!(
            got("get a/i.sh b.sh"),
            Some(vec!["a/i.sh".to_owned(), "b.sh".to_owned()])
        );
        assert_eq!(got("put x"), None);
    }
}
