//! Tool calls whose result is still to come, and what is kept of those that have theirs.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use carson_core::repetition::CallPrint;
use serde_json::Value;

use crate::session::Event;

/// So many may be open at once; of more nobody knows what they were.
const MOST: usize = 256;
/// Longest id of a call.
const ID_MAX: usize = 256;

/// A call whose result is still to come.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenCall {
    /// The tool.
    pub name: String,
    /// The call in short.
    pub call: String,
    /// Of its arguments; `None` where they are not told.
    pub arguments: Option<u64>,
}

/// The open calls of a session, by their ids.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls(HashMap<String, OpenCall>);

impl OpenCalls {
    /// One more.
    pub(crate) fn open(&mut self, id: &str, call: OpenCall) {
        if self.0.len() < MOST && id.len() <= ID_MAX {
            self.0.insert(id.to_owned(), call);
        }
    }

    /// The one of this id.
    pub(crate) fn get(&self, id: &str) -> Option<&OpenCall> {
        self.0.get(id)
    }

    /// Its result is there.
    pub(crate) fn done(&mut self, id: &str, result: u64) -> Option<Event> {
        let open = self.0.remove(id)?;
        Some(Event::ToolDone {
            name: open.name,
            call: open
                .arguments
                .map(|arguments| CallPrint { arguments, result }),
        })
    }
}

/// One number for all of these.
pub(crate) fn print_of<'v>(values: impl IntoIterator<Item = &'v Value>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for value in values {
        value.to_string().hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stays_open_is_bounded_and_what_is_done_is_forgotten() {
        let mut calls = OpenCalls::default();
        for id in 0..10_000 {
            calls.open(&id.to_string(), OpenCall::default());
        }
        assert_eq!(calls.0.len(), MOST);
        for id in 0..MOST {
            assert!(calls.done(&id.to_string(), 1).is_some());
        }
        assert!(calls.0.is_empty());
        assert_eq!(calls.done("0", 1), None);
    }

    #[test]
    fn prints_tell_values_apart_and_their_places_too() {
        let (a, b) = (json!({"command": "ls"}), json!({"command": "ls -l"}));
        assert_eq!(print_of([&a, &b]), print_of([&a, &b]));
        assert_ne!(print_of([&a, &b]), print_of([&b, &a]));
        assert_ne!(print_of([&a]), print_of([&b]));
    }
}
