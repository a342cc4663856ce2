//! The house around a forge that a section opens.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use carson_core::section::Around;
use carson_forge::{Answer, Branches, Compared, Forge, Keeper, OPENERS, Place, Spec};
use secrecy::SecretString;
use serde_json::Value;

/// What it heard, and the branches that its git has.
#[derive(Debug, Default)]
pub struct House {
    pub branches: Mutex<BTreeMap<String, Compared>>,
    pub limits: Mutex<Vec<String>>,
}

impl Keeper for House {
    fn learn(&self, _: &SecretString) {}

    fn limited<'a>(
        &'a self,
        _: Duration,
        why: &'a str,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        self.limits.lock().unwrap().push(why.to_owned());
        Box::pin(std::future::ready(()))
    }
}

impl Branches for House {
    fn compare<'a>(&'a self, head: &'a str, _: &'a str) -> Answer<'a, Option<Compared>> {
        let found = self.branches.lock().unwrap().get(head).cloned();
        Box::pin(std::future::ready(Ok(found)))
    }
}

struct Settings;

impl Around for Settings {
    fn path(&self, text: &str) -> PathBuf {
        Path::new("/home").join(text)
    }

    fn problem(&mut self, key: &str, problem: &str, _: &str) {
        panic!("{key}: {problem}");
    }

    fn warning(&mut self, _: &str, _: &str, _: &str) {}

    fn secret(&mut self, _: &str, _: &Path) -> Option<SecretString> {
        None
    }
}

/// A forge of the list, by its section.
pub fn spec(name: &str, section: Option<Value>) -> Arc<dyn Spec> {
    let opener = OPENERS.iter().find(|opener| opener.name == name).unwrap();
    match section {
        Some(section) => (opener.section.unwrap().check)(section, &mut Settings).unwrap(),
        None => (opener.without_section.unwrap())(),
    }
}

impl House {
    pub fn open(self: &Arc<Self>, spec: &dyn Spec, files: &Path, token: &str) -> Forge {
        let keeper: Arc<dyn Keeper> = self.clone();
        let branches: Arc<dyn Branches> = self.clone();
        let place = Place {
            slug: "acme/widget",
            files,
            keeper: &keeper,
            shut_for: Duration::ZERO,
            branches: &branches,
        };
        spec.open(&place, Some(SecretString::from(token))).unwrap()
    }
}
