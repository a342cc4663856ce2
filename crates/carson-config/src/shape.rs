//! The walk over a file that holds every key against the table of keys.

use std::path::Path;

use carson_core::RepoName;
use toml_edit::Item;

use crate::document::{Document, join, parent};
use crate::finding::Finding;
use crate::keys::Keys;
use crate::kind::Kind;
use crate::nearest::nearest;

/// Holds every key against a table; the text without what does not hold, and with the names
/// that keys have now.
pub(crate) fn check(
    document: &mut Document,
    file: &Path,
    keys: &Keys,
    findings: &mut Vec<Finding>,
) -> String {
    let mut walk = Walk {
        document,
        file,
        keys,
        findings,
        wrong: Vec::new(),
        renamed: Vec::new(),
    };
    if let Some(root) = document.root() {
        walk.below(root, "", "");
    }
    let (wrong, renamed) = (walk.wrong, walk.renamed);
    document.amended(&wrong, renamed)
}

/// One walk over a document.
struct Walk<'a> {
    document: &'a Document,
    file: &'a Path,
    keys: &'a Keys,
    findings: &'a mut Vec<Finding>,
    /// Keys whose value, or which themselves, do not hold.
    wrong: Vec<String>,
    /// Keys under an old name, with the new one.
    renamed: Vec<(String, String)>,
}

impl Walk<'_> {
    /// Every key below an item; `pattern` is the item's path as the table has it.
    fn below(&mut self, item: &Item, path: &str, pattern: &str) {
        let Some(entries) = item.as_table_like() else {
            return;
        };
        for (name, value) in entries.iter() {
            let path = join(path, name);
            match self.keys.below(pattern, name) {
                None => {
                    let line = self.document.line(&path);
                    let finding = unknown(self.file, line, &path, pattern, name, self.keys);
                    self.found(finding);
                }
                Some(key) if matches!(key.kind, Kind::Section) && value.is_table_like() => {
                    if key.pattern.ends_with('*') {
                        self.name(&path, name);
                    }
                    self.below(value, &path, &key.pattern);
                }
                Some(key) => match &key.kind {
                    Kind::Renamed { to, .. } => {
                        self.value(&path, &key.kind, value);
                        self.renamed(&path, to);
                    }
                    kind => self.value(&path, kind, value),
                },
            }
        }
    }

    /// A name that the operator chose. What stands below it is held against the table all the same.
    fn name(&mut self, path: &str, name: &str) {
        // Repositories and accounts obey one rule.
        if let Err(error) = name.parse::<RepoName>() {
            let line = self.document.line(path);
            let finding = Finding::new(self.file, line, path, error.to_string());
            self.findings
                .push(finding.hint("such as widget, or claude-2"));
        }
    }

    fn value(&mut self, path: &str, kind: &Kind, value: &Item) {
        if let Err(problem) = kind.fits(value) {
            let finding = Finding::new(self.file, self.document.line(path), path, problem);
            self.found(match (kind, kind.meant(value)) {
                (Kind::Planned, _) => finding.hint("remove it until this version has it"),
                (_, Some(word)) => finding.hint(format!("did you mean {word:?}?")),
                (_, None) => finding,
            });
        }
    }

    /// A key under its old name.
    fn renamed(&mut self, path: &str, to: &str) {
        let now = join(parent(path), to);
        let line = self.document.line(path);
        if self.document.line(&now).is_some() {
            let problem = format!("it is the old name of {now}, which is there too");
            self.found(Finding::new(self.file, line, path, problem).hint("remove it"));
        } else {
            self.findings
                .push(Finding::renamed(self.file, line, path, &now));
            self.renamed.push((path.to_owned(), now));
        }
    }

    fn found(&mut self, finding: Finding) {
        self.wrong.push(finding.key.clone());
        self.findings.push(finding);
    }
}

fn unknown(
    file: &Path,
    line: Option<usize>,
    path: &str,
    pattern: &str,
    name: &str,
    keys: &Keys,
) -> Finding {
    let finding = Finding::new(file, line, path, "there is no such key".into());
    let siblings = keys.names_in(pattern);
    // A key that is right, but stands in another section: the commonest mistake in TOML.
    match (nearest(name, &siblings), keys.elsewhere(name)) {
        (Some(near), _) => finding.hint(format!("did you mean {}?", join(parent(path), near))),
        (None, Some(key)) => finding.hint(format!("did you mean {key}?")),
        (None, None) => finding.hint(format!("known here: {}", siblings.join(", "))),
    }
}
