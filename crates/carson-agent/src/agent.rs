//! The loop: the model proposes, the program decides.
//!
//! One step is an answer of the model and what came of it: its calls, in order, and then the check,
//! if something was done. Only the check's exit code 0 is done. Each step counts against every bound
//! before it begins, every await has the run's own end as its deadline, and each step but the last
//! adds one to the counters: so every run ends.

use carson_core::repetition::{CallPrint, Repetition};
use carson_proc::Cancel;

use crate::bounds::{Bounds, Spent};
use crate::cache::Cache;
use crate::context::Conversation;
use crate::deadline::Deadline;
use crate::events::{Event, Watch};
use crate::message::{Call, Message, Reply, Usage};
use crate::model::{Answer, Model};
use crate::outcome::{End, Stop, Verified};
use crate::prompt;
use crate::tidy::tidied;
use crate::toolbox::{Check, Effect, Observation, Toolbox, Verdict};

/// Whoever takes part in a run.
#[derive(Debug)]
pub struct Parts<M, T, C, W> {
    /// Who proposes.
    pub model: M,
    /// Who carries out.
    pub toolbox: T,
    /// Who says whether it is done; without one the model's answer in words ends the run.
    pub check: Option<C>,
    /// Who is told.
    pub watch: W,
    /// Who may ask it to end.
    pub cancel: Cancel,
}

/// Runs to the end, whatever the model does.
pub async fn run<M: Model, T: Toolbox, C: Check, W: Watch>(
    parts: Parts<M, T, C, W>,
    conversation: Conversation,
    bounds: Bounds,
) -> End {
    let run = Run {
        deadline: Deadline::after(bounds.wall_clock, parts.cancel.clone()),
        parts,
        conversation,
        bounds,
        spent: Spent::default(),
        usage: Usage::default(),
        known: Verified::Unknown,
        failed: None,
        cache: Cache::default(),
        repetition: Repetition::default(),
        last_words: String::new(),
    };
    run.until_it_ends().await
}

struct Run<M, T, C, W> {
    parts: Parts<M, T, C, W>,
    conversation: Conversation,
    bounds: Bounds,
    deadline: Deadline,
    spent: Spent,
    usage: Usage,
    /// What is known of the check since something was last done.
    known: Verified,
    /// What the check said when it last failed.
    failed: Option<Verdict>,
    cache: Cache,
    repetition: Repetition,
    last_words: String,
}

/// What a step led to.
type Step = Result<(), Stop>;

impl<M: Model, T: Toolbox, C: Check, W: Watch> Run<M, T, C, W> {
    async fn until_it_ends(mut self) -> End {
        let mut stop = loop {
            if let Err(stop) = self.step().await {
                break stop;
            }
        };
        // A bound may have been met before the check, or with nothing done that it would have run after.
        let over = matches!(
            stop,
            Stop::WallClock | Stop::Endpoint(_) | Stop::Interrupted
        );
        if !over
            && self.known == Verified::Unknown
            && let Err(verified) = self.judge().await
        {
            stop = verified;
        }
        if self.parts.check.is_none() {
            self.known = Verified::NoCheck;
        }
        let text = match stop {
            Stop::Verified if self.last_words.is_empty() => prompt::VERIFIED.to_owned(),
            Stop::Verified | Stop::Answered => self.last_words,
            _ => prompt::fallback(&stop, &self.last_words),
        };
        End {
            stop,
            verified: self.known,
            text,
            spent: self.spent,
            usage: self.usage,
        }
    }

    /// One answer, and what came of it.
    async fn step(&mut self) -> Step {
        self.within_bounds()?;
        self.spent.iterations += 1;
        self.spent.turns += 1;
        let reply = self.ask().await?;
        let Reply {
            text, calls, cut, ..
        } = reply;
        let words = !text.trim().is_empty();
        if words {
            self.last_words.clone_from(&text);
        }
        self.conversation.answered(text, calls.clone());
        if cut {
            let said = prompt::TOO_LONG.to_owned();
            self.conversation.add(Message::User(said));
            return Ok(());
        }
        if calls.is_empty() {
            return self.silence(words).await;
        }
        let mut done = false;
        for call in &calls {
            done |= self.call(call).await?;
        }
        if done { self.judge().await } else { Ok(()) }
    }

    fn within_bounds(&self) -> Step {
        let Spent {
            turns, iterations, ..
        } = self.spent;
        if self.deadline.left().is_zero() {
            Err(Stop::WallClock)
        } else if iterations >= self.bounds.max_iterations {
            Err(Stop::Iterations)
        } else if turns >= self.bounds.max_turns {
            Err(Stop::Turns)
        } else {
            Ok(())
        }
    }

