//! The house around a forge that its section opens, for the tests.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use carson_core::section::{Around, SectionKind};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::GitHubSection;
use crate::{Answer, Branches, Compared, Forge, ForgeError, Keeper, Place, Spec};

/// What it heard, and where its files are.
#[derive(Debug)]
pub(super) struct House {
    dir: tempfile::TempDir,
    pub heard: Arc<Heard>,
    /// What another process told of the forge.
    pub shut_for: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Heard {
    pub secrets: Mutex<Vec<String>>,
    pub limits: Mutex<Vec<(Duration, String)>>,
}

impl Keeper for Heard {
    fn learn(&self, secret: &SecretString) {
        let secret = secret.expose_secret().to_owned();
        self.secrets.lock().unwrap().push(secret);
    }

    fn limited<'a>(
        &'a self,
        wait: Duration,
        why: &'a str,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        self.limits.lock().unwrap().push((wait, why.to_owned()));
        Box::pin(std::future::ready(()))
    }
}

impl Branches for Heard {
    fn compare<'a>(&'a self, _: &'a str, _: &'a str) -> Answer<'a, Option<Compared>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// The settings, which find every file.
#[derive(Default)]
pub(super) struct Settings(pub Vec<String>);

impl Around for Settings {
    fn path(&self, text: &str) -> PathBuf {
        Path::new("/home").join(text)
    }

    fn problem(&mut self, key: &str, problem: &str, _: &str) {
        self.0.push(format!("{key}: {problem}"));
    }

    fn warning(&mut self, _: &str, _: &str, _: &str) {}

    fn secret(&mut self, _: &str, _: &Path) -> Option<SecretString> {
        None
    }
}

/// What becomes of a section.
pub(super) fn checked(section: Value) -> Result<Arc<dyn Spec>, Vec<String>> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut settings = Settings::default();
    let spec = (SectionKind::of::<GitHubSection>().check)(section, &mut settings);
    spec.ok_or(settings.0)
}

impl House {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            heard: Arc::default(),
            shut_for: Duration::ZERO,
        }
    }

    pub fn open(&self, spec: &dyn Spec, slug: &str, secret: &str) -> Forge {
        self.try_open(spec, slug, secret).unwrap()
    }

    pub fn try_open(&self, spec: &dyn Spec, slug: &str, secret: &str) -> Result<Forge, ForgeError> {
        let files = self.dir.path().join(slug.replace('/', "-"));
        let keeper: Arc<dyn Keeper> = self.heard.clone();
        let branches: Arc<dyn Branches> = self.heard.clone();
        let place = Place {
            slug,
            files: &files,
            keeper: &keeper,
            shut_for: self.shut_for,
            branches: &branches,
        };
        spec.open(&place, Some(SecretString::from(secret)))
    }
}
