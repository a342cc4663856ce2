//! Where what operators write as a path leads.

use std::path::{Component, Path, PathBuf};

/// Where relative paths and `~` lead.
pub(crate) struct Paths<'a> {
    pub home: &'a Path,
    pub user: Option<&'a Path>,
}

impl Paths<'_> {
    pub(crate) fn expand(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.user) {
            (Some(rest), Some(user)) => user.join(rest),
            _ if text == "~" => self.user.unwrap_or(Path::new("~")).to_owned(),
            _ => self.home.join(text),
        }
    }

    /// A program, by its path or its name. The directory of a path is the one that it is: behind walls, what `..` climbs
    /// out of may not be there.
    pub(crate) fn program(&self, text: &str) -> PathBuf {
        let path = PathBuf::from(self.tilde(text));
        let climbs = path.components().any(|part| part == Component::ParentDir);
        let (Some(dir), Some(name)) = (path.parent().filter(|_| climbs), path.file_name()) else {
            return path;
        };
        dir.canonicalize()
            .map_or(path.clone(), |dir| dir.join(name))
    }

    /// A value that may be a path: only `~` is expanded.
    pub(crate) fn tilde(&self, text: &str) -> String {
        let leads_home = text == "~" || text.starts_with("~/");
        if leads_home {
            self.expand(text).to_string_lossy().into_owned()
        } else {
            text.to_owned()
        }
    }
}
