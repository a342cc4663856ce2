//! Results of calls that only read, for as long as nothing was done.

use std::collections::BTreeMap;

use crate::toolbox::Observation;

/// What is known of the files as they are.
#[derive(Debug, Default)]
pub struct Cache(BTreeMap<(String, String), Observation>);

impl Cache {
    /// What the same call had.
    #[must_use]
    pub fn get(&self, tool: &str, arguments: &str) -> Option<&Observation> {
        self.0.get(&(tool.to_owned(), arguments.to_owned()))
    }

    /// Notes what a call that only reads had.
    pub fn note(&mut self, tool: &str, arguments: &str, had: &Observation) {
        let key = (tool.to_owned(), arguments.to_owned());
        self.0.insert(key, had.clone());
    }

    /// Something was done: nothing is known any more.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}
