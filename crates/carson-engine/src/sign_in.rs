//! What each CLI signs in with, and how a refreshed sign-in is told from a forged one.
//!
//! A CLI's own directory holds far more than its sign-in: hooks, helpers, plugins and notes that its
//! next start runs or reads. A session therefore never gets that directory, but one of its own with
//! the files of its [`SignIn`] in it (`carson-firing`, `sign_in.rs`). What comes back is a few texts out
//! of a file whose form is known, and nothing else: the rest of the operator's file stays as it is.

use std::fmt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value};
use thiserror::Error;

/// The longest token. An identity token of a large organisation has some kilobytes.
const LONGEST_TOKEN: usize = 16 * 1024;

/// No token is good for longer; one that says so would stop its CLI from ever renewing it.
const LONGEST_LIFE: TimeDelta = TimeDelta::days(400);

/// How a CLI is signed in by a directory.
#[derive(Debug)]
pub struct SignIn {
    /// The variable that names the directory.
    pub variable: &'static str,
    /// Where the CLI's own files lie, below it; empty where it is theirs altogether.
    pub(crate) own: &'static str,
    /// What it signs in with, and renews.
    pub credentials: &'static [Credential],
    /// What it does not work without; never brought back.
    pub settings: &'static [Settings],
}

impl SignIn {
    /// What nobody but the CLI itself may have, when the variable names this directory.
    #[must_use]
    pub fn kept(&self, dir: &Path) -> PathBuf {
        match self.own {
            "" => dir.to_owned(),
            own => dir.join(own),
        }
    }
}

/// A file of settings.
#[derive(Debug)]
pub struct Settings {
    /// Where it lies, below the directory.
    pub file: &'static str,
    /// The keys of its object that are needed; all of it, as it stands, where none is named.
    pub(crate) keys: &'static [&'static str],
}

impl Settings {
    /// What of it a session gets; `None` when it is not what it should be.
    #[must_use]
    pub fn given(&self, text: &[u8]) -> Option<Vec<u8>> {
        match self.keys {
            [] => Some(text.to_vec()),
            keys if self.file.ends_with(".toml") => some_of_toml(text, keys),
            keys => some_of(text, keys),
        }
    }
}

/// A file of credentials: JSON.
#[derive(Debug)]
pub struct Credential {
    /// Where it lies, below the directory.
    pub file: &'static str,
    /// The keys of its object that belong to the sign-in; all where none is named.
    pub(crate) keys: &'static [&'static str],
    /// Where the objects with tokens are.
    pub(crate) holders: Holders,
    /// What a renewal replaces: pointers to texts.
    pub(crate) tokens: &'static [&'static str],
    /// What says which of two is newer.
    pub(crate) age: Age,
    /// What a renewal never changes: pointers.
    pub(crate) same: &'static [&'static str],
}

