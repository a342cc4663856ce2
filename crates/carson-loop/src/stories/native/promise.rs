//! Asks a promise: a line for `sh` that must end with 0, as often as is wanted.

use std::time::Duration;

use carson_proc::Cancel;

use crate::executor::{Call, How, Ran, run};
use crate::words::Words;

/// Whether it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It did, every time.
    Held,
    /// It did not.
    Failed(String),
    /// Somebody asked to stop.
    Stopped,
}

/// How it is asked.
#[derive(Clone, Debug)]
pub struct Promise<'p> {
    /// The line.
    pub line: &'p str,
    /// How often it must hold.
    pub runs: u32,
    /// The time of one run.
    pub timeout: Duration,
}

impl Promise<'_> {
    /// Asks it. `call` says where and with what environment.
    pub async fn ask(&self, call: &Call<'_>, cancel: &Cancel) -> (Answer, Option<Ran>) {
        let Ok(words) = Words::line(self.line) else {
            return (Answer::Failed("the promise is empty".to_owned()), None);
        };
        let call = Call {
            words: &words,
            stdin: Vec::new(),
            timeout: self.timeout,
            ..call.clone()
        };
        for time in 1..=self.runs {
            let ran = run(&call, cancel, |_| {}).await;
            let answer = match ran.how {
                How::Exited(0) => continue,
                How::Stopped => Answer::Stopped,
                how => Answer::Failed(self.said(time, how)),
            };
            return (answer, Some(ran));
        }
        (Answer::Held, None)
    }

    fn said(&self, time: u32, how: How) -> String {
        match self.runs {
            1 => format!("the promise did not hold: {how}"),
            runs => format!("the promise did not hold in run {time} of {runs}: {how}"),
        }
    }
}
