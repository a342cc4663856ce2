//! What the model is given to read: the task and the newest rounds.
//!
//! A round is an answer of the model, the results of all its calls, and what the program said to it.
//! Rounds are kept or left out whole, so that there is never a result without its call, nor a call
//! without its result. The newest is always there; where it alone is too large, its texts are cut,
//! and of too many calls the last ones stay, each with its result.

use crate::cut::cut_middle;
use crate::message::{CHARACTERS_PER_TOKEN, Call, Message};

/// The smallest context that holds a task and a round.
pub const LEAST_TOKENS: usize = 1_024;

/// What a message costs beside its text, in characters.
const MESSAGE: usize = 4 * CHARACTERS_PER_TOKEN;
/// Room for what stands in the place of arguments that are too long.
const STUB: usize = 24;

/// A conversation within a budget.
#[derive(Clone, Debug)]
pub struct Conversation {
    head: Vec<Message>,
    rounds: Vec<Vec<Message>>,
    /// Characters that the rounds may have.
    room: usize,
}

/// Characters that are read of a context; a quarter is left for the answer.
#[must_use]
pub fn readable(context_tokens: usize) -> usize {
    context_tokens.saturating_mul(CHARACTERS_PER_TOKEN) / 4 * 3
}

impl Conversation {
    /// One that begins with these messages, beside tools whose description has so many characters;
    /// `None` where they leave less than a third of what is read to the rounds.
    #[must_use]
    pub fn begin(head: Vec<Message>, tools: usize, context_tokens: usize) -> Option<Self> {
        let all = readable(context_tokens.max(LEAST_TOKENS));
        let taken = tools + head.iter().map(cost).sum::<usize>();
        let room = all.checked_sub(taken).filter(|room| *room >= all / 3)?;
        Some(Self {
            head,
            rounds: Vec::new(),
            room,
        })
    }

    /// Characters of one result that leave room for others.
    #[must_use]
    pub fn result_room(&self) -> usize {
        self.room / 2
    }

    /// Begins a round.
    pub fn answered(&mut self, text: String, calls: Vec<Call>) {
        self.rounds.push(vec![Message::Assistant { text, calls }]);
    }

    /// Adds to the newest round.
    pub fn add(&mut self, message: Message) {
        match self.rounds.last_mut() {
            Some(round) => round.push(message),
            None => self.rounds.push(vec![message]),
        }
    }

    /// What the model is given now. What did not fit is forgotten.
    pub fn fitted(&mut self) -> Vec<Message> {
        let newest = self.rounds.pop().map(|round| shortened(round, self.room));
        let mut left = self.room - newest.iter().map(|round| round_cost(round)).sum::<usize>();
        let older = self.rounds.iter().rev();
        let kept = older.take_while(|round| {
            let cost = round_cost(round);
            let fits = cost <= left;
            left = left.saturating_sub(cost);
            fits
        });
        let kept = kept.count();
        self.rounds.drain(..self.rounds.len() - kept);
        self.rounds.extend(newest);
        let rounds = self.rounds.iter().flatten();
        self.head.iter().chain(rounds).cloned().collect()
    }
}

fn cost(message: &Message) -> usize {
    MESSAGE + message.characters()
}

fn round_cost(round: &[Message]) -> usize {
    round.iter().map(cost).sum()
}

/// A round in so many characters.
fn shortened(mut round: Vec<Message>, room: usize) -> Vec<Message> {
    if round_cost(&round) <= room {
        return round;
    }
    while least(&round) > room / 2 && drop_first_call(&mut round) {}
    let texts = round.iter().map(texts).sum::<usize>().max(1);
    let share = room.saturating_sub(least(&round)) / texts;
    for message in &mut round {
        shorten(message, share);
    }
    round
}

/// What a round costs when all its texts are empty.
fn least(round: &[Message]) -> usize {
    let fixed = |message: &Message| match message {
        Message::System(_) | Message::User(_) => MESSAGE,
        Message::Assistant { calls, .. } => {
            let names = calls
                .iter()
                .map(|call| name_cost(&call.id, &call.tool) + STUB);
            MESSAGE + names.sum::<usize>()
        }
        Message::Result { id, tool, .. } => MESSAGE + name_cost(id, tool),
    };
    round.iter().map(fixed).sum()
}

fn name_cost(id: &str, tool: &str) -> usize {
    id.chars().count() + tool.chars().count()
}

