//! Signing in as a GitHub App: its key makes short-lived tokens for one installation.
//!
//! The key never leaves this process. It signs a statement of a few minutes that we are the app
//! (RFC 7519, RS256); for that GitHub hands out an installation's token, which is good for an hour,
//! and is kept in memory only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use carson_core::Clock;
use chrono::{DateTime, TimeDelta, Utc};
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::SigningKey;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::OnceCell;

use super::dialect;
use super::types::RawNumbered;
use crate::answer::Answer;
use crate::error::ForgeError;
use crate::keeper::Keeper;
use crate::rest::{Client, Tokens};

/// A token is renewed so long before its end: what was begun with it can be finished.
const EARLY: TimeDelta = TimeDelta::minutes(5);
/// How long a statement is good; GitHub allows ten minutes, by its own clock.
const STATEMENT: TimeDelta = TimeDelta::minutes(8);
/// Our clock may be ahead by so much.
const AHEAD: TimeDelta = TimeDelta::minutes(1);

/// Which app, and which installation of it.
#[derive(Clone, Debug)]
pub(super) struct AppId {
    pub id: u64,
    /// `None`: the one that the repository belongs to.
    pub installation: Option<u64>,
}

/// Who signs as the app.
#[derive(Debug)]
struct Signer {
    id: u64,
    key: Arc<dyn SigningKey>,
    clock: Clock,
    /// What was sent last.
    last: Mutex<Option<SecretString>>,
}

fn unusable(problem: impl Into<String>) -> ForgeError {
    ForgeError::AppKey {
        problem: problem.into(),
    }
}

impl Signer {
    /// From a private key as GitHub hands it out: PEM.
    fn new(id: u64, pem: &SecretString, clock: Clock) -> Result<Self, ForgeError> {
        // What is wrong with it could repeat some of it.
        let key = PrivateKeyDer::from_pem_slice(pem.expose_secret().as_bytes())
            .map_err(|_| unusable("app_key_file holds no private key in PEM"))?;
        let key = any_supported_type(&key)
            .map_err(|_| unusable("app_key_file holds a key that cannot be read"))?;
        Ok(Self {
            id,
            key,
            clock,
            last: Mutex::default(),
        })
    }

    fn statement(&self) -> Result<SecretString, ForgeError> {
        let now = self.clock.now();
        let (from, until) = ((now - AHEAD).timestamp(), (now + STATEMENT).timestamp());
        let head = json!({"alg": "RS256", "typ": "JWT"}).to_string();
        let claims = json!({"iat": from, "exp": until, "iss": self.id.to_string()}).to_string();
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let text = format!("{}.{}", encode(head.as_bytes()), encode(claims.as_bytes()));
        let signer = self.key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]);
        let signer = signer.ok_or_else(|| unusable("app_key_file holds no RSA key"))?;
        let signature = signer.sign(text.as_bytes());
        let signature = signature.map_err(|_| unusable("app_key_file's key cannot sign"))?;
        Ok(SecretString::from(format!("{text}.{}", encode(&signature))))
    }
}

