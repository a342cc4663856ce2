//! The chat that the daemon listens to (`[slack] app_token_file`).

use std::sync::{Arc, PoisonError};

use carson_chat::{Face, Newest};

use crate::faces::Faces;
use crate::jobs::Shared;

/// Whoever listens, and the settings that it follows.
pub(crate) struct Listener {
    face: Face,
    newest: Newest,
}

impl Listener {
    /// Nobody yet.
    pub(crate) fn of(shared: &Shared, faces: &Faces) -> Self {
        let shared = shared.clone();
        Self {
            face: Face::telling(faces.tell("chat")),
            newest: Arc::new(move || {
                let home = shared.read().unwrap_or_else(PoisonError::into_inner);
                home.clone()
            }),
        }
    }

    /// Listens as the settings of now say.
    pub(crate) fn follow(&mut self) {
        self.face.follow(&self.newest);
    }
}
