//! Which repository a new home is for, where work in it starts from, and what its files propose.

use std::path::{Path, PathBuf};

use carson_git::{GitError, Heads, Remote, origin_of};

use super::proposed::Hosted;
use crate::args::Init;
use crate::commands::proposal_files::files_of;
use crate::commands::repository_files::{RepositoryFiles, is_checkout};
use crate::error::CommandError;
use crate::print;

/// The repository that is meant, before anybody looked at it.
#[derive(Debug)]
pub struct Wanted {
    /// As it was named.
    named: String,
    /// The directory that it is, if it is here.
    checkout: Option<PathBuf>,
    /// Where that was cloned from.
    origin: Option<String>,
}

impl Wanted {
    /// What the command line names, else what it was called in.
    ///
    /// # Errors
    /// When there is none, or no repository is what was named.
    pub async fn by(args: &Init, may_ask: bool) -> Result<Self, CommandError> {
        let named = match (&args.repo, around(&std::env::current_dir()?)) {
            (Some(repo), _) => repo.clone(),
            (None, Some(dir)) => dir.to_string_lossy().into_owned(),
            (None, None) if may_ask => ask()?,
            (None, None) => return Err(none()),
        };
        let checkout = directory(&named)?;
        let origin = match &checkout {
            Some(dir) if is_checkout(dir) => origin_of(dir).await,
            _ => None,
        };
        Ok(Self {
            named,
            checkout,
            origin,
        })
    }

    /// The directory that it is, if it is here.
    pub fn checkout(&self) -> Option<&Path> {
        self.checkout.as_deref()
    }

    /// Its address, where it has one.
    pub fn address(&self) -> Option<&str> {
        match &self.checkout {
            Some(_) => self.origin.as_deref(),
            None => Some(&self.named),
        }
    }
}

/// A repository that was looked at: it can be read, and has its base.
#[derive(Debug)]
pub struct Source {
    /// What Carson will clone.
    pub url: String,
    /// Its name in the settings.
    pub name: String,
    /// The branch that work starts from.
    pub base: String,
    /// Where a checkout was cloned from, when Carson takes the checkout itself.
    pub origin: Option<String>,
    /// What its settings are proposed by.
    pub files: RepositoryFiles,
}

impl Source {
    /// Looks at the repository: a branch of a pull request needs its place on its forge, not in somebody's
    /// checkout.
    pub async fn found(
        args: &Init,
        wanted: &Wanted,
        hosted: &Hosted,
    ) -> Result<Self, CommandError> {
        let url = match &wanted.checkout {
            None => wanted.named.clone(),
            Some(dir) if is_checkout(dir) && hosted.slug.is_some() => match &wanted.origin {
                Some(origin) => origin.clone(),
                None => return Err(no_origin(dir, hosted.forge)),
            },
            Some(dir) => dir.to_string_lossy().into_owned(),
        };
        let remote = Remote::new(&*url);
        let shown = remote.shown();
        let there = Hosted::at(&url).map_or(hosted.forge, |found| found.forge);
        let heads = remote.heads().await.map_err(|error| {
            let refused = refused(&error, &shown, there);
            match &wanted.checkout {
                // Its issues are elsewhere, and so is what it is cloned from.
                Some(_) if hosted.slug.is_some() => refused.hint(
                    "without that forge: carson init --forge local takes this checkout, with its issues as files",
                ),
                _ => refused,
            }
        })?;
        let base = base(args, heads)?;
        let is_own = wanted
            .checkout
            .as_deref()
            .is_some_and(|dir| dir == Path::new(&url));
        let origin = wanted.origin.as_ref().filter(|_| is_own);
        let place = wanted.checkout.as_ref().map(|dir| dir.to_string_lossy());
        Ok(Self {
            origin: origin.map(|origin| Remote::new(origin.as_str()).shown()),
            files: files_of(place.as_deref().unwrap_or(&url), &base).await,
            name: repo_name(&url),
            url,
            base,
        })
    }
}

fn no_origin(dir: &Path, forge: &str) -> CommandError {
    let dir = dir.display();
    CommandError::usage(format!(
        "{dir} has no remote \"origin\", so Carson cannot tell where it is on {forge}"
    ))
    .hint("carson init --repo git@host:owner/name.git, or --forge local")
}

