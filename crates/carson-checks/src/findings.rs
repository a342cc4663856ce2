//! What the checks of a firing found.

use std::collections::BTreeSet;

/// A check that did not pass.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Its id.
    pub id: String,
    /// What it found, and what would mend it.
    pub why: String,
}

/// What the checks of one firing found.
#[derive(Debug, Default)]
pub struct Findings {
    /// The ids that passed.
    pub(crate) passed: BTreeSet<String>,
    /// The check that did not.
    pub(crate) failed: Option<Failed>,
}

impl Findings {
    /// A check passed.
    pub fn pass(&mut self, id: impl Into<String>) {
        self.passed.insert(id.into());
    }
}
