//! `[github]`: what an operator may write of it.

use std::sync::Arc;

use carson_core::section::{Around, Section};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::GitHubForge;
use crate::error::ForgeError;
use crate::forge::Forge;
use crate::opener::{Place, Spec};
use crate::token::TokenSource;

/// `[github]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("x-planned" = ["app"]))]
pub(crate) struct GitHubSection {
    /// The address of the API; another one for GitHub Enterprise.
    #[schemars(extend("examples" = ["https://github.example/api/v3"]))]
    api_base: String,
    /// A file, mode 0600, with a token that may read and write issues, pull requests and contents.
    #[schemars(extend("examples" = ["github.token"]))]
    token_file: Option<String>,
    /// A program that prints the token, and its arguments.
    #[schemars(extend("examples" = [["gh", "auth", "token"]]))]
    token_command: Option<Vec<String>>,
}

impl Default for GitHubSection {
    fn default() -> Self {
        Self {
            api_base: "https://api.github.com".into(),
            token_file: None,
            token_command: None,
        }
    }
}

impl Section for GitHubSection {
    const NAME: &'static str = "github";
    type Checked = dyn Spec;

    fn check(self, around: &mut dyn Around) -> Option<Arc<dyn Spec>> {
        let token = TokenSource::check(self.token_file, self.token_command, around)?;
        let api_base = self.api_base;
        Some(Arc::new(GitHub { api_base, token }))
    }
}

/// GitHub as it was checked.
#[derive(Debug)]
struct GitHub {
    api_base: String,
    token: TokenSource,
}

impl Spec for GitHub {
    fn name(&self) -> &'static str {
        GitHubSection::NAME
    }

    fn token(&self) -> Option<&TokenSource> {
        Some(&self.token)
    }

    fn open(&self, place: &Place<'_>, token: Option<SecretString>) -> Result<Forge, ForgeError> {
        let token = token.ok_or(ForgeError::Unauthorized)?;
        let forge = GitHubForge::new(&self.api_base, place.slug, token)?;
        Ok(Forge::of(forge))
    }
}
