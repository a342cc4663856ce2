//! Which git will do.

use std::path::Path;

use crate::error::GitError;
use crate::git::Git;

/// The oldest git that Carson is tested to work with (Debian 12 has it).
pub const MINIMUM: (u32, u32) = (2, 39);

/// Checks the `git` program on the `PATH`; gives its version as it says it.
///
/// # Errors
/// When there is none, or it is older than [`MINIMUM`].
pub async fn check_version() -> Result<String, GitError> {
    let said = Git::new(Path::new("/"), "version").text().await?;
    let said = said.trim().trim_start_matches("git version ").to_owned();
    match is_new_enough(&said) {
        true => Ok(said),
        false => Err(GitError::TooOld { found: said }),
    }
}

/// Whether a version, as git says it, will do.
#[must_use]
pub fn is_new_enough(said: &str) -> bool {
    parse(said).is_some_and(|found| found >= MINIMUM)
}

fn parse(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(parse("2.47.3"), Some((2, 47)));
        assert_eq!(parse("2.100.1 (Apple Git-154)"), Some((2, 100)));
        assert!(parse("2.9.0") < Some(MINIMUM));
        assert_eq!(parse("weird"), None);
        assert!(is_new_enough("2.39.5") && !is_new_enough("2.38.9") && !is_new_enough("weird"));
    }

    #[tokio::test]
    async fn this_git_will_do() {
        assert!(check_version().await.unwrap().starts_with('2'));
    }
}
