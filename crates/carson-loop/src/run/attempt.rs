//! One call of the task.

use std::time::Duration;

use carson_proc::Cancel;

use super::ground::Ground;
use super::step::{Step, Watch};
use crate::config::Config;
use crate::digest::Digest;
use crate::error::LoopError;
use crate::executor::{self, Call, Ran};
use crate::feedback::cut;
use crate::fence::fenced;
use crate::json_file::{Sync, write_bytes};
use crate::normal::{fingerprint, normalised};
use crate::output_file::OutputFile;
use crate::own_file;
use crate::walls::Walls;

/// What the task is told of the last check.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// What is so, in our words.
    pub says: String,
    /// What the promise printed.
    pub printed: String,
}

/// A call that is about to be made.
#[derive(Debug)]
pub(super) struct Prepared {
    number: u32,
    /// What it reads.
    text: String,
    /// The task and what it is told, without what is another one each time.
    pub prompt_hash: Digest,
}

impl Prepared {
    /// Makes room for an attempt, and writes down what it is told.
    pub(super) fn new(
        ground: &Ground,
        config: &Config,
        number: u32,
        told: &Told,
    ) -> Result<Self, LoopError> {
        let dir = ground.place.attempt(number);
        own_file::make_dir(&dir).map_err(LoopError::io(format!("{}", dir.display())))?;
        let printed = ground.redacted(&told.printed);
        let printed = cut(&printed, config.feedback_tokens as usize);
        let says = ground.redacted(&told.says);
        let text = format!("{says}\n\n{}\n", fenced("check output", printed.trim_end()));
        let file = dir.join("feedback");
        let written = write_bytes(&file, text.as_bytes(), Sync::Later);
        written.map_err(LoopError::io(format!("{}", file.display())))?;
        let task = serde_json::to_vec(&config.task).unwrap_or_default();
        let heard = |text: &str| normalised(text.as_bytes(), &ground.places);
        let (says, printed) = (heard(&says), heard(&printed));
        Ok(Self {
            number,
            text,
            prompt_hash: Digest::of_parts([&task, says.as_bytes(), printed.as_bytes()]),
        })
    }

    /// Makes the call; how it ended, and whether that was because the whole time was over.
    pub(super) async fn run(
        &self,
        ground: &Ground,
        config: &Config,
        left: Duration,
        cancel: &Cancel,
        watch: Watch<'_>,
    ) -> Result<(Ran, bool), LoopError> {
        let dir = ground.place.attempt(self.number);
        let path = dir.join("output");
        let file = OutputFile::create(&path, &ground.caller.redactor);
        let mut file = file.map_err(LoopError::io(format!("{}", path.display())))?;
        let profile = ground.walls.as_ref().map(Walls::profile).transpose();
        let profile = profile.map_err(LoopError::io("the sandbox's profile"))?;
        let mut env = ground.env();
        env.push(("CARSON_LOOP_FEEDBACK".into(), dir.join("feedback").into()));
        env.push(("CARSON_LOOP_ATTEMPT".into(), self.number.to_string().into()));
        let call = Call {
            words: &config.task,
            cwd: ground.place.root(),
            env,
            stdin: self.text.clone().into_bytes(),
            timeout: config.timeout().min(left),
            walls: profile.as_ref().map(|profile| profile.path().to_owned()),
        };
        let ran = executor::run(&call, cancel, |line| {
            file.line(line.bytes);
            watch(Step::Line(&String::from_utf8_lossy(line.bytes)));
        })
        .await;
        let kept = file.finish(&ran.output);
        kept.map_err(LoopError::io(format!("{}", path.display())))?;
        let out_of_time = ran.how == executor::How::TimedOut && call.timeout == left;
        Ok((ran, out_of_time))
    }
}

/// What a task printed, without noise; `None` for nothing.
pub(super) fn output_hash(ground: &Ground, ran: &Ran) -> Option<Digest> {
    let print = || fingerprint(&ran.output.content(), &ground.places);
    (!ran.output.is_blank()).then(print)
}
