//! Where what operators write as a path leads.

use std::path::{Path, PathBuf};

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
