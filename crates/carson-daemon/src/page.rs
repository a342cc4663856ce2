//! The page that the daemon serves to browsers (`[page]`).

use std::sync::{Arc, PoisonError};

use carson_page::Homes;

use crate::faces::Faces;
use crate::jobs::Shared;
use crate::served::Served;

/// The page, where the settings want one.
pub(crate) struct Face(Served);

impl Face {
    /// Nothing is served yet.
    pub(crate) fn of(faces: &Faces) -> Self {
        Self(Served::telling(faces.tell("page")))
    }

    /// Serves where the settings of now say. Who comes in, and by which names, is asked of them at every request.
    pub(crate) fn follow(&mut self, shared: &Shared) {
        let home = shared
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let wanted = home.fleet.page.as_ref().map(|page| page.listen);
        let shared = shared.clone();
        let homes: Homes = Arc::new(move || {
            let home = shared.read().unwrap_or_else(PoisonError::into_inner);
            home.clone()
        });
        self.0.follow(wanted, |at, tell| {
            tokio::spawn(async move {
                let Err(error) = carson_page::keep(at, homes, &tell).await;
                tracing::error!(error, "the page is not served");
                tell(Some(&error));
            })
        });
    }
}
