//! A firing, as everything below its stages knows it.

use std::fmt::Display;

use carson_config::Role;
use carson_core::{Event, FiringId};
use carson_store::{AsFiring, Epoch, Store};
use chrono::{DateTime, Utc};
use tracing::warn;

use crate::home::Home;

/// Which firing, of which role, in which home.
#[derive(Clone, Copy)]
pub struct FiringRef<'h> {
    /// The home.
    pub home: &'h Home,
    /// The role.
    pub role: &'h Role,
    /// Its id.
    pub id: FiringId,
    /// That of its row, as who runs it knows it.
    pub epoch: Epoch,
}

impl<'h> FiringRef<'h> {
    /// The rows.
    #[must_use]
    pub fn store(&self) -> &'h Store {
        &self.home.store
    }

    /// The firing as who writes its row.
    #[must_use]
    pub fn as_firing(&self) -> AsFiring<'h> {
        self.home.store.as_firing(self.id, self.epoch)
    }

    /// The wall clock.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.home.clock.now()
    }

    /// The text without secrets.
    #[must_use]
    pub fn redacted(&self, text: &str) -> String {
        self.home.redactor.redact(text).into_owned()
    }

    /// Writes something down that is for people, or that is written again later. A store that does
    /// not answer now is not worth the firing.
    pub async fn best_effort<E: Display>(
        &self,
        what: &str,
        written: impl Future<Output = Result<(), E>>,
    ) {
        if let Err(error) = written.await {
            warn!(firing.id = %self.id, %error, "{what} could not be noted");
        }
    }

    /// Adds an event of this firing.
    pub async fn event(&self, event: &Event) {
        let role = Some(&self.role.name);
        let added = self.store().event(event, role, Some(self.id), self.now());
        self.best_effort(event.kind(), added).await;
    }
}
