//! A home for tests: what is written in a directory, opened as a process does that knows nothing of its machine.

use std::path::Path;
use std::sync::Arc;

use carson_config::{Fleet, LoadOptions, load};
use carson_core::Clock;
use carson_proc::inspector::Inspector;
use carson_redact::Redactor;
use carson_store::Store;

use crate::Home;

/// The settings and roles of a directory, on a machine that is called `box`.
///
/// # Errors
/// When they do not hold.
pub fn fleet(root: &Path) -> Result<Fleet, String> {
    let options = LoadOptions {
        home: root.to_owned(),
        files: None,
        env: Vec::new(),
        user_home: None,
        machine: "box".into(),
    };
    let loaded = load(&options).map_err(|findings| findings.to_string())?;
    Ok(loaded.fleet)
}

/// The home in a directory. Its program is nowhere: what is asked of the inspector has no answer.
///
/// # Errors
/// When the settings do not hold, or the store cannot be opened.
pub async fn open(root: &Path, clock: Clock) -> Result<Home, String> {
    let fleet = fleet(root)?;
    fleet.layout.create().map_err(|error| error.to_string())?;
    let store = Store::open(&fleet.database).await;
    Ok(Home {
        inspector: Inspector::of("/nowhere/carson"),
        store: store.map_err(|error| error.to_string())?,
        fleet: Arc::new(fleet),
        clock,
        program: "/nowhere/carson".into(),
        environ: Vec::new(),
        user_home: None,
        redactor: Redactor::default(),
        vectors: Default::default(),
    })
}
