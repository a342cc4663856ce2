//! What the hook answers.

use std::fmt;

/// One of the five rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Stable identifier, used in events and settings.
    pub id: &'static str,
    /// Why the rule exists, in one line.
    pub reason: &'static str,
    /// What the model should do instead, in one line.
    pub instead: &'static str,
    /// How the rule decides what it cannot resolve.
    pub default: &'static str,
}

/// The answer to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The call must not run.
    Block(Block),
}

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The rule that refused it.
    pub rule: &'static Rule,
    /// What exactly the call would do, one line, in words.
    pub what: String,
}

impl Block {
    /// A block; `what` is made one line.
    pub fn new(rule: &'static Rule, what: &str) -> Self {
        Self {
            rule,
            what: what.replace(['\n', '\r'], " "),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, what } = self;
        write!(
            f,
            "carson: blocked by rule {}: {what}. {}",
            rule.id, rule.instead
        )
    }
}

impl Decision {
    /// The block, if there is one.
    pub fn block(&self) -> Option<&Block> {
        match self {
            Self::Allow => None,
            Self::Block(block) => Some(block),
        }
    }
}
