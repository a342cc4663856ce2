//! Whether a session goes in circles: the same call with the same result again and again, or many
//! calls that change nothing.
//!
//! Of a call only hashes are kept, so that a session cannot make this large, and nothing that it
//! wrote is read here.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::text::counted;

/// So many equal calls in a row are a circle.
pub const SAME_CALLS: u32 = 3;
/// So many calls after which the tree is as it was are one, where the tree is to be changed.
pub const IDLE_CALLS: u32 = 200;
/// After so many calls somebody looks at the tree.
pub const LOOK_EVERY: u32 = 50;

/// How a session goes in circles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Circle {
    /// The same call had the same result, so many times in a row.
    Same {
        /// The tool.
        tool: String,
        /// How often.
        times: u32,
    },
    /// So many calls changed nothing.
    Idle {
        /// How many.
        calls: u32,
    },
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same { tool, times } => write!(
                f,
                "the same call of {tool} had the same result {times} times in a row"
            ),
            Self::Idle { calls } => {
                write!(f, "{} changed nothing in its tree", counted(*calls, "call"))
            }
        }
    }
}

/// A call that has its result: hashes of what it was asked with, and of what came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallPrint {
    /// Of its arguments.
    pub arguments: u64,
    /// Of its result.
    pub result: u64,
}

impl CallPrint {
    /// Of these words.
    #[must_use]
    pub fn of(arguments: &str, result: &str) -> Self {
        let print = |text: &str| {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            hasher.finish()
        };
        Self {
            arguments: print(arguments),
            result: print(result),
        }
    }
}

/// Equal calls in a row.
#[derive(Clone, Debug, Default)]
pub struct Repetition {
    last: Option<(String, CallPrint)>,
    times: u32,
}

impl Repetition {
    /// Takes in the next call; what cannot be compared (`None`) is like no other one.
    pub fn add(&mut self, tool: &str, call: Option<CallPrint>) -> Option<Circle> {
        let Some(call) = call else {
            *self = Self::default();
            return None;
        };
        let is_same = self
            .last
            .as_ref()
            .is_some_and(|(name, print)| name == tool && *print == call);
        if is_same {
            self.times = self.times.saturating_add(1);
        } else {
            self.times = 1;
            self.last = Some((tool.to_owned(), call));
        }
        (self.times >= SAME_CALLS).then(|| Circle::Same {
            tool: tool.to_owned(),
            times: self.times,
        })
    }
}

/// Calls since the tree was last changed. Whoever looks says how the tree stands, by a value that is
/// another one after each change; nobody needs to look at each call.
#[derive(Clone, Debug)]
pub struct Stillness<T> {
    seen: T,
    /// Calls when it was seen to have changed.
    changed_at: u32,
}

impl<T: PartialEq> Stillness<T> {
    /// Of a session that has called nothing yet.
    #[must_use]
    pub fn new(seen: T) -> Self {
        Self {
            seen,
            changed_at: 0,
        }
    }

    /// Takes in how the tree stands after so many calls.
    pub fn look(&mut self, calls: u32, now: T) -> Option<Circle> {
        if now != self.seen {
            self.seen = now;
            // It may have been changed by the last of them.
            self.changed_at = calls;
        }
        let idle = calls.saturating_sub(self.changed_at);
        (idle >= IDLE_CALLS).then_some(Circle::Idle { calls: idle })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn print(arguments: u64, result: u64) -> Option<CallPrint> {
        Some(CallPrint { arguments, result })
    }

    #[test]
    fn three_equal_calls_are_a_circle_and_it_says_of_what() {
        let mut calls = Repetition::default();
        assert_eq!(calls.add("Bash", print(1, 1)), None);
        assert_eq!(calls.add("Bash", print(1, 1)), None);
        let circle = calls.add("Bash", print(1, 1)).unwrap();
        assert_eq!(
            circle.to_string(),
            "the same call of Bash had the same result 3 times in a row"
        );
    }

    #[test]
    fn another_tool_or_a_call_that_nobody_can_compare_is_between_them() {
        let mut calls = Repetition::default();
        for between in [("Read", print(1, 1)), ("Bash", None)] {
            for _ in 0..2 {
                assert_eq!(calls.add("Bash", print(1, 1)), None);
            }
            assert_eq!(calls.add(between.0, between.1), None);
        }
    }

    /// How many equal ones end the list.
    fn run(calls: &[(u8, u8, u8)]) -> usize {
        let last = calls.last();
        let equal = calls.iter().rev().take_while(|call| Some(*call) == last);
        equal.count()
    }

    proptest! {
        #[test]
        fn a_circle_is_exactly_a_row_of_equal_calls(
            calls in proptest::collection::vec((0..2_u8, 0..2_u8, 0..2_u8), 0..60),
        ) {
            let mut detector = Repetition::default();
            for (at, (tool, arguments, result)) in calls.iter().enumerate() {
                let tool = ["Bash", "Read"][usize::from(*tool)];
                let found = detector.add(tool, print((*arguments).into(), (*result).into()));
                let equal = run(&calls[..=at]);
                prop_assert_eq!(found.is_some(), equal >= SAME_CALLS as usize);
            }
        }

        #[test]
        fn a_result_that_changes_is_never_a_circle(
            count in 1..400_u64, arguments in any::<u64>(), first in any::<u64>(),
        ) {
            let mut detector = Repetition::default();
            for step in 0..count {
                let call = print(arguments, first.wrapping_add(step));
                prop_assert_eq!(detector.add("Bash", call), None);
            }
        }

        #[test]
        fn the_tree_is_still_after_so_many_calls_and_no_sooner(
            changes in proptest::collection::vec(any::<bool>(), 1..40),
        ) {
            let (mut detector, mut tree, mut idle) = (Stillness::new(0_u32), 0, 0);
            for (look, changed) in changes.into_iter().enumerate() {
                let calls = LOOK_EVERY * (u32::try_from(look).unwrap() + 1);
                tree += u32::from(changed);
                idle = if changed { 0 } else { idle + LOOK_EVERY };
                let found = detector.look(calls, tree);
                let wanted = (idle >= IDLE_CALLS).then_some(Circle::Idle { calls: idle });
                prop_assert_eq!(found, wanted);
            }
        }
    }
}
