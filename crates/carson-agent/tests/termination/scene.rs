//! A run in memory: what the model says, what tools do, what the check says.

use std::time::Duration;

use carson_agent::agent::{self, Parts};
use carson_agent::bounds::Bounds;
use carson_agent::context::Conversation;
use carson_agent::events::{Event, Watch};
use carson_agent::message::{Call, Message};
use carson_agent::model::ToolSpec;
use carson_agent::outcome::End;
use carson_agent::toolbox::{Check, Effect, Observation, Toolbox, Verdict};
use carson_proc::Cancel;
use tokio::time::Instant;

use super::script::{Move, Notes, Script};

/// What comes of a call.
#[derive(Clone, Debug)]
pub enum Deed {
    Same,
    Changing,
    Growing,
    Wrong,
    Hang,
    Slow(u64),
}

/// What the check does.
#[derive(Clone, Debug)]
pub enum Judge {
    None,
    Never,
    Hang,
    /// Passes at its run of this number.
    After(u32),
}

/// A whole run; moves and deeds begin anew when they are over.
#[derive(Clone, Debug)]
pub struct Scene {
    pub bounds: Bounds,
    pub moves: Vec<Move>,
    pub deeds: Vec<Deed>,
    pub judge: Judge,
}

/// What was seen of it.
pub struct Played {
    pub end: End,
    pub took: Duration,
    pub asked: u32,
    pub asked_late: bool,
    pub done: u32,
    pub longest: usize,
    pub pairs_hold: bool,
    pub passed_last: bool,
    pub jumped: u64,
    pub told_late: bool,
    pub checks: u32,
}

struct Hands {
    deeds: Vec<Deed>,
    specs: Vec<ToolSpec>,
    notes: Notes,
}

impl Toolbox for Hands {
    fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn effect(&self, tool: &str) -> Effect {
        match tool {
            "write" => Effect::Changes,
            _ => Effect::Reads,
        }
    }

    async fn call(&mut self, _call: &Call, _time: Duration, most: usize) -> Observation {
        let n = {
            let mut seen = self.notes.borrow_mut();
            seen.done += 1;
            seen.passed_last = false;
            seen.done
        };
        let text = match &self.deeds[n as usize % self.deeds.len()] {
            Deed::Same => "same".to_owned(),
            Deed::Changing => format!("result {n}"),
            // As all tools: no longer than there is room for.
            Deed::Growing => "z".repeat((n as usize * 700).min(most)),
            Deed::Wrong => return Observation::error("no"),
            Deed::Hang => std::future::pending().await,
            Deed::Slow(seconds) => {
                tokio::time::sleep(Duration::from_secs(*seconds)).await;
                "slow".to_owned()
            }
        };
        Observation::well(text)
    }
}

struct Judgement {
    judge: Judge,
    notes: Notes,
}

impl Check for Judgement {
    async fn run(&mut self, _time: Duration, most: usize) -> Verdict {
        let n = {
            let mut seen = self.notes.borrow_mut();
            seen.checks += 1;
            seen.checks - 1
        };
        let passed = match self.judge {
            Judge::Hang => std::future::pending().await,
            Judge::After(first) => n >= first,
            Judge::None | Judge::Never => false,
        };
        self.notes.borrow_mut().passed_last = passed;
        Verdict {
            passed,
            ended: "exit code 1".to_owned(),
            output: "e".repeat((n as usize * 900).min(most)),
        }
    }
}

struct Told(Notes, Bounds);

impl Watch for Told {
    fn see(&mut self, event: &Event<'_>) {
        let line = serde_json::to_value(event).unwrap();
        let mut seen = self.0.borrow_mut();
        if let Some(turn) = line["turn"].as_u64() {
            seen.late_event |= turn > u64::from(self.1.max_turns);
        }
    }
}

/// Plays it, in no time.
pub fn play(scene: &Scene) -> Played {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(played(scene))
}

async fn played(scene: &Scene) -> Played {
    let notes = Notes::default();
    let began = Instant::now();
    let head = vec![Message::User("the task".to_owned())];
    let parts = Parts {
        model: Script {
            moves: scene.moves.clone(),
            ends_at: began + scene.bounds.wall_clock,
            notes: notes.clone(),
        },
        toolbox: Hands {
            deeds: scene.deeds.clone(),
            specs: Vec::new(),
            notes: notes.clone(),
        },
        check: (!matches!(scene.judge, Judge::None)).then(|| Judgement {
            judge: scene.judge.clone(),
            notes: notes.clone(),
        }),
        watch: Told(notes.clone(), scene.bounds.clone()),
        cancel: Cancel::new(),
    };
    let conversation = Conversation::begin(head, 0, scene.bounds.context_tokens).unwrap();
    let end = agent::run(parts, conversation, scene.bounds.clone()).await;
    let seen = notes.take();
    Played {
        end,
        took: began.elapsed(),
        asked: seen.asked,
        asked_late: seen.asked_late,
        done: seen.done,
        longest: seen.longest,
        pairs_hold: !seen.unpaired,
        passed_last: seen.passed_last,
        jumped: seen.jumped,
        told_late: seen.late_event,
        checks: seen.checks,
    }
}
