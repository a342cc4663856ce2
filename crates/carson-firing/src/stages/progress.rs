//! Whether the attempts of a firing get anywhere: the same rules as of `carson loop`, on what is measured here.
//!
//! What a session says is not held against what it said before: control flow reads no prose.

use carson_loop::digest::Digest;
use carson_loop::progress::{Stagnation, Trace, Verdict, judge};

use super::verify::Failure;

/// So many attempts that get nowhere are enough, as of a loop where nobody says otherwise.
const LIMIT: u32 = 3;

/// What the attempts of a firing left.
#[derive(Default)]
pub(super) struct Progress(Vec<Trace>);

impl Progress {
    /// Takes in how an attempt failed.
    pub(super) fn add(&mut self, attempt: u32, failure: &Failure) -> Verdict {
        let tree = Some(Digest::of(failure.commit.as_str().as_bytes()));
        self.0.push(Trace {
            attempt,
            output: None,
            failure: Some(failure.print),
            tree,
            is_idle: self.0.last().is_some_and(|last| last.tree == tree),
        });
        judge(&self.0, LIMIT)
    }
}

/// What the next session hears beside the failure.
pub(super) fn warned(found: &Stagnation) -> String {
    format!("Mind this: {found}.")
}
