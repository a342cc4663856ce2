//! What ends a session by its own events, whichever CLI it is: more tool calls than it may have, and the
//! same call again and again.

use std::ops::ControlFlow;

use carson_core::repetition::Repetition;

use crate::session::{Ended, Event};

/// Follows the events of one session.
#[derive(Debug)]
pub(crate) struct Leash {
    calls: u32,
    max_calls: u32,
    repetition: Repetition,
    ended: Option<Ended>,
}

impl Leash {
    /// Of a session that may have so many tool calls.
    pub(crate) fn new(max_calls: u32) -> Self {
        Self {
            calls: 0,
            max_calls,
            repetition: Repetition::default(),
            ended: None,
        }
    }

    /// Takes in one event; the first that goes too far says how the session ends.
    pub(crate) fn observe(&mut self, event: &Event) {
        let too_far = match event {
            Event::ToolCall { .. } => {
                self.calls = self.calls.saturating_add(1);
                (self.calls > self.max_calls).then_some(Ended::MaxToolCalls)
            }
            Event::ToolDone { name, call } => self.repetition.add(name, *call).map(Ended::Circled),
            _ => None,
        };
        if self.ended.is_none() {
            self.ended = too_far;
        }
    }

    /// Whether the session may go on.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        match self.ended {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    /// How it ended, where it went too far.
    pub(crate) fn ended(self) -> Option<Ended> {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use carson_core::repetition::{CallPrint, Circle};

    use super::*;

    fn call() -> Event {
        Event::ToolCall {
            name: "Bash".to_owned(),
            call: "ls".to_owned(),
        }
    }

    fn done(result: u64) -> Event {
        let call = CallPrint {
            arguments: 1,
            result,
        };
        Event::ToolDone {
            name: "Bash".to_owned(),
            call: Some(call),
        }
    }

    #[test]
    fn the_call_over_the_cap_ends_it_and_none_before() {
        let mut leash = Leash::new(2);
        for _ in 0..2 {
            leash.observe(&call());
            assert!(leash.flow().is_continue());
        }
        leash.observe(&call());
        assert!(leash.flow().is_break());
        assert_eq!(leash.ended(), Some(Ended::MaxToolCalls));
    }

    #[test]
    fn the_same_call_with_the_same_result_ends_it_and_with_another_one_does_not() {
        let mut leash = Leash::new(u32::MAX);
        for result in 0..20 {
            leash.observe(&call());
            leash.observe(&done(result));
        }
        assert!(leash.flow().is_continue());
        for _ in 0..3 {
            leash.observe(&done(7));
        }
        // What follows until it is stopped says nothing else.
        leash.observe(&done(8));
        let circle = Circle::Same {
            tool: "Bash".to_owned(),
            times: 3,
        };
        assert_eq!(leash.ended(), Some(Ended::Circled(circle)));
    }
}