impl Tokens for Signer {
    fn token(&self) -> Answer<'_, SecretString> {
        Box::pin(async move {
            let statement = self.statement()?;
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(statement.clone());
            Ok(statement)
        })
    }

    fn current(&self) -> Option<SecretString> {
        self.last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[derive(Deserialize)]
struct RawToken {
    token: String,
    expires_at: DateTime<Utc>,
    #[serde(default)]
    permissions: BTreeMap<String, String>,
}

/// What an installation must be granted to write: whoever set the app up chose it.
const NEEDED: [&str; 3] = ["issues", "pull_requests", "contents"];

/// A token that is good for a while.
#[derive(Debug)]
struct Held {
    token: SecretString,
    until: DateTime<Utc>,
    permissions: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct RawAppName {
    slug: String,
}

/// The tokens of one installation.
#[derive(Debug)]
pub(super) struct Installation {
    client: Client,
    clock: Clock,
    slug: String,
    keeper: Arc<dyn Keeper>,
    number: OnceCell<u64>,
    /// Held while a token is fetched: whoever comes meanwhile gets the same.
    fetching: tokio::sync::Mutex<()>,
    held: Mutex<Option<Held>>,
}

impl Installation {
    pub fn new(
        api_base: &str,
        slug: &str,
        app: &AppId,
        pem: &SecretString,
        keeper: Arc<dyn Keeper>,
    ) -> Result<Self, ForgeError> {
        let clock = Clock::system();
        let signer = Arc::new(Signer::new(app.id, pem, clock.clone())?);
        Ok(Self {
            client: Client::new(api_base, signer, dialect())?,
            clock,
            slug: slug.to_owned(),
            keeper,
            number: OnceCell::new_with(app.installation),
            fetching: tokio::sync::Mutex::default(),
            held: Mutex::default(),
        })
    }

    /// The login under which the app writes.
    pub async fn login(&self) -> Result<String, ForgeError> {
        let app: RawAppName = self.told(self.client.get(&["app".to_owned()]).await)?;
        Ok(format!("{}[bot]", app.slug))
    }

    async fn number(&self) -> Result<u64, ForgeError> {
        let number = self.number.get_or_try_init(|| async {
            let path = std::iter::once("repos").chain(self.slug.split('/'));
            let path: Vec<String> = path.chain(["installation"]).map(str::to_owned).collect();
            let found: RawNumbered = self.told(self.client.get(&path).await)?;
            Ok::<u64, ForgeError>(found.id)
        });
        number.await.copied()
    }

    async fn fetch(&self) -> Result<SecretString, ForgeError> {
        let number = self.number().await?.to_string();
        let path = ["app", "installations", &number, "access_tokens"];
        let url = self.client.url(&path.map(str::to_owned), &[])?;
        // A second token takes nothing from the first.
        let made = self.client.post_to(url, &json!({}), true).await;
        let raw: RawToken = self.told(made)?;
        let token = SecretString::from(raw.token);
        self.keeper.learn(&token);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some(Held {
            token: token.clone(),
            until: raw.expires_at,
            permissions: raw.permissions,
        });
        Ok(token)
    }

    /// The permission that the installation was not granted, as its newest token tells; `None` too
    /// where that tells of none.
    pub fn lacks(&self) -> Option<&'static str> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let may = &held.as_ref()?.permissions;
        let writes = |name: &&&str| may.get(**name).is_some_and(|may| may == "write");
        let lacking = NEEDED.iter().find(|name| !writes(name));
        lacking.copied().filter(|_| !may.is_empty())
    }

    /// In the words of who set the app up.
    fn told<T>(&self, answer: Result<T, ForgeError>) -> Result<T, ForgeError> {
        answer.map_err(|error| match error {
            ForgeError::Unauthorized => unusable(
                "it is not the key of the app that app_id names, or the clock of this machine is wrong",
            ),
            ForgeError::NotFound { .. } => unusable(format!(
                "the app is not installed where {} is, or app_installation is another one",
                self.slug
            )),
            other => other,
        })
    }

    fn valid(&self) -> Option<SecretString> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let held = held.as_ref()?;
        (self.clock.now() + EARLY < held.until).then(|| held.token.clone())
    }
}

impl Tokens for Installation {
    fn token(&self) -> Answer<'_, SecretString> {
        Box::pin(async move {
            if let Some(token) = self.valid() {
                return Ok(token);
            }
            let _one = self.fetching.lock().await;
            match self.valid() {
                Some(token) => Ok(token),
                None => self.fetch().await,
            }
        })
    }

    fn current(&self) -> Option<SecretString> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().map(|held| held.token.clone())
    }

    /// Somebody took it back: the next request gets another one.
    fn refused(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests;
