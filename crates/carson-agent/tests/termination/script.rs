//! Models that follow a script, and what was seen of them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use carson_agent::chat::stream::Collector;
use carson_agent::message::{Call, Message, Reply};
use carson_agent::model::{Answer, EndpointError, Model, ToolSpec};
use tokio::time::Instant;

/// What the model does at one turn.
#[derive(Clone, Debug)]
pub enum Move {
    Read,
    Write,
    Alternate,
    Many(usize),
    Malformed,
    Unknown,
    Huge,
    EndlessStream,
    Words,
    Empty,
    NoChoices,
    Refused,
    Hang,
    Jump(u64),
}

#[derive(Default)]
pub struct Seen {
    pub asked: u32,
    pub asked_late: bool,
    pub done: u32,
    pub longest: usize,
    pub unpaired: bool,
    pub passed_last: bool,
    pub jumped: u64,
    pub checks: u32,
    pub late_event: bool,
}

pub type Notes = Rc<RefCell<Seen>>;

pub struct Script {
    pub moves: Vec<Move>,
    pub ends_at: Instant,
    pub notes: Notes,
}

fn call(tool: &str, arguments: &str) -> Answer {
    calls(vec![(tool.to_owned(), arguments.to_owned())])
}

fn calls(calls: Vec<(String, String)>) -> Answer {
    let call = |(tool, arguments)| Call {
        id: String::new(),
        tool,
        arguments,
    };
    Answer::Reply(Reply {
        calls: calls.into_iter().map(call).collect(),
        ..Reply::default()
    })
}

fn words(text: &str) -> Answer {
    Answer::Reply(Reply {
        text: text.to_owned(),
        ..Reply::default()
    })
}

/// An endless answer, as the reader of streams takes it.
fn endless() -> Answer {
    let mut collector = Collector::default();
    let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"".to_owned()
        + &"x".repeat(60_000)
        + "\"}}]}\n\n";
    while collector.push(piece.as_bytes()).is_ok() {}
    collector.cut()
}

impl Model for Script {
    async fn ask(
        &mut self,
        messages: &[Message],
        _tools: &[ToolSpec],
    ) -> Result<Answer, EndpointError> {
        let turn = self.note(messages);
        let next = &self.moves[turn as usize % self.moves.len()];
        Ok(match next {
            Move::Read => call("read", "{\"path\":\"a\"}"),
            Move::Write => call("write", "{\"path\":\"a\"}"),
            Move::Alternate => {
                let tool = ["read", "write"][turn as usize % 2];
                call(tool, "{}")
            }
            Move::Many(count) => calls(
                (0..*count)
                    .map(|n| ("write".to_owned(), format!("{{\"n\":{n}}}")))
                    .collect(),
            ),
            Move::Malformed => call("write", "{\"path\": \"a"),
            Move::Unknown => call(&"fly".repeat(100), "{}"),
            Move::Huge => call(
                "write",
                &format!("{{\"content\":\"{}\"}}", "y".repeat(200_000)),
            ),
            Move::EndlessStream => endless(),
            Move::Words => words("I am done."),
            Move::Empty => words(" \n"),
            Move::NoChoices => Answer::NoChoices,
            Move::Refused => return Err(EndpointError::Unreachable("gone".to_owned())),
            Move::Hang => std::future::pending().await,
            Move::Jump(seconds) => {
                self.notes.borrow_mut().jumped += seconds;
                tokio::time::advance(Duration::from_secs(*seconds)).await;
                call("write", "{}")
            }
        })
    }
}

impl Script {
    /// Looks at what it is given; which turn this is, from 0.
    fn note(&self, messages: &[Message]) -> u32 {
        let mut seen = self.notes.borrow_mut();
        seen.asked += 1;
        seen.asked_late |= Instant::now() > self.ends_at;
        let long = messages.iter().map(Message::characters).sum();
        seen.longest = seen.longest.max(long);
        let mut open: Vec<&str> = Vec::new();
        for message in messages {
            match message {
                Message::Assistant { calls, .. } => {
                    seen.unpaired |= !open.is_empty();
                    open = calls.iter().map(|call| call.id.as_str()).collect();
                }
                Message::Result { id, .. } => match open.iter().position(|known| known == id) {
                    Some(at) => drop(open.remove(at)),
                    None => seen.unpaired = true,
                },
                Message::System(_) | Message::User(_) => {}
            }
        }
        seen.unpaired |= !open.is_empty();
        seen.asked - 1
    }
}
