//! The bounds of one child.

use std::time::Duration;

/// The signal that asks a child to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// SIGTERM.
    Terminate,
    /// SIGINT, as Ctrl-C at a terminal.
    Interrupt,
}

/// Every child has all of these.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Total time.
    pub wall_clock: Duration,
    /// Time without a byte of output; `None` for programs that work in silence.
    pub silence: Option<Duration>,
    /// What it is asked to end with.
    pub ask: Ask,
    /// Time between that and SIGKILL.
    pub grace: Duration,
    /// Bytes over both streams before the child is stopped.
    pub max_output: u64,
    /// Bytes kept of the head and of the tail of each stream.
    pub keep: usize,
    /// Time that output may still come after the child's exit, from a grandchild that holds the
    /// pipe (nextest's leak timeout).
    pub drain: Duration,
    /// Whether to look for descendants outside the group afterwards. Programs that are known to
    /// leave none (git) save a walk over the process table.
    pub sweep: bool,
}

impl Limits {
    /// Bytes that a child usually may print.
    pub const OUTPUT: u64 = 64 << 20;

    /// The usual bounds within a total time.
    #[must_use]
    pub fn within(wall_clock: Duration) -> Self {
        Self {
            wall_clock,
            silence: None,
            ask: Ask::Terminate,
            grace: Duration::from_secs(5),
            max_output: Self::OUTPUT,
            keep: 256 * 1024,
            drain: Duration::from_millis(100),
            sweep: true,
        }
    }
}
