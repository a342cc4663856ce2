//! What is kept of a session to tell how it failed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::file::{RuleFile, holds};

/// Standard error is cut to this many bytes, from its end.
const STDERR_MAX: usize = 4096;

/// What is kept of a refusal after which the CLI asks again.
const WAITING_MAX: usize = 500;

/// The evidence of one session. Small, however long the session is.
#[derive(Clone, Debug)]
pub struct Facts {
    pub(crate) file: &'static RuleFile,
    /// The newest event of each kind of evidence, by the kind's place in the file.
    pub(crate) notes: BTreeMap<usize, Value>,
    /// Whether the session said anything.
    pub(crate) spoke: bool,
    /// What the CLI said last of a refusal after which it asks again.
    pub(crate) waiting: Option<String>,
    /// The end of standard error.
    pub(crate) stderr: String,
    /// The exit code, when there was one.
    pub(crate) exit: Option<i32>,
}

impl Facts {
    /// Of a session of which nothing is known yet.
    #[must_use]
    pub fn new(file: &'static RuleFile) -> Self {
        Self {
            file,
            notes: BTreeMap::new(),
            spoke: false,
            waiting: None,
            stderr: String::new(),
            exit: None,
        }
    }

    /// Takes in one event of the stream.
    pub fn event(&mut self, event: &Value) {
        let rules = self.file.rules();
        self.waiting = None;
        let mut kinds = rules.evidence.iter();
        let kind = kinds.position(|kind| holds(&kind.when, event));
        self.notes.retain(|place, _| {
            let pending = rules.evidence.get(*place).is_some_and(|kind| kind.pending);
            !pending || kind == Some(*place)
        });
        if let Some(place) = kind {
            self.notes.insert(place, event.clone());
        } else if !is_quiet(&rules.quiet, event) {
            self.spoke = true;
        }
    }

    /// Takes in one line of standard error; whether it says that the CLI asks again.
    pub fn aside(&mut self, line: &str) -> bool {
        let said = self.file.rules().asks_again.as_deref();
        let said = said.and_then(|mark| Some(line.split_once(mark)?.1));
        if let Some(said) = said {
            self.waiting = Some(said.chars().take(WAITING_MAX).collect());
        }
        said.is_some()
    }

    /// Whether it waits for its provider.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.waiting.is_some()
    }

    /// Takes in how the process ended.
    pub fn ended(&mut self, exit: Option<i32>, stderr: &str) {
        let mut from = stderr.len().saturating_sub(STDERR_MAX);
        while !stderr.is_char_boundary(from) {
            from += 1;
        }
        stderr[from..].clone_into(&mut self.stderr);
        self.exit = exit;
    }
}

fn is_quiet(quiet: &[String], event: &Value) -> bool {
    let kind = event["type"].as_str().unwrap_or_default();
    quiet.iter().any(|name| name == kind)
}
