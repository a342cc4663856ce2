//! What lies in a repository that the settings are proposed by.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use carson_git::Remote;

use super::repository_files::{RepositoryFiles, is_checkout};
use super::{proposed_check, proposed_setup};

/// In the checkout that it is, or as its remote tells.
pub async fn files_of(url: &str, base: &str) -> RepositoryFiles {
    let dir = Path::new(url);
    match is_checkout(dir) {
        true => RepositoryFiles::Checkout(dir.to_owned()),
        false => peeked(&Remote::new(url), base).await,
    }
}

/// What is nowhere here is asked for; whoever does not answer in time proposes nothing.
async fn peeked(remote: &Remote, base: &str) -> RepositoryFiles {
    let names: Vec<&str> = proposed_setup::files()
        .chain(proposed_check::files())
        .collect();
    let found = match Scratch::new() {
        Ok(scratch) => remote
            .peek(base, &names, &scratch.0)
            .await
            .unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let texts = found
        .into_iter()
        .filter_map(|(name, content)| Some((name, String::from_utf8(content).ok()?)));
    RepositoryFiles::Peeked(texts.collect())
}

/// A directory of ours that goes again.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Self> {
        let name = format!("carson-init-{}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&dir)?;
        Ok(Self(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
