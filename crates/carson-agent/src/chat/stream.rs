//! An answer as it comes, in bounded memory.

use std::ops::ControlFlow;

use serde_json::Value;

use crate::chat::sse::Events;
use crate::chat::wire::{CallPiece, Chunk, Delta};
use crate::message::{Call, Reply, Usage};
use crate::model::Answer;

/// Most bytes of one answer as they are sent, with all that is not read of them.
pub const STREAM_MAX: usize = 8 * 1024 * 1024;
/// Most bytes of one answer's words and arguments.
pub const ANSWER_MAX: usize = 256 * 1024;
/// Most calls of one answer.
pub const CALLS_MAX: usize = 64;

/// What ends the reading of an answer before its own end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It is longer than an answer may be: what came is the answer, without its calls.
    TooLong,
    /// Something in it cannot be read, or says that it failed.
    Wrong(String),
}

/// Puts an answer together.
#[derive(Debug, Default)]
pub struct Collector {
    events: Events,
    text: String,
    calls: Vec<(usize, Call)>,
    usage: Option<Usage>,
    bytes: usize,
    any_event: bool,
    any_choice: bool,
    finished: bool,
    /// It has all the tokens that it may have, wherever that was.
    broke_off: bool,
}

impl Collector {
    /// Takes bytes of a stream; `Break` when nothing more is to be read.
    ///
    /// # Errors
    /// When the answer is longer than one may be, or cannot be read.
    pub fn push(&mut self, bytes: &[u8]) -> Result<ControlFlow<()>, Cut> {
        self.bytes += bytes.len();
        if self.bytes > STREAM_MAX {
            return Err(Cut::TooLong);
        }
        let events = self.events.push(bytes).map_err(|_| Cut::TooLong)?;
        for data in events {
            if self.event(&data)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The whole answer, once the stream has ended.
    ///
    /// # Errors
    /// When it broke off.
    pub fn finish(mut self) -> Result<Answer, Cut> {
        if let Some(data) = self.events.finish() {
            let _ = self.event(&data)?;
        }
        if !self.finished && (self.any_choice || self.bytes == 0) {
            return Err(Cut::Wrong("it has no end".to_owned()));
        }
        if !self.any_event {
            let why = "there is no event in it: is --base-url that of a chat endpoint?";
            return Err(Cut::Wrong(why.to_owned()));
        }
        Ok(match self.any_choice {
            true => Answer::Reply(self.whole_reply()),
            false => Answer::NoChoices,
        })
    }

    /// What came of an answer that was too long: its words alone, because a call may be half of one.
    #[must_use]
    pub fn cut(self) -> Answer {
        Answer::Reply(self.reply(true))
    }

    fn event(&mut self, data: &str) -> Result<ControlFlow<()>, Cut> {
        self.any_event = true;
        if data.trim() == "[DONE]" {
            self.finished = true;
            return Ok(ControlFlow::Break(()));
        }
        let chunk = serde_json::from_str(data).map_err(|error| Cut::Wrong(error.to_string()))?;
        self.chunk(chunk)?;
        Ok(ControlFlow::Continue(()))
    }

    /// The answer of an endpoint that does not stream.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn whole(&mut self, chunk: Chunk) -> Result<Answer, Cut> {
        self.chunk(chunk)?;
        Ok(match self.any_choice {
            true => Answer::Reply(std::mem::take(self).whole_reply()),
            false => Answer::NoChoices,
        })
    }

    fn chunk(&mut self, chunk: Chunk) -> Result<(), Cut> {
        if let Some(error) = chunk.error {
            return Err(Cut::Wrong(error.to_string()));
        }
        if let Some(counted) = chunk.usage {
            self.usage = Some(Usage {
                input_tokens: counted.prompt_tokens,
                output_tokens: counted.completion_tokens,
            });
        }
        let Some(choice) = chunk.choices.into_iter().flatten().next() else {
            return Ok(());
        };
        self.any_choice = true;
        self.finished |= choice.finish_reason.is_some();
        self.broke_off |= choice.finish_reason.as_deref() == Some("length");
        self.delta(choice.delta.unwrap_or_default())
    }

    fn delta(&mut self, delta: Delta) -> Result<(), Cut> {
        self.text.push_str(&delta.content.unwrap_or_default());
        for piece in delta.tool_calls.unwrap_or_default() {
            self.call(piece);
        }
        let arguments = self
            .calls
            .iter()
            .map(|(_, call)| call.arguments.len() + call.tool.len());
        let all = self.text.len() + arguments.sum::<usize>();
        if all > ANSWER_MAX || self.calls.len() > CALLS_MAX {
            return Err(Cut::TooLong);
        }
        Ok(())
    }

    /// A piece goes on with the newest call of its number; one with another id begins a call, because
    /// some endpoints give all of them the same number.
    fn call(&mut self, piece: CallPiece) {
        let index = piece.index.unwrap_or(self.calls.len());
        let id = piece.id.unwrap_or_default();
        let same = |(at, call): &&mut (usize, Call)| {
            *at == index && (id.is_empty() || call.id.is_empty() || call.id == id)
        };
        let arguments = match piece.function.arguments {
            Some(Value::String(text)) => text,
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        let name = piece.function.name.unwrap_or_default();
        if let Some((_, call)) = self.calls.iter_mut().rev().find(same) {
            call.tool.push_str(&name);
            call.arguments.push_str(&arguments);
            if call.id.is_empty() {
                call.id = id;
            }
            return;
        }
        let call = Call {
            id,
            tool: name,
            arguments,
        };
        self.calls.push((index, call));
    }

    fn whole_reply(self) -> Reply {
        let cut = self.broke_off;
        self.reply(cut)
    }

    fn reply(self, cut: bool) -> Reply {
        let mut text = self.text;
        text.truncate(text.floor_char_boundary(ANSWER_MAX));
        let calls = self.calls.into_iter().map(|(_, call)| call);
        Reply {
            text,
            calls: if cut { Vec::new() } else { calls.collect() },
            usage: self.usage,
            cut,
        }
    }
}

#[cfg(test)]
mod tests;
