//! What the tests of sinks share.

use std::path::{Path, PathBuf};

use carson_core::outcome::Severity;
use chrono::DateTime;
use secrecy::SecretString;
use serde_json::Value;
use uuid::Uuid;

use crate::message::Message;
use crate::sink::{Notice, NoticeKind, Sink};
use carson_core::section::Around;

/// Secrets without files: a file holds what its name says.
#[derive(Debug, Default)]
pub(crate) struct Named {
    pub problems: Vec<String>,
    pub warnings: Vec<String>,
}

impl Around for Named {
    fn path(&self, text: &str) -> PathBuf {
        PathBuf::from(text)
    }

    fn problem(&mut self, key: &str, problem: &str, _: &str) {
        self.problems.push(format!("{key}: {problem}"));
    }

    fn warning(&mut self, key: &str, warning: &str, _: &str) {
        self.warnings.push(format!("{key}: {warning}"));
    }

    fn secret(&mut self, key: &str, file: &Path) -> Option<SecretString> {
        let read = named(file);
        if let Err(problem) = &read {
            self.problem(key, problem, "");
        }
        read.ok()
    }
}

fn named(file: &Path) -> Result<SecretString, String> {
    match file.to_str() {
        None | Some("gone") => Err("it cannot be read".to_owned()),
        Some(text) => Ok(text.into()),
    }
}

/// The sink that a section makes.
pub(crate) fn opened(name: &str, section: Value) -> Result<Box<dyn Sink>, String> {
    // The tests of a crate have no binary that would choose one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut around = Named::default();
    let spec = crate::spec(name, section, &mut around);
    let spec = spec.ok_or_else(|| format!("{around:?}"))?;
    assert_eq!(spec.name(), name);
    spec.open(&named)
}

pub(crate) fn secrets(name: &str, section: Value) -> Vec<SecretString> {
    let spec = crate::spec(name, section, &mut Named::default());
    spec.unwrap().secrets(&named)
}

pub(crate) fn notice(message: Message) -> Notice {
    Notice {
        id: Uuid::from_u128(7),
        kind: NoticeKind::Finished,
        firing: None,
        at: DateTime::from_timestamp(1_790_000_000, 0).unwrap(),
        message,
    }
}

pub(crate) fn message() -> Message {
    Message {
        severity: Some(Severity::Info),
        title: "OK · Implementer".into(),
        fields: Vec::new(),
        text: "1 commit".into(),
        link: None,
        role: None,
        outcome: None,
    }
}