fn none() -> CommandError {
    CommandError::usage("which repository?")
        .hint("run it in a repository, or carson init --repo PATH_OR_URL")
}

fn ask() -> Result<String, CommandError> {
    print::line("Repository (a path, or an address that git understands):");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let answer = answer.trim();
    if answer.is_empty() {
        Err(none())
    } else {
        Ok(answer.to_owned())
    }
}

/// The repository that a directory is in.
fn around(here: &Path) -> Option<PathBuf> {
    let mut above = here.ancestors();
    above.find(|dir| is_repository(dir)).map(Path::to_owned)
}

fn is_repository(dir: &Path) -> bool {
    is_checkout(dir) || dir.join("HEAD").is_file() && dir.join("objects").is_dir()
}

/// A path becomes absolute; an address is none.
fn directory(repo: &str) -> Result<Option<PathBuf>, CommandError> {
    let path = Path::new(repo);
    if path.is_dir() {
        if !is_repository(path) {
            return Err(
                CommandError::usage(format!("{repo:?} is not a git repository"))
                    .hint("name the directory that has .git in it, or run `git init` there"),
            );
        }
        return Ok(Some(path.canonicalize()?));
    }
    let is_address = repo.contains("://") || repo.contains('@') && repo.contains(':');
    if is_address {
        return Ok(None);
    }
    Err(
        CommandError::usage(format!("{repo:?} is neither a directory nor an address"))
            .hint("carson init --repo ~/src/widget, or --repo git@host:owner/name.git"),
    )
}

/// The repository cannot be worked in; it lies on this forge.
fn refused(error: &GitError, shown: &str, forge: &str) -> CommandError {
    let refused = CommandError::caused_by(error);
    match error {
        GitError::Empty { .. } => {
            refused.hint("make a first commit, push it, and run `carson init` again")
        }
        GitError::AuthFailed { .. } => {
            let refused =
                refused.hint("git itself has to be let in, by an ssh key or a credential helper");
            let mut forges = carson_forge::OPENERS.iter();
            let forge = forges.find(|opener| opener.name == forge);
            match forge.and_then(|opener| Some((opener.about, opener.git_sign_in?))) {
                Some((name, sign_in)) => refused.hint(format!("on {name}: {sign_in}")),
                None => refused,
            }
        }
        GitError::RemoteGone { .. } => refused.hint(format!(
            "check the address and the network: git ls-remote {shown}"
        )),
        other => refused.hint(other.hint()),
    }
}

fn base(args: &Init, heads: Heads) -> Result<String, CommandError> {
    let Heads { default, branches } = heads;
    let some = |branches: &[String]| {
        let shown: Vec<&str> = branches.iter().take(10).map(String::as_str).collect();
        shown.join(", ")
    };
    match (&args.base, default) {
        (Some(base), _) if branches.contains(base) => Ok(base.clone()),
        (Some(base), _) => {
            let have = some(&branches);
            Err(CommandError::usage(format!("there is no branch {base:?}"))
                .hint(format!("the repository has: {have}")))
        }
        (None, Some(default)) => Ok(default),
        (None, None) => {
            let have = some(&branches);
            Err(
                CommandError::usage("the repository's HEAD names no branch to start work from")
                    .hint(format!("carson init --base BRANCH; there are: {have}")),
            )
        }
    }
}

fn repo_name(url: &str) -> String {
    let last = url
        .trim_end_matches('/')
        .rsplit(['/', ':'])
        .next()
        .unwrap_or_default();
    let name: String = last
        .trim_end_matches(".git")
        .to_lowercase()
        .chars()
        .map(|c| {
            if c.is_ascii_lowercase() || c.is_ascii_digit() {
                c
            } else {
                '-'
            }
        })
        .take(40)
        .collect();
    let name = name.trim_matches('-');
    if name.is_empty() {
        "repo".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_get_names() {
        assert_eq!(repo_name("git@github.com:acme/Widget.git"), "widget");
        assert_eq!(repo_name("/srv/my repo/"), "my-repo");
        assert_eq!(repo_name("///"), "repo");
    }
}