/// How many texts of a message can be cut.
fn texts(message: &Message) -> usize {
    match message {
        Message::Assistant { calls, .. } => 1 + calls.len(),
        _ => 1,
    }
}

fn shorten(message: &mut Message, most: usize) {
    match message {
        Message::System(text) | Message::User(text) | Message::Result { text, .. } => {
            *text = cut_middle(text, most);
        }
        Message::Assistant { text, calls } => {
            *text = cut_middle(text, most);
            for call in calls {
                let count = call.arguments.chars().count();
                if count > most.max(STUB) {
                    // Still JSON: endpoints read it again.
                    call.arguments = format!("{{\"left_out\":{count}}}");
                }
            }
        }
    }
}

/// Forgets the round's first call with its result, unless it is the only one.
fn drop_first_call(round: &mut Vec<Message>) -> bool {
    let Some(Message::Assistant { calls, .. }) = round.first_mut() else {
        return false;
    };
    if calls.len() < 2 {
        return false;
    }
    let gone = calls.remove(0).id;
    round.retain(|message| !matches!(message, Message::Result { id, .. } if *id == gone));
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(n: usize, arguments: String) -> Call {
        Call {
            id: format!("call_{n}"),
            tool: "read_file".to_owned(),
            arguments,
        }
    }

    fn pairs_hold(messages: &[Message]) -> bool {
        let mut open: Vec<&str> = Vec::new();
        for message in messages {
            match message {
                Message::Assistant { calls, .. } => {
                    if !open.is_empty() {
                        return false;
                    }
                    open = calls.iter().map(|call| call.id.as_str()).collect();
                }
                Message::Result { id, .. } => {
                    let Some(at) = open.iter().position(|known| known == id) else {
                        return false;
                    };
                    open.remove(at);
                }
                _ => {}
            }
        }
        open.is_empty()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn the_budget_holds_and_no_result_is_without_its_call(
            tokens in LEAST_TOKENS..6_000_usize,
            rounds in prop::collection::vec(
                (0..6_000_usize, prop::collection::vec((0..4_000_usize, 0..4_000_usize), 0..30)),
                1..8,
            ),
        ) {
            let task = Message::User("the task".to_owned());
            let mut conversation = Conversation::begin(vec![task.clone()], 400, tokens).unwrap();
            let mut number = 0;
            for (text, calls) in rounds {
                let asked: Vec<Call> = calls
                    .iter()
                    .map(|(arguments, _)| {
                        number += 1;
                        call(number, "x".repeat(*arguments))
                    })
                    .collect();
                conversation.answered("t".repeat(text), asked.clone());
                for (call, (_, result)) in asked.iter().zip(&calls) {
                    conversation.add(Message::Result {
                        id: call.id.clone(),
                        tool: call.tool.clone(),
                        text: "ü".repeat(*result),
                    });
                }
                conversation.add(Message::User("Not done yet.".to_owned()));
                let shown = conversation.fitted();
                let all: usize = shown.iter().map(cost).sum();
                prop_assert!(all + 400 <= readable(tokens), "{all} of {}", readable(tokens));
                prop_assert_eq!(&shown[0], &task);
                prop_assert!(matches!(shown.last(), Some(Message::User(_))));
                let answered = shown.iter().any(|one| matches!(one, Message::Assistant { .. }));
                prop_assert!(answered);
                prop_assert!(pairs_hold(&shown));
            }
        }
    }

    #[test]
    fn the_newest_rounds_stay_and_the_oldest_go() {
        let task = Message::User("the task".to_owned());
        let mut conversation = Conversation::begin(vec![task], 0, LEAST_TOKENS).unwrap();
        for n in 0..20 {
            conversation.answered(format!("{n}:{}", "x".repeat(500)), Vec::new());
            conversation.add(Message::User("go on".to_owned()));
        }
        let shown = conversation.fitted();
        let of = |n: usize| {
            shown.iter().any(|one| {
                matches!(one, Message::Assistant { text, .. } if text.starts_with(&format!("{n}:")))
            })
        };
        assert!(of(19) && of(18) && !of(0) && !of(10));
    }

    #[test]
    fn a_task_that_leaves_no_room_is_refused() {
        let task = Message::User("x".repeat(2_500));
        assert!(Conversation::begin(vec![task], 0, LEAST_TOKENS).is_none());
    }
}
