//! What a forge says to the settings, and how it is opened.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use carson_core::section::SectionKind;
use secrecy::SecretString;

use crate::branches::Branches;
use crate::error::ForgeError;
use crate::forge::Forge;
use crate::keeper::Keeper;
use crate::token::TokenSource;

/// A line of the list.
#[derive(Clone, Copy, Debug)]
pub struct Opener {
    /// What `repos.NAME.forge` says, and the name of its section.
    pub name: &'static str,
    /// What it is, for who chooses one.
    pub about: &'static str,
    /// Its section of carson.toml, if it has one.
    pub section: Option<SectionKind<dyn Spec>>,
    /// What it is where the settings have no such section; `None` if it needs one.
    pub without_section: Option<fn() -> Arc<dyn Spec>>,
    /// What `repos.NAME.slug` must be; `None` if repositories have no other name there.
    pub slug: Option<CheckSlug>,
    /// The host of its public address, which says that a repository is there.
    pub host: Option<&'static str>,
    /// What lets git in there; `None` if nothing of its own does.
    pub git_sign_in: Option<&'static str>,
    /// What `carson init` writes into the section.
    pub sample: &'static str,
}

/// Whether a text names a repository there; else what is wrong with it.
pub type CheckSlug = fn(&str) -> Result<(), String>;

/// A forge as it was checked: what the fleet holds, without its secrets.
pub trait Spec: Debug + Send + Sync {
    /// Its name in the list.
    fn name(&self) -> &'static str;

    /// Where its token comes from; `None` if it has none.
    fn token(&self) -> Option<&TokenSource> {
        None
    }

    /// Whether its issues lie on this machine: to look at them asks nobody, and costs nothing.
    fn is_here(&self) -> bool {
        false
    }

    /// One repository, with the token as it is now.
    ///
    /// # Errors
    /// When what the settings say of it cannot be used.
    fn open(&self, place: &Place<'_>, token: Option<SecretString>) -> Result<Forge, ForgeError>;
}

/// Which repository, and what is around it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// What `repos.NAME.slug` says.
    pub slug: &'a str,
    /// Where files of this repository may lie, in the home.
    pub files: &'a Path,
    /// Who hears of secrets and limits.
    pub keeper: &'a Arc<dyn Keeper>,
    /// How long the forge accepts nothing, as others heard from it.
    pub shut_for: Duration,
    /// Who can look at branches, for a forge that holds none.
    pub branches: &'a Arc<dyn Branches>,
}

/// `owner/name`, as most forges have it.
pub(crate) fn owner_and_name(slug: &str) -> Result<(), String> {
    match slug.split('/').collect::<Vec<_>>()[..] {
        [owner, name] if !owner.is_empty() && !name.is_empty() => Ok(()),
        _ => Err(format!("slug {slug:?} is not owner/name")),
    }
}
