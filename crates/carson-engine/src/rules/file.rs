//! The rule files, as written.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use super::class::Class;

/// A rule file: whose words are read. It is part of the program.
pub struct RuleFile {
    text: &'static str,
    rules: OnceLock<Rules>,
}

impl RuleFile {
    /// Of this text.
    pub(crate) const fn new(text: &'static str) -> Self {
        let rules = OnceLock::new();
        Self { text, rules }
    }

    /// What a person does when an account of this CLI is no longer signed in.
    #[must_use]
    pub fn sign_in_remedy(&self) -> &str {
        &self.rules().remedy
    }

    /// What a person does when it is no longer paid for.
    #[must_use]
    pub fn billing_remedy(&self) -> &str {
        &self.rules().billing_remedy
    }

    /// `1 of 2026-11-21`: which rules these are.
    #[must_use]
    pub fn edition(&self) -> String {
        let rules = self.rules();
        format!("{} of {}", rules.version, rules.dated)
    }

    /// What it says. A test reads each file, so that none is empty here.
    pub(crate) fn rules(&self) -> &Rules {
        self.rules.get_or_init(|| self.read().unwrap_or_default())
    }

    pub(crate) fn read(&self) -> Result<Rules, toml::de::Error> {
        toml::from_str(self.text)
    }
}

impl fmt::Debug for RuleFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RuleFile({})", self.edition())
    }
}

/// One file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rules {
    pub version: u32,
    pub dated: String,
    pub remedy: String,
    pub billing_remedy: String,
    /// No window of this provider lasts longer: what a reset time may be at most.
    pub horizon_days: u32,
    /// Events that are not the session saying something.
    #[serde(default)]
    pub quiet: Vec<String>,
    /// Lines at the end of standard error that count; 0 is none.
    #[serde(default)]
    pub stderr_lines: usize,
    pub started: Option<Started>,
    pub answer: Option<Answer>,
    pub usage: Option<Usage>,
    pub calls: Option<Calls>,
    /// A line of standard error that says that the provider refused and the CLI asks again: what stands
    /// behind this in it. Forgotten with the next line of output.
    pub asks_again: Option<String>,
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// JSON pointers, and the value that each must have.
pub(crate) type When = BTreeMap<String, Value>;

pub(crate) fn holds(when: &When, event: &Value) -> bool {
    when.iter()
        .all(|(pointer, value)| event.pointer(pointer) == Some(value))
}

/// Which event says that it began, and with which model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Started {
    pub when: When,
    pub model: String,
}

/// Where the final text is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    pub when: When,
    pub text: String,
    /// The pieces are one text; else the last one is it.
    #[serde(default)]
    pub join: bool,
    /// Type of the event after which a new text begins.
    pub breaks: Option<String>,
}

/// Where tokens and money are; they add up.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Usage {
    pub when: When,
    pub tokens_in: Vec<String>,
    pub tokens_out: Vec<String>,
    pub cost: Option<String>,
    /// Whether each of them is one turn.
    #[serde(default)]
    pub step: bool,
}

/// Which events are tool calls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calls {
    pub when: When,
    pub name: String,
    /// Only these names; empty is all.
    #[serde(default)]
    pub names: Vec<String>,
    /// What it was asked with. A call that has none of it is like no other one.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// What came back, where the same event has it.
    #[serde(default)]
    pub result: Vec<String>,
    /// Its id, where its result is an event of its own.
    pub id: Option<String>,
    pub done: Option<Done>,
    pub denied: Option<Refused>,
}

/// Which events say that a call was stopped; they have its id where calls have one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refused {
    pub when: When,
    pub reason: String,
    /// What the reason begins with; empty is anything.
    #[serde(default)]
    pub begins: Vec<String>,
    /// What it begins with when the hook stopped it.
    pub by_hook: Option<String>,
}

/// Which events are results of tool calls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Done {
    pub when: When,
    /// The call's id.
    pub id: String,
    pub result: Vec<String>,
}

/// An event that counts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Evidence {
    pub name: String,
    pub when: When,
    pub message: String,
    pub code: Option<String>,
    pub status: Option<String>,
    pub epoch: Option<String>,
    pub retry_after: Option<String>,
    #[serde(default)]
    pub pending: bool,
}

/// What a piece of evidence means.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub id: String,
    /// Where its words come from, and whether a session has said them.
    pub source: String,
    /// When, as a date.
    pub seen: String,
    /// Names of evidence; empty is any, standard error included.
    #[serde(default)]
    pub on: Vec<String>,
    #[serde(default)]
    pub status: Vec<u16>,
    #[serde(default)]
    pub exit: Vec<i32>,
    #[serde(default)]
    pub text: Vec<String>,
    pub class: Class,
    /// Pointer to the window's name.
    pub window: Option<String>,
    /// The window's name.
    pub window_name: Option<String>,
    /// Pointer to how much of it is used; `{window}` is its name.
    pub utilization: Option<String>,
}
