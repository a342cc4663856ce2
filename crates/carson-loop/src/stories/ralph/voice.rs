//! What a run says, and to whom.

use super::settings::Verbosity;

/// Where a line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// Says lines; who runs us shows them.
pub struct Voice<'v> {
    say: &'v mut dyn FnMut(To, &str),
    /// How much is said.
    pub verbosity: Verbosity,
    /// Whether the run has its lock: of one that never had it `ralph.sh` does not say that it was aborted.
    pub has_begun: bool,
}

impl<'v> Voice<'v> {
    /// One that says them so.
    pub fn new(say: &'v mut dyn FnMut(To, &str)) -> Self {
        Self {
            say,
            verbosity: Verbosity::Normal,
            has_begun: false,
        }
    }

    /// How the run goes; nothing where it is to be quiet.
    pub(super) fn log(&mut self, text: &str) {
        if self.verbosity != Verbosity::Quiet {
            (self.say)(To::Output, &format!("[ralph] {text}"));
        }
    }

    /// What programs read.
    pub(super) fn plain(&mut self, text: &str) {
        (self.say)(To::Output, text);
    }

    /// What somebody should know.
    pub(super) fn error(&mut self, text: &str) {
        (self.say)(To::Error, text);
    }
}
