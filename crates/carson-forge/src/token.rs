//! Where a forge's token comes from.

use std::path::{Path, PathBuf};

use carson_core::section::Around;

/// Where a token comes from.
#[derive(Clone, Debug)]
pub enum TokenSource {
    /// A file, readable by its owner only.
    File(PathBuf),
    /// A program that prints it, and its arguments.
    Command(Vec<String>),
}

impl TokenSource {
    /// Of `token_file` and `token_command`, which every section of a server has: one of them.
    pub fn check(
        file: Option<String>,
        command: Option<Vec<String>>,
        around: &mut dyn Around,
    ) -> Option<Self> {
        match (file, command) {
            (Some(file), None) => {
                let path = around.path(&file);
                around.secret("token_file", &path);
                Some(Self::File(path))
            }
            (None, Some(argv)) if !argv.is_empty() => Some(Self::Command(argv)),
            _ => {
                around.problem(
                    "",
                    "it needs token_file or token_command, one of them",
                    "token_file = \"forge.token\" or token_command = [\"gh\", \"auth\", \"token\"]",
                );
                None
            }
        }
    }

    /// The file that it is in.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Command(_) => None,
        }
    }
}
