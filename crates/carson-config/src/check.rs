//! What is found about one file while its values are worked out.

use std::path::Path;

use crate::document::Document;
use crate::finding::{Finding, Severity};
use crate::secret::read_secret;

/// What a secret does that only a face or a sink needs.
pub(crate) const ASIDE: &str = "until that is mended it does not work; all else goes on";

/// Collects findings about one file.
pub(crate) struct Check<'a> {
    pub file: &'a Path,
    pub document: &'a Document,
    pub findings: &'a mut Vec<Finding>,
}

impl Check<'_> {
    /// Something that is allowed, and that an operator should see.
    pub(crate) fn warning(&mut self, key: &str, warning: impl Into<String>, hint: &str) {
        self.problem(key, warning, hint);
        if let Some(last) = self.findings.last_mut() {
            last.severity = Severity::Warning;
        }
    }

    pub(crate) fn problem(&mut self, key: &str, problem: impl Into<String>, hint: &str) {
        // What is missing is shown where it should stand.
        let above = |key: &str| key.rsplit_once('.').map(|(above, _)| above.to_owned());
        let mut place = std::iter::successors(Some(key.to_owned()), |key| above(key));
        let line = place.find_map(|key| self.document.line(&key));
        let finding = Finding::new(self.file, line, key, problem.into());
        self.findings.push(if hint.is_empty() {
            finding
        } else {
            finding.hint(hint)
        });
    }

    pub(crate) fn name<T: std::str::FromStr<Err: std::fmt::Display>>(
        &mut self,
        key: &str,
        name: &str,
    ) -> Option<T> {
        match name.parse() {
            Ok(name) => Some(name),
            Err(error) => {
                self.problem(key, format!("{error}"), "");
                None
            }
        }
    }

    /// A file with a secret in it, without which firings could not do their work.
    pub(crate) fn secret(&mut self, key: &str, path: &Path) {
        if let Err(error) = read_secret(path) {
            self.problem(key, error.to_string(), "");
        }
    }

    /// A file with a secret that only a face or a sink needs. What it is for does not work until it can be read;
    /// the fleet fires, and its operator can stop it.
    pub(crate) fn secret_aside(&mut self, key: &str, path: &Path) {
        if let Err(error) = read_secret(path) {
            self.warning(key, error.to_string(), ASIDE);
        }
    }
}
