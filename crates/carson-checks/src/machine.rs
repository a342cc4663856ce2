//! What checks of the machine alone look at.

use carson_core::Clock;
use carson_proc::sandbox::{Level, probe};

/// The machine, for this user.
#[derive(Debug)]
pub struct Machine {
    pub(crate) clock: Clock,
}

impl Machine {
    /// This one, with what the clock says.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock }
    }

    /// What the kernel can do for sessions.
    pub(crate) fn level(&self) -> Level {
        probe()
    }
}
