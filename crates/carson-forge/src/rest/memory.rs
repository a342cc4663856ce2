//! What a process knows of a forge, whichever repository it asks for.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::standing::Standing;

/// What the answers told so far.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Until when the other side accepts nothing. Who goes on asking is shut out for longer.
    shut: Mutex<Option<Instant>>,
    /// What the newest answer told of our token.
    standing: Mutex<Standing>,
}

impl Memory {
    /// How long nothing is accepted from now on.
    pub fn shut_for(&self) -> Duration {
        let shut = *self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        shut.map_or(Duration::ZERO, |shut| {
            shut.saturating_duration_since(Instant::now())
        })
    }

    /// Nothing is accepted for so long, or for what is known already if that is longer.
    pub fn shut(&self, wait: Duration) {
        if let Some(until) = Instant::now().checked_add(wait) {
            let mut shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
            *shut = Some(shut.map_or(until, |known| known.max(until)));
        }
    }

    /// What the newest answer told.
    pub fn standing(&self) -> Standing {
        let standing = self.standing.lock();
        standing.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn note(&self, standing: Standing) {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }
}
