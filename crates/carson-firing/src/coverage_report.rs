//! What a report says of the coverage of some files.
//!
//! A session wrote the tests, and so what is printed when they run: whoever reads it is a child that answers with
//! numbers.

use std::collections::BTreeSet;

use carson_core::coverage::{CoveredFile, read_lcov};
use carson_proc::inspector::Question;
use serde::{Deserialize, Serialize};

/// Reads a report.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReadCoverage {
    pub text: String,
    /// Where the repository lay when it was made.
    pub roots: Vec<String>,
    /// The files that somebody asks for.
    pub wanted: BTreeSet<String>,
}

impl Question for ReadCoverage {
    const NAME: &'static str = "coverage";
    type Answer = Vec<CoveredFile>;

    fn answer(self) -> Result<Vec<CoveredFile>, String> {
        let roots: Vec<&str> = self.roots.iter().map(String::as_str).collect();
        let mut files = read_lcov(&self.text, &roots)?;
        files.retain(|file| self.wanted.contains(&file.path));
        Ok(files)
    }
}