    async fn ask(&mut self) -> Result<Reply, Stop> {
        let messages = self.conversation.fitted();
        let parts = &mut self.parts;
        let asking = parts.model.ask(&messages, parts.toolbox.specs());
        let answer = self.deadline.hold(asking).await?;
        let reply = match answer.map_err(Stop::Endpoint)? {
            Answer::Reply(reply) => tidied(reply, self.spent.turns),
            Answer::NoChoices => return Err(Stop::NoChoices),
        };
        let estimated = reply.usage.is_none();
        let usage = reply
            .usage
            .unwrap_or_else(|| Usage::estimated(&messages, &reply));
        self.usage = self.usage.and(usage);
        self.parts.watch.see(&Event::Usage {
            turn: self.spent.turns,
            usage,
            estimated,
        });
        self.note(&reply);
        Ok(reply)
    }

    fn note(&mut self, reply: &Reply) {
        let turn = self.spent.turns;
        if !reply.text.trim().is_empty() {
            let text = &reply.text;
            self.parts.watch.see(&Event::Text { turn, text });
        }
        if reply.cut {
            let text = "the model's answer was too long, and was cut";
            self.parts.watch.see(&Event::Notice { text });
        }
    }

    /// The model called nothing. Where there is a check, that is not done.
    async fn silence(&mut self, words: bool) -> Step {
        if self.parts.check.is_some() {
            return match &self.failed {
                Some(failed) if self.known == Verified::Failed => {
                    let said = prompt::not_done(failed);
                    self.conversation.add(Message::User(said));
                    Ok(())
                }
                _ => self.judge().await,
            };
        }
        if words {
            return Err(Stop::Answered);
        }
        let said = prompt::SAY_SOMETHING.to_owned();
        self.conversation.add(Message::User(said));
        Ok(())
    }

    /// Whether something was done.
    async fn call(&mut self, call: &Call) -> Result<bool, Stop> {
        if self.spent.tool_calls >= self.bounds.max_tool_calls {
            return Err(Stop::ToolCalls);
        }
        self.spent.tool_calls += 1;
        let turn = self.spent.turns;
        let arguments = serde_json::from_str(&call.arguments);
        self.parts.watch.see(&Event::ToolCall {
            turn,
            id: &call.id,
            tool: &call.tool,
            arguments: arguments.unwrap_or_else(|_| call.arguments.as_str().into()),
        });
        let reads = self.parts.toolbox.effect(&call.tool) == Effect::Reads;
        let known = self.cache.get(&call.tool, &call.arguments).cloned();
        let cached = known.is_some();
        let had = match known {
            Some(known) => known,
            None => self.carry_out(call, reads).await?,
        };
        self.parts.watch.see(&Event::ToolResult {
            turn,
            id: &call.id,
            tool: &call.tool,
            went: had.went,
            cached,
            output: &had.text,
        });
        let did_something = !reads && had.did_something();
        let print = CallPrint::of(&call.arguments, &had.text);
        let circle = self.repetition.add(&call.tool, Some(print));
        self.conversation.add(Message::Result {
            id: call.id.clone(),
            tool: call.tool.clone(),
            text: had.text,
        });
        if circle.is_some() {
            return Err(Stop::Loop);
        }
        Ok(did_something)
    }

    async fn carry_out(&mut self, call: &Call, reads: bool) -> Result<Observation, Stop> {
        let was = self.known;
        if !reads {
            // Also when it is given up half-way.
            self.cache.forget();
            self.known = Verified::Unknown;
        }
        let most = self.conversation.result_room();
        let left = self.deadline.left();
        let parts = &mut self.parts;
        let calling = parts.toolbox.call(call, left, most);
        let had = self.deadline.hold(calling).await?;
        if reads {
            self.cache.note(&call.tool, &call.arguments, &had);
        } else if !had.did_something() {
            self.known = was;
        }
        Ok(had)
    }

    /// Lets the check decide; `Err` when it passes.
    async fn judge(&mut self) -> Step {
        let most = self.conversation.result_room();
        let left = self.deadline.left();
        let parts = &mut self.parts;
        let Some(check) = &mut parts.check else {
            return Ok(());
        };
        // It may write.
        self.cache.forget();
        let verdict = self.deadline.hold(check.run(left, most)).await?;
        self.parts.watch.see(&Event::Check {
            iteration: self.spent.iterations,
            passed: verdict.passed,
            ended: &verdict.ended,
            output: &verdict.output,
        });
        if verdict.passed {
            self.known = Verified::Passed;
            return Err(Stop::Verified);
        }
        let said = prompt::not_done(&verdict);
        self.conversation.add(Message::User(said));
        self.known = Verified::Failed;
        self.failed = Some(verdict);
        Ok(())
    }
}
