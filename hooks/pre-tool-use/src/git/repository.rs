//! A repository on the disk, as far as a push depends on it.
//!
//! Read directly instead of asking `git`: the hook starts no process.

use std::path::{Path, PathBuf};

use crate::context::{Context, Sight};
use crate::marks;
use crate::walk::State;

use super::GitLine;

/// Largest file that is read.
const MAX_FILE: u64 = 512 * 1024;

/// What a repository says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The top of the work tree.
    pub root: String,
    /// The branch `HEAD` names; `None` when detached.
    pub branch: Option<String>,
    /// The settings in its own `config`, keys as `section.sub.name` with the outer parts lower-case.
    settings: Vec<(String, String)>,
}

impl Repository {
    /// The repository a command line works on.
    pub fn of(line: &GitLine, state: &State, ctx: &Context) -> Option<Self> {
        line.directories(state)
            .iter()
            .find_map(|dir| Self::find(dir, ctx))
    }

    /// The repository that contains `dir`, when the disk may be looked at.
    pub fn find(dir: &str, ctx: &Context) -> Option<Self> {
        if ctx.sight == Sight::CallOnly || !dir.starts_with('/') || !marks::exact(dir) {
            return None;
        }
        let root = Path::new(dir)
            .ancestors()
            .find(|at| at.join(".git").exists())?;
        let git_dir = git_dir(&root.join(".git"))?;
        let head = read(&git_dir.join("HEAD"))?;
        let branch = head
            .trim()
            .strip_prefix("ref: refs/heads/")
            .map(str::to_owned);
        let common = read(&git_dir.join("commondir")).map(|text| git_dir.join(text.trim()));
        let common = common.unwrap_or_else(|| git_dir.clone());
        let mut settings = parse(&read(&common.join("config")).unwrap_or_default());
        settings.extend(parse(
            &read(&git_dir.join("config.worktree")).unwrap_or_default(),
        ));
        Some(Self {
            root: root.to_str()?.to_owned(),
            branch,
            settings,
        })
    }

    /// A setting's last value; the key with its section and name in lower case.
    pub fn setting(&self, key: &str) -> Option<String> {
        let found = self.settings.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| value.clone())
    }

    /// All values of a setting.
    pub fn all(&self, key: &str) -> Vec<String> {
        let same = self.settings.iter().filter(|(name, _)| name == key);
        same.map(|(_, value)| value.clone()).collect()
    }
}

/// The directory behind a `.git`, which in a linked worktree is a file that names it.
fn git_dir(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_path_buf());
    }
    let text = read(dot_git)?;
    let target = text.trim().strip_prefix("gitdir:")?.trim();
    Some(dot_git.parent()?.join(target))
}

fn read(path: &Path) -> Option<String> {
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return None;
    }
    std::fs::read(path)
        .ok()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads git's configuration format, without includes.
fn parse(text: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut section = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            section = head.split(']').next().map(section_name).unwrap_or_default();
        } else if !line.is_empty() && !line.starts_with(['#', ';']) {
            let (name, value) = line.split_once('=').unwrap_or((line, "true"));
            let value = value.trim().trim_matches('"').replace("\\\"", "\"");
            out.push((
                format!("{section}.{}", name.trim().to_ascii_lowercase()),
                value,
            ));
        }
    }
    out
}

fn section_name(head: &str) -> String {
    match head.split_once(' ') {
        Some((section, sub)) => format!(
            "{}.{}",
            section.to_ascii_lowercase(),
            sub.trim().trim_matches('"')
        ),
        None => head.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_format() {
        let text = "[core]\n\tBare = false\n# c\n[remote \"origin\"]\n\turl = /x\n\tpush = a\n\tpush = b\n";
        let settings = parse(text);
        let repository = Repository {
            root: String::new(),
            branch: None,
            settings,
        };
        assert_eq!(repository.setting("core.bare").as_deref(), Some("false"));
        assert_eq!(
            repository.setting("remote.origin.url").as_deref(),
            Some("/x")
        );
        assert_eq!(repository.all("remote.origin.push"), ["a", "b"]);
    }
}
