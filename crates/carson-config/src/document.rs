//! A file with the lines of its keys.

use std::cell::OnceCell;
use std::path::Path;

use toml_edit::{Document as Toml, Item, TableLike, Value};

use crate::finding::Finding;

/// A document with the lines of its keys.
pub(crate) struct Document {
    text: String,
    /// Its tree, several times as large as its text. Where a thousand roles are read, each has one only while somebody
    /// asks for it.
    parsed: OnceCell<Toml<String>>,
    /// Keys that stand there under an old name, and what they are called now.
    renamed: Vec<(String, String)>,
}

impl Document {
    /// Reads a document; its syntax error is a finding.
    pub(crate) fn parse(file: &Path, text: &str, findings: &mut Vec<Finding>) -> Option<Self> {
        match Toml::parse(text.to_owned()) {
            Ok(parsed) => Some(Self {
                text: text.to_owned(),
                parsed: parsed.into(),
                renamed: Vec::new(),
            }),
            Err(error) => {
                let line = error.span().map(|span| line_of(text, span.start));
                let problem = format!("this is not TOML: {}", error.message().trim());
                findings.push(Finding::new(file, line, "", problem));
                None
            }
        }
    }

    /// Gives its tree back, which is made again when it is asked for.
    pub(crate) fn rest(&mut self) {
        self.parsed.take();
    }

    /// What was read once can be read again.
    fn parsed(&self) -> Option<&Toml<String>> {
        if self.parsed.get().is_none() {
            let again = Toml::parse(self.text.clone()).ok()?;
            let _ = self.parsed.set(again);
        }
        self.parsed.get()
    }

    /// The line of a dotted key; the place in a list is a part of it too.
    pub(crate) fn line(&self, key: &str) -> Option<usize> {
        let old = self.renamed.iter().find(|(_, now)| now == key);
        let key = old.map_or(key, |(old, _)| old);
        let mut item = self.parsed()?.as_item();
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
        if let Some(root) = self.root() {
            collect(root, "", &mut leaves);
        }
        for leaf in &mut leaves {
            if let Some((_, now)) = self.renamed.iter().find(|(old, _)| old == leaf) {
                leaf.clone_from(now);
            }
        }
        leaves
    }

    /// The text without some keys, and with the names that others have now; their lines are found by
    /// these from now on.
    pub(crate) fn amended(&mut self, without: &[String], renamed: Vec<(String, String)>) -> String {
        let parsed = self.parsed();
        let Some(parsed) = parsed.filter(|_| !(without.is_empty() && renamed.is_empty())) else {
            return self.text.clone();
        };
        let mut sound = parsed.clone().into_mut();
        for key in without {
            remove(sound.as_table_mut(), key);
        }
        for (old, now) in &renamed {
            rename(sound.as_table_mut(), old, now);
        }
        self.renamed = renamed;
        sound.to_string()
    }

    /// All of it.
    pub(crate) fn root(&self) -> Option<&Item> {
        Some(self.parsed()?.as_item())
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

/// Removes a dotted key; what it held.
fn remove(table: &mut dyn TableLike, key: &str) -> Option<Item> {
    match key.split_once('.') {
        None => table.remove(key),
        Some((name, rest)) => remove(table.get_mut(name)?.as_table_like_mut()?, rest),
    }
}

/// Moves a dotted key to another name in its section.
fn rename(table: &mut dyn TableLike, old: &str, now: &str) -> Option<()> {
    match (old.split_once('.'), now.split_once('.')) {
        (Some((section, old)), Some((_, now))) => {
            rename(table.get_mut(section)?.as_table_like_mut()?, old, now)
        }
        _ => {
            let item = table.remove(old)?;
            table.insert(now, item);
            Some(())
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

pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}
