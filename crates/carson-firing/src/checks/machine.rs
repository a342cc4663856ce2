//! What checks of the machine alone look at.

use std::sync::OnceLock;

use carson_core::Clock;
use carson_proc::sandbox::{Level, probe};

/// The machine, for this user.
#[derive(Debug)]
pub struct Machine {
    pub(super) clock: Clock,
    level: OnceLock<Level>,
}

impl Machine {
    /// This one, with what the clock says.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            level: OnceLock::new(),
        }
    }

    /// What the kernel can do for sessions; asked once.
    pub(super) fn level(&self) -> &Level {
        self.level.get_or_init(probe)
    }
}
