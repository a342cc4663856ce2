//! A model's answer, so that it can be sent back.

use std::collections::BTreeSet;

use crate::cut::cut_end;
use crate::message::Reply;

/// Longest name of a tool or a call, in characters.
const NAME: usize = 64;

/// The answer with names that are no longer than names, and with calls of which no two are called the
/// same: what endpoints refuse, and what could not be told apart.
#[must_use]
pub fn tidied(mut reply: Reply, turn: u32) -> Reply {
    let mut known = BTreeSet::new();
    for (n, call) in reply.calls.iter_mut().enumerate() {
        call.tool = cut_end(&call.tool, NAME);
        call.id = cut_end(&call.id, NAME);
        let mut tries = 0;
        while call.id.is_empty() || !known.insert(call.id.clone()) {
            call.id = format!("call_{turn}_{n}_{tries}");
            tries += 1;
        }
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Call;

    #[test]
    fn no_two_calls_are_called_the_same_and_no_name_is_endless() {
        let call = |id: &str| Call {
            id: id.to_owned(),
            tool: "t".repeat(200_000),
            arguments: "{}".to_owned(),
        };
        let calls = ["", "a", "a", "call_1_0_0", ""].map(call).to_vec();
        let reply = tidied(
            Reply {
                calls,
                ..Reply::default()
            },
            1,
        );
        let ids: BTreeSet<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids.len(), 5, "{ids:?}");
        assert!(reply.calls.iter().all(|call| call.tool.len() == NAME));
    }
}
