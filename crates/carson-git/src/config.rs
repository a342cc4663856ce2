//! The configuration of Carson's own repositories belongs to Carson.
//!
//! Where no kernel layer confines it, a session can write a mirror's `config` by its path: a filter
//! with a program of its choice, an address, an identity for everybody. So the file's content is
//! fixed, and it is put right before every command of ours.

use std::fs;
use std::path::PathBuf;

use tracing::warn;

use crate::error::{GitError, io};
use crate::scratch::Scratch;

/// The push address of `origin`: Carson pushes under another name, for one command.
const NO_PUSH: &str = "/dev/null/carson-pushes-for-you";

/// The configuration of one repository.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    repository: PathBuf,
    text: String,
}

impl Own {
    /// That of a mirror. `url` is what sessions may know: without credentials.
    pub(crate) fn new(mirror: PathBuf, url: &str) -> Self {
        let (url, no_push) = (config_value(url), config_value(NO_PUSH));
        let mut own = Self::without_remote(mirror);
        own.text.push_str(&format!(
            "[remote \"origin\"]\n\turl = {url}\n\tpushurl = {no_push}\n\
             \tfetch = +refs/heads/*:refs/remotes/origin/*\n"
        ));
        own
    }

    /// That of a repository which has no remote.
    pub(crate) fn without_remote(repository: PathBuf) -> Self {
        let platform = match cfg!(target_os = "macos") {
            true => "\tignorecase = true\n\tprecomposeunicode = true\n",
            false => "",
        };
        let text = format!(
            "# Written by Carson before each of its commands; changes do not stay.\n\
             [core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\
             \tlogAllRefUpdates = true\n{platform}\
             [gc]\n\tauto = 0\n\tpruneExpire = never\n\tworktreePruneExpire = never\n\
             \treflogExpire = never\n\treflogExpireUnreachable = never\n\
             [maintenance]\n\tauto = false\n"
        );
        Self { repository, text }
    }

    /// What the file says.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Puts the file right, and removes private ignore and attribute files: nothing
    /// but what is in the repository decides what is taken up.
    pub(crate) fn restore(&self) -> Result<(), GitError> {
        if !self.repository.is_dir() {
            return Ok(());
        }
        for name in ["info/exclude", "info/attributes"] {
            let path = self.repository.join(name);
            match fs::remove_file(&path) {
                Ok(()) => {
                    warn!(file = %path.display(), "a file of a repository of ours is not ours: removed");
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {}
                Err(source) => return Err(io(&path, source)),
            }
        }
        self.has("config", &self.text)
    }

    /// Puts one file right.
    fn has(&self, name: &str, text: &str) -> Result<(), GitError> {
        let path = self.repository.join(name);
        if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            return Ok(());
        }
        let fresh = Scratch::with(&self.repository, name, text.as_bytes())?;
        fs::rename(fresh.path(), &path).map_err(|source| io(&path, source))
    }
}

/// Where that lies.
const FOR_LIBGIT2: &str = "libgit2.config";

/// What libgit2 is told beside a repository's own configuration. git has no such file: it would complain of this name.
const SYNCED: &str = "# Written by Carson for libgit2.\n[core]\n\tfsyncObjectFiles = true\n";

impl Own {
    /// As libgit2 opens it: what it writes is on the disk before it has its name, as `core.fsync` has it for git.
    pub(crate) fn open(&self) -> Result<git2::Repository, git2::Error> {
        let repository = git2::Repository::open_bare(&self.repository)?;
        // Where it cannot be written nothing is, by libgit2 (`is_synced`).
        if self.has(FOR_LIBGIT2, SYNCED).is_ok() {
            let (path, level) = (self.repository.join(FOR_LIBGIT2), git2::ConfigLevel::App);
            repository.config()?.add_file(&path, level, true)?;
        }
        Ok(repository)
    }

    /// Whether it syncs what it writes.
    pub(crate) fn is_synced(repository: &git2::Repository) -> Result<bool, git2::Error> {
        let told = repository.config()?.get_bool("core.fsyncObjectFiles");
        Ok(told.unwrap_or(false))
    }
}

/// A value as git's configuration files write it.
#[must_use]
pub fn config_value(value: &str) -> String {
    let value = value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{value}\"")
}
