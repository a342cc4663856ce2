//! `[github]`: what an operator may write of it.

use std::sync::{Arc, Mutex, PoisonError};

use carson_core::section::{Around, Section};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::app::{AppId, Installation};
use super::{GitHubForge, dialect};
use crate::error::ForgeError;
use crate::forge::Forge;
use crate::opener::{Place, Spec};
use crate::rest::{Answers, Client, Fixed, Memory, Tokens};
use crate::token::TokenSource;

/// `[github]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
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
    /// The id of a GitHub App, in place of a token.
    #[schemars(extend("examples" = [123_456]))]
    app_id: Option<u64>,
    /// The app's private key: a file, mode 0600.
    #[schemars(extend("examples" = ["github-app.pem"]))]
    app_key_file: Option<String>,
    /// Which installation of the app; the one that a repository belongs to without it.
    #[schemars(extend("examples" = [7_654_321]))]
    app_installation: Option<u64>,
}

impl Default for GitHubSection {
    fn default() -> Self {
        Self {
            api_base: "https://api.github.com".into(),
            token_file: None,
            token_command: None,
            app_id: None,
            app_key_file: None,
            app_installation: None,
        }
    }
}

impl GitHubSection {
    fn is_app(&self) -> bool {
        self.app_id.is_some() || self.app_key_file.is_some() || self.app_installation.is_some()
    }

    /// The app, and where its key is.
    fn app(&self, around: &mut dyn Around) -> Option<(AppId, TokenSource)> {
        if self.token_file.is_some() || self.token_command.is_some() {
            let hint = "remove token_file and token_command, or what begins with app_";
            around.problem("", "it signs in by a token and as an app", hint);
            return None;
        }
        let (Some(id), Some(file)) = (self.app_id, &self.app_key_file) else {
            let hint = "app_id = 123456 and app_key_file = \"github-app.pem\"";
            around.problem(
                "",
                "an app needs app_id and app_key_file, both of them",
                hint,
            );
            return None;
        };
        let path = around.path(file);
        around.secret("app_key_file", &path);
        let installation = self.app_installation;
        Some((AppId { id, installation }, TokenSource::File(path)))
    }
}

impl Section for GitHubSection {
    const NAME: &'static str = "github";
    type Checked = dyn Spec;

    fn check(self, around: &mut dyn Around) -> Option<Arc<dyn Spec>> {
        let (app, token) = if self.is_app() {
            let (app, key) = self.app(around)?;
            (Some(app), key)
        } else {
            let token = TokenSource::check(self.token_file, self.token_command, around)?;
            (None, token)
        };
        Some(Arc::new(GitHub {
            api_base: self.api_base,
            token,
            app,
            doors: Mutex::default(),
        }))
    }
}

/// GitHub as it was checked.
#[derive(Debug)]
struct GitHub {
    api_base: String,
    /// Where the token is, or the app's key.
    token: TokenSource,
    app: Option<AppId>,
    /// How this process came in so far.
    doors: Mutex<Vec<Door>>,
}

/// What one token, or one installation of an app, knows of GitHub: every repository that is opened
/// with it shares it.
#[derive(Clone, Debug)]
struct Door {
    /// The token or key, and for an app whose installation.
    secret: SecretString,
    owner: Option<String>,
    tokens: Arc<dyn Tokens>,
    installation: Option<Arc<Installation>>,
    memory: Arc<Memory>,
}

/// Doors that a process remembers: more of them are keys that somebody replaced.
const DOORS: usize = 64;

impl GitHub {
    fn door(&self, place: &Place<'_>, secret: SecretString) -> Result<Door, ForgeError> {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = self.app.as_ref().and_then(|_| place.slug.split('/').next());
        let known = doors.iter().find(|door| {
            door.owner.as_deref() == owner && door.secret.expose_secret() == secret.expose_secret()
        });
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let installation = match &self.app {
            Some(app) => {
                let keeper = place.keeper.clone();
                let api = self.api_base.as_str();
                Some(Arc::new(Installation::new(
                    api, place.slug, app, &secret, keeper,
                )?))
            }
            None => None,
        };
        let tokens: Arc<dyn Tokens> = match &installation {
            Some(installation) => installation.clone(),
            None => Arc::new(Fixed(secret.clone())),
        };
        let door = Door {
            secret,
            owner: owner.map(str::to_owned),
            tokens,
            installation,
            memory: Arc::default(),
        };
        if doors.len() >= DOORS {
            doors.clear();
        }
        doors.push(door.clone());
        Ok(door)
    }
}

impl Spec for GitHub {
    fn name(&self) -> &'static str {
        GitHubSection::NAME
    }

    fn token(&self) -> Option<&TokenSource> {
        Some(&self.token)
    }

    fn open(&self, place: &Place<'_>, token: Option<SecretString>) -> Result<Forge, ForgeError> {
        let door = self.door(place, token.ok_or(ForgeError::Unauthorized)?)?;
        if !place.shut_for.is_zero() {
            door.memory.shut(place.shut_for);
        }
        let client = Client::new(&self.api_base, door.tokens, dialect())?
            .sharing(door.memory)
            .telling(place.keeper.clone())
            .keeping(Answers::at(place.files.join("answers")));
        Ok(Forge::of(GitHubForge::of(
            client,
            place.slug,
            door.installation,
        )))
    }
}