/// Where the objects with tokens are, in a file of credentials.
#[derive(Debug)]
pub(crate) enum Holders {
    /// There.
    At(&'static str),
    /// Every member of the file's object: one for each provider.
    Each,
}

/// What says which of two sign-ins is newer.
#[derive(Debug)]
pub(crate) enum Age {
    /// A time of expiry, in milliseconds since 1970.
    ExpiresMillis(&'static str),
    /// When it was renewed, as RFC 3339.
    RenewedAt(&'static str),
}

/// Why something is no renewal of a sign-in.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Forged {
    /// It is no JSON object.
    #[error("it is no JSON object")]
    NotJson,
    /// Something that must be there is not, or of another kind.
    #[error("{0} is not as it should be")]
    Shape(&'static str),
    /// It belongs to somebody else.
    #[error("{0} is another one")]
    OtherAccount(&'static str),
    /// It claims to be newer, and brings nothing.
    #[error("it claims to be newer, and has the same tokens")]
    NothingNew,
    /// It is from a time that cannot be.
    #[error("its time lies too far ahead")]
    TooFarAhead,
}

impl Credential {
    /// What of it a session gets; `None` when it is not what it should be.
    #[must_use]
    pub fn given(&self, text: &[u8]) -> Option<Vec<u8>> {
        some_of(text, self.keys)
    }

    /// The tokens in it, as far as it has the form.
    #[must_use]
    pub fn tokens(&self, text: &[u8]) -> Vec<String> {
        let Ok(file) = serde_json::from_slice::<Value>(text) else {
            return Vec::new();
        };
        let holders = self.holders.names(&file);
        let holders = holders.iter().filter_map(|name| file.pointer(name));
        let all = holders.flat_map(|holder| self.tokens.iter().map(|at| holder.pointer(at)));
        all.filter_map(|token| token.and_then(Value::as_str))
            .filter(|token| is_token(token))
            .map(str::to_owned)
            .collect()
    }

    /// Whether the first one is newer than the second, which may be anything.
    #[must_use]
    pub fn is_newer(&self, one: &[u8], other: &[u8]) -> bool {
        self.latest(one) > self.latest(other)
    }

    fn latest(&self, text: &[u8]) -> Option<i64> {
        let file: Value = serde_json::from_slice(text).ok()?;
        let holders = self.holders.names(&file);
        let ages = holders.iter().filter_map(|name| file.pointer(name));
        ages.filter_map(|holder| self.age.millis_of(holder)).max()
    }

    /// What the kept file becomes by the one that a session left: its own tokens replaced by newer
    /// ones, and nothing else. `None` when there is nothing newer.
    ///
    /// # Errors
    /// When what was left is no renewal of what is kept.
    pub fn renewed(
        &self,
        kept: &[u8],
        left: &[u8],
        now: DateTime<Utc>,
    ) -> Result<Option<Vec<u8>>, Forged> {
        let (mut kept, left) = (object(kept)?, object(left)?);
        let mut changed = false;
        for name in self.holders.names(&kept) {
            let Some(mine) = kept.pointer_mut(&name) else {
                continue;
            };
            // A key in place of tokens is never renewed.
            let Some(age) = self.age.millis_of(mine) else {
                continue;
            };
            let theirs = left.pointer(&name).ok_or(Forged::Shape("the sign-in"))?;
            changed |= self.renew(mine, age, theirs, now)?;
        }
        Ok(changed.then(|| Value::to_string(&kept).into_bytes()))
    }

    fn renew(
        &self,
        mine: &mut Value,
        age: i64,
        theirs: &Value,
        now: DateTime<Utc>,
    ) -> Result<bool, Forged> {
        let new = self
            .age
            .millis_of(theirs)
            .ok_or(Forged::Shape(self.age.at()))?;
        if new <= age {
            return Ok(false);
        }
        if new > self.age.last(now) {
            return Err(Forged::TooFarAhead);
        }
        let is_said = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
        for at in self.same {
            let (had, has) = (mine.pointer(at), theirs.pointer(at));
            if is_said(had) && is_said(has) && had != has {
                return Err(Forged::OtherAccount(at));
            }
        }
        let mut changed = false;
        for at in self.tokens {
            let Some(token) = theirs.pointer(at) else {
                continue;
            };
            let is_good = token.as_str().is_some_and(is_token);
            if !is_good {
                return Err(Forged::Shape(at));
            }
            if let Some(old) = mine.pointer_mut(at) {
                changed |= old != token;
                old.clone_from(token);
            }
        }
        if !changed {
            return Err(Forged::NothingNew);
        }
        if let (Some(old), Some(new)) = (
            mine.pointer_mut(self.age.at()),
            theirs.pointer(self.age.at()),
        ) {
            old.clone_from(new);
        }
        Ok(true)
    }
}

impl Holders {
    fn names(&self, file: &Value) -> Vec<String> {
        match self {
            Self::At(name) => vec![(*name).to_owned()],
            Self::Each => {
                let members = file.as_object().into_iter().flat_map(Map::keys);
                let escaped = |key: &String| key.replace('~', "~0").replace('/', "~1");
                members.map(|key| format!("/{}", escaped(key))).collect()
            }
        }
    }
}

impl Age {
    fn at(&self) -> &'static str {
        match self {
            Self::ExpiresMillis(at) | Self::RenewedAt(at) => at,
        }
    }

    /// Milliseconds since 1970.
    fn millis_of(&self, holder: &Value) -> Option<i64> {
        let value = holder.pointer(self.at())?;
        match self {
            Self::ExpiresMillis(_) => value.as_i64().filter(|millis| *millis >= 0),
            Self::RenewedAt(_) => {
                let time = DateTime::parse_from_rfc3339(value.as_str()?).ok()?;
                Some(time.timestamp_millis())
            }
        }
    }

    /// The latest that is believed.
    fn last(&self, now: DateTime<Utc>) -> i64 {
        let ahead = match self {
            Self::ExpiresMillis(_) => LONGEST_LIFE,
            // A clock may be a little wrong.
            Self::RenewedAt(_) => TimeDelta::minutes(5),
        };
        (now + ahead).timestamp_millis()
    }
}

impl fmt::Display for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.variable)
    }
}

/// Printable, in one line, and of a length that a header could have.
fn is_token(text: &str) -> bool {
    let length = 8..=LONGEST_TOKEN;
    length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn object(text: &[u8]) -> Result<Value, Forged> {
    match serde_json::from_slice(text) {
        Ok(file @ Value::Object(_)) => Ok(file),
        _ => Err(Forged::NotJson),
    }
}

/// These keys of a JSON object; all where none is named.
fn some_of_toml(text: &[u8], keys: &[&str]) -> Option<Vec<u8>> {
    let mut file: toml::Table = std::str::from_utf8(text).ok()?.parse().ok()?;
    file.retain(|key, _| keys.contains(&key));
    Some(toml::to_string(&file).ok()?.into_bytes())
}

fn some_of(text: &[u8], keys: &[&str]) -> Option<Vec<u8>> {
    let Ok(Value::Object(mut file)) = serde_json::from_slice(text) else {
        return None;
    };
    if !keys.is_empty() {
        file.retain(|key, _| keys.contains(&key.as_str()));
    }
    serde_json::to_vec(&file).ok()
}

#[cfg(test)]
mod tests;
