//! A file with the lines of its keys, and the walk that checks it against a table of them.

use std::path::Path;

use carson_core::RepoName;
use toml_edit::{Document as Toml, Item, TableLike, Value};

use crate::finding::Finding;
use crate::keys::{Kind, fits, join, kind_of, nearest};

/// A document with the lines of its keys.
pub(crate) struct Document {
    text: String,
    parsed: Toml<String>,
}

impl Document {
    /// Reads a document; its syntax error is a finding.
    pub(crate) fn parse(file: &Path, text: &str, findings: &mut Vec<Finding>) -> Option<Self> {
        match Toml::parse(text.to_owned()) {
            Ok(parsed) => Some(Self {
                text: text.to_owned(),
                parsed,
            }),
            Err(error) => {
                let line = error.span().map(|span| line_of(text, span.start));
                let problem = format!("this is not TOML: {}", error.message().trim());
                findings.push(Finding::new(file, line, "", problem));
                None
            }
        }
    }

    /// The line of a dotted key; the place in a list is a part of it too.
    pub(crate) fn line(&self, key: &str) -> Option<usize> {
        let mut item = self.parsed.as_item();
        let mut line = None;
        for part in key.split('.') {
            if let (Some(array), Ok(index)) = (item.as_array(), part.parse()) {
                let value: &Value = array.get(index)?;
                return value.span().map(|span| line_of(&self.text, span.start));
            }
            let table = item.as_table_like()?;
            let (name, next) = table.get_key_value(part)?;
            line = name
                .span()
                .or_else(|| next.span())
                .map(|span| line_of(&self.text, span.start));
            item = next;
        }
        line
    }

    /// All keys that hold a value, dotted.
    pub(crate) fn leaves(&self) -> Vec<String> {
        let mut leaves = Vec::new();
        collect(self.parsed.as_item(), "", &mut leaves);
        leaves
    }

    /// Holds every key against a table; the text without what does not hold.
    pub(crate) fn check(
        &self,
        file: &Path,
        table: &[(&'static str, Kind)],
        findings: &mut Vec<Finding>,
    ) -> String {
        let mut walk = Walk {
            document: self,
            file,
            table,
            findings,
            wrong: Vec::new(),
        };
        walk.below(self.parsed.as_item(), "", "");
        let mut sound = self.parsed.clone().into_mut();
        for key in walk.wrong {
            remove(sound.as_table_mut(), &key);
        }
        sound.to_string()
    }
}

/// One walk over a document.
struct Walk<'a> {
    document: &'a Document,
    file: &'a Path,
    table: &'a [(&'static str, Kind)],
    findings: &'a mut Vec<Finding>,
    /// Keys whose value, or which themselves, do not hold.
    wrong: Vec<String>,
}

impl Walk<'_> {
    /// Every key below an item; `pattern` is the item's path as the table has it.
    fn below(&mut self, item: &Item, path: &str, pattern: &str) {
        let Some(entries) = item.as_table_like() else {
            return;
        };
        for (name, value) in entries.iter() {
            let path = join(path, name);
            let known = [join(pattern, name), join(pattern, "*")]
                .into_iter()
                .find_map(|pattern| kind_of(self.table, &pattern).map(|kind| (pattern, kind)));
            match known {
                None => {
                    let line = self.document.line(&path);
                    let finding = unknown(self.file, line, &path, pattern, name, self.table);
                    self.found(finding);
                }
                Some((pattern, Kind::Section)) if value.is_table_like() => {
                    if pattern.ends_with('*') {
                        self.name(&path, name);
                    }
                    self.below(value, &path, &pattern);
                }
                Some((_, kind)) => self.value(&path, kind, value),
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

    fn value(&mut self, path: &str, kind: Kind, value: &Item) {
        if let Err(problem) = fits(kind, value) {
            let finding = Finding::new(self.file, self.document.line(path), path, problem);
            self.found(match kind {
                Kind::Planned => finding.hint("remove it until this version has it"),
                _ => finding,
            });
        }
    }

    fn found(&mut self, finding: Finding) {
        self.wrong.push(finding.key.clone());
        self.findings.push(finding);
    }
}

fn collect(item: &Item, path: &str, leaves: &mut Vec<String>) {
    match item.as_table_like() {
        Some(table) => {
            for (name, value) in table.iter() {
                collect(value, &join(path, name), leaves);
            }
        }
        None => leaves.push(path.to_owned()),
    }
}

/// Removes a dotted key.
fn remove(table: &mut dyn TableLike, key: &str) {
    match key.split_once('.') {
        None => drop(table.remove(key)),
        Some((name, rest)) => {
            if let Some(below) = table.get_mut(name).and_then(Item::as_table_like_mut) {
                remove(below, rest);
            }
        }
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

fn unknown(
    file: &Path,
    line: Option<usize>,
    path: &str,
    pattern: &str,
    name: &str,
    table: &[(&'static str, Kind)],
) -> Finding {
    let finding = Finding::new(file, line, path, "there is no such key".into());
    let siblings = table.iter().filter_map(|(key, kind)| {
        let rest = if pattern.is_empty() {
            key
        } else {
            key.strip_prefix(pattern)?.strip_prefix('.')?
        };
        let is_built = !matches!(kind, Kind::Planned);
        (is_built && !rest.contains('.') && rest != "*").then_some(rest)
    });
    let siblings: Vec<&str> = siblings.collect();
    // A key that is right, but stands in another section: the commonest mistake in TOML.
    let elsewhere = table.iter().find(|(key, kind)| {
        !matches!(kind, Kind::Section | Kind::Planned)
            && !key.contains('*')
            && key.rsplit('.').next() == Some(name)
    });
    match (nearest(name, &siblings), elsewhere) {
        (Some(near), _) => finding.hint(format!("did you mean {}?", join(parent(path), near))),
        (None, Some((key, _))) => finding.hint(format!("did you mean {key}?")),
        (None, None) => finding.hint(format!("known here: {}", siblings.join(", "))),
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}
