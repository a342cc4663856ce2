//! What the model can do: a list of tools, whoever carries them out.

use std::time::Duration;

use serde::Serialize;

use crate::message::Call;
use crate::model::ToolSpec;

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// What the model reads.
    pub text: String,
    /// How it went.
    pub went: Went,
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Went {
    /// It was carried out.
    Well,
    /// It was tried and did not work; something may have been done.
    Failed,
    /// It could not be understood or carried out: nothing was done.
    Wrong,
    /// The hook refused it, or the person at the terminal.
    Refused,
}

/// What a tool does to the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// Perhaps something.
    Changes,
}

impl Observation {
    /// It was carried out.
    #[must_use]
    pub fn well(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            went: Went::Well,
        }
    }

    /// It was tried and did not work.
    #[must_use]
    pub fn failed(why: impl std::fmt::Display) -> Self {
        Self {
            text: format!("[error] {why}"),
            went: Went::Failed,
        }
    }

    /// Nothing was done.
    #[must_use]
    pub fn error(why: impl std::fmt::Display) -> Self {
        Self {
            text: format!("[error] {why}"),
            went: Went::Wrong,
        }
    }

    /// Whether something may have been done.
    #[must_use]
    pub fn did_something(&self) -> bool {
        matches!(self.went, Went::Well | Went::Failed)
    }

    /// It was refused.
    #[must_use]
    pub fn refused(why: impl std::fmt::Display) -> Self {
        Self {
            text: format!("[refused] {why}"),
            went: Went::Refused,
        }
    }
}

/// Whoever carries calls out. A second one is in the tests.
pub trait Toolbox {
    /// The tools.
    fn specs(&self) -> &[ToolSpec];

    /// What a tool does to the files; one that nobody knows does nothing.
    fn effect(&self, tool: &str) -> Effect;

    /// Carries a call out, within a time; what the model reads of it has at most so many characters.
    fn call(
        &mut self,
        call: &Call,
        time: Duration,
        most: usize,
    ) -> impl Future<Output = Observation>;
}

impl<T: Toolbox> Toolbox for &mut T {
    fn specs(&self) -> &[ToolSpec] {
        (**self).specs()
    }

    fn effect(&self, tool: &str) -> Effect {
        (**self).effect(tool)
    }

    async fn call(&mut self, call: &Call, time: Duration, most: usize) -> Observation {
        (**self).call(call, time, most).await
    }
}

/// What the check said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it ended with 0.
    pub passed: bool,
    /// How it ended, in words.
    pub ended: String,
    /// What it printed, cut.
    pub output: String,
}

/// Whoever runs the check. A second one is in the tests.
pub trait Check {
    /// Runs it within a time; what is passed on of its output has at most so many characters.
    fn run(&mut self, time: Duration, most: usize) -> impl Future<Output = Verdict>;
}
