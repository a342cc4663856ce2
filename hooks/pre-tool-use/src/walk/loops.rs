//! Loops: rounds with one value each, and the rest of the rounds together.

use crate::shell::syntax::{Node, Word};

use super::{State, Walker, append};

/// Most rounds of one loop that are walked one by one.
const MAX_ROUNDS: usize = 256;

impl Walker<'_> {
    /// A `while` loop. With `read`, its body is walked for each line that flows in.
    pub(super) fn repeat(
        &mut self,
        test: &Node,
        body: &Node,
        state: &mut State,
        stdin: &str,
    ) -> String {
        let before = state.clone();
        let mut out = String::new();
        let lines: Vec<&str> = if stdin.is_empty() {
            vec![""]
        } else {
            stdin.lines().collect()
        };
        // Rounds beyond the bound read several lines at once: each is a value that may be.
        let (single, rest) = lines.split_at(lines.len().min(MAX_ROUNDS / 4));
        let rest = rest.chunks(MAX_ROUNDS / 8).map(|chunk| chunk.join("\n"));
        let rounds = single.iter().map(|line| (*line).to_owned());
        for (round, line) in rounds.chain(rest).enumerate() {
            if !self.spend(1) {
                break;
            }
            state.reads_all = round >= single.len();
            append(&mut out, &self.node(test, state, &line));
            append(&mut out, &self.node(body, state, &line));
            if self.done() || state.left {
                break;
            }
        }
        state.reads_all = before.reads_all;
        state.left = before.left;
        state.merge(before);
        out
    }

    /// A `for` loop.
    pub(super) fn each(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        body: &Node,
        state: &mut State,
        stdin: &str,
    ) -> String {
        let values = match words {
            Some(words) => self.all_fields(words, state),
            None => state.positional.clone(),
        };
        let mut out = String::new();
        for value in values.iter().take(MAX_ROUNDS) {
            state.set(name, vec![value.clone()], false);
            append(&mut out, &self.node(body, state, stdin));
            state.left = false;
            if self.done() || !self.spend(1) {
                return out;
            }
        }
        // Rounds beyond the bound are walked as one, with every value as an alternative: a rule
        // sees all of them as arguments.
        for rest in values
            .get(MAX_ROUNDS..)
            .unwrap_or_default()
            .chunks(MAX_ROUNDS / 4)
        {
            state.set(name, rest.to_vec(), false);
            append(&mut out, &self.node(body, state, stdin));
            state.left = false;
        }
        out
    }
}
