//! `carson backup`

use std::path::Path;

use carson_core::Clock;
use carson_daemon::{DaemonLock, LockError};
use carson_operator::Ask;
use carson_operator::backup::{List, Make, file};
use carson_store::backup;
use serde_json::json;

use crate::app::App;
use crate::args::BackupAction;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: &BackupAction) -> Result<u8, CommandError> {
    match action {
        BackupAction::List => {
            let home = app.home_unopened(app.load()?.fleet)?;
            let all = List {}.answer(&home).await?;
            let none = "there is no backup yet; the daemon makes one a day";
            print::list(app.json, &all, none, &["BACKUP", "SIZE"], |path| row(path));
            Ok(0)
        }
        BackupAction::Make => {
            let home = app.home_in_any_case().await?;
            let made = Make {}.answer(&home).await?;
            let text = made.backup.clone().unwrap_or_default();
            print::done(app.json, &text, &made);
            Ok(0)
        }
        BackupAction::Restore { backup } => restore(app, backup.as_deref()).await,
    }
}

fn row(path: &Path) -> Vec<String> {
    let bytes = path.metadata().map_or(0, |found| found.len());
    vec![name(path), format!("{} KiB", bytes.div_ceil(1_024))]
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Nobody may have the database open, so this is no verb of the operator's crate.
async fn restore(app: &App, wanted: Option<&Path>) -> Result<u8, CommandError> {
    let db = file(&app.load()?.fleet)?;
    let all = backup::beside(&db);
    let wanted = match wanted {
        None => all.last().cloned(),
        Some(path) => {
            // A name alone is one of those beside the database; a path is what it says.
            let named = all.iter().find(|one| one.ends_with(path));
            Some(named.cloned().unwrap_or_else(|| path.to_owned()))
        }
    };
    let Some(wanted) = wanted else {
        return Err(
            CommandError::failed("there is no backup beside the database")
                .hint("name the file of one that you keep elsewhere"),
        );
    };
    let _lock = DaemonLock::take(&app.layout.daemon_lock()).map_err(|error| match error {
        LockError::Held { .. } => CommandError::failed(error.to_string())
            .hint("stop the daemon first: it would go on with the old file"),
        LockError::Io { .. } => CommandError::caused_by(&error)
            .hint("check that the home can be written, or choose another with --home"),
    })?;
    let now = Clock::system().now();
    let aside = carson_store::restore(&db, &wanted, now).await?;
    let aside = aside.map(|path| app.layout.shown(&path));
    let mut text = format!("{} is the database now", app.layout.shown(&wanted));
    if let Some(aside) = &aside {
        text.push_str(&format!("; what was there is kept in {aside}"));
    }
    let value = json!({"restored": wanted, "kept": aside});
    print::done(app.json, &text, &value);
    Ok(0)
}
