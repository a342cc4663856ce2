//! Whether the database takes a row.

use crate::{Scene, Verdict};

pub(crate) async fn writable(scene: &Scene<'_>) -> Option<Verdict> {
    if let Some(trouble) = &scene.database {
        return Some(Verdict::error(trouble.found.clone()).mend(trouble.remedy.clone()));
    }
    let (store, now) = (&scene.home.store, scene.home.clock.now());
    Some(match store.try_writing(&scene.home.fleet.host, now).await {
        Ok(()) => Verdict::ok(format!("{} takes a row, and gives it back", store.kind())),
        Err(error) => Verdict::error(error.to_string()).mend(error.hint()),
    })
}
