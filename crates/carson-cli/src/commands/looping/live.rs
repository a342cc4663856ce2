//! A loop as it passes, on standard error: lines that a person can follow.

use carson_loop::meta::{Checked, Meta};
use carson_loop::place::Place;
use carson_loop::run::Step;

use super::tell::{attempts, took};
use crate::print;
use crate::terminal::{self, Stream};

/// Letters of a line of the task's that are shown where nobody says how wide the terminal is.
const LETTERS: usize = 500;

/// What is shown.
pub struct Screen {
    /// The task's own lines are not.
    quiet: bool,
    width: usize,
    place: Place,
}

impl Screen {
    pub fn new(place: &Place, quiet: bool) -> Self {
        Self {
            quiet,
            width: terminal::width(Stream::Error).unwrap_or(LETTERS),
            place: place.clone(),
        }
    }

    pub fn see(&mut self, step: &Step<'_>) {
        match step {
            Step::TookOver(owner) => {
                print::error(&format!("{owner} died; this goes on where it was"));
            }
            Step::EndedOrphans(count) => {
                let (noun, were) = if *count == 1 {
                    ("process", "was")
                } else {
                    ("processes", "were")
                };
                print::error(&format!("{count} {noun} that it left behind {were} ended"));
            }
            Step::PutAway(to) => print::error(&format!("the attempts so far are in {to}")),
            Step::Interrupted(meta) => {
                print::error(&format!(
                    "attempt {} was interrupted; it counts",
                    meta.attempt
                ));
            }
            Step::Checking(0) => print::error(&format!("loop in {}", self.place.root().display())),
            Step::Checking(_) => {}
            Step::Checked(check, said) => checked(check, said),
            Step::Attempt(number, count, of) if number == count => {
                print::error(&format!("attempt {number} of {of}"));
            }
            // Those that were stopped have numbers, and do not count.
            Step::Attempt(number, count, of) => {
                print::error(&format!("attempt {number}, which is {count} of {of}"));
            }
            Step::Line(line) if !self.quiet => {
                let line = print::shown(line.trim_end_matches('\r'));
                let room = self.width.saturating_sub(4).max(20);
                print::error(&format!("  | {}", terminal::fitted(&line, room)));
            }
            Step::Line(_) => {}
            Step::Ran(meta) => print::error(&ran(meta)),
            Step::Matches(earlier) => {
                print::error(&format!("  output matches {}", attempts(earlier)));
            }
            Step::Doubted(found) => print::error(&format!("  warning: {found}")),
            Step::ConfigChanged(keys) => {
                print::error(&format!("  config.json was changed: {}", keys.join(", ")));
            }
            Step::StateEdited => print::error("  state.json was edited"),
            Step::RepositoryGone(top) => {
                print::error(&format!(
                    "  warning: the repository {top} is gone, and no rollback brings it back"
                ));
            }
            Step::NotKept(count, first) => {
                let noun = if *count == 1 { "path" } else { "paths" };
                print::error(&format!(
                    "  warning: no copy is kept of {count} {noun}: {first}"
                ));
            }
        }
    }
}

fn checked(check: &Checked, said: &str) {
    let time = took(check.took_ms);
    if check.passed {
        return print::error(&format!("  check passed ({time})"));
    }
    let said = if said.is_empty() {
        String::new()
    } else {
        format!(": {said}")
    };
    print::error(&format!("  check failed: {} ({time}){said}", check.said()));
}

fn ran(meta: &Meta) -> String {
    let changed = match meta.changed {
        0 => "nothing changed".to_owned(),
        1 => "1 path changed".to_owned(),
        count => format!("{count} paths changed"),
    };
    let left = match meta.leaked {
        0 => String::new(),
        1 => ", 1 process that it left behind was ended".to_owned(),
        count => format!(", {count} processes that it left behind were ended"),
    };
    format!(
        "  task: {} ({}), {changed}{left}",
        meta.ended_by,
        took(meta.took_ms)
    )
}
