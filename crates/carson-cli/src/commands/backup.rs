//! `carson backup`

use std::path::{Path, PathBuf};

use carson_core::Clock;
use carson_daemon::DaemonLock;
use carson_store::backup;
use serde_json::json;

use crate::app::App;
use crate::args::BackupAction;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: &BackupAction) -> Result<u8, CommandError> {
    match action {
        BackupAction::List => list(app),
        BackupAction::Make => make(app).await,
        BackupAction::Restore { backup } => restore(app, backup.as_deref()).await,
    }
}

/// The file of the database. Nothing is opened: it may be damaged.
fn file(app: &App) -> Result<PathBuf, CommandError> {
    let database = app.load()?.fleet.database;
    let path = database.strip_prefix("sqlite:").map(PathBuf::from);
    path.ok_or_else(|| {
        CommandError::failed("the database is a PostgreSQL server, which has means of its own")
            .hint("pg_dump makes a backup, and pg_restore puts it back")
    })
}

fn list(app: &App) -> Result<u8, CommandError> {
    let all = backup::beside(&file(app)?);
    if app.json {
        print::json(&all);
        return Ok(0);
    }
    if all.is_empty() {
        print::line("there is no backup yet; the daemon makes one a day");
        return Ok(0);
    }
    let rows = all.iter().map(|path| {
        let bytes = path.metadata().map_or(0, |found| found.len());
        vec![name(path), format!("{} KiB", bytes.div_ceil(1_024))]
    });
    print::table(&["BACKUP", "SIZE"], rows.collect());
    Ok(0)
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

async fn make(app: &App) -> Result<u8, CommandError> {
    file(app)?;
    let house = app.house_in_any_case().await?;
    let made = house.store.back_up(house.clock.now()).await?;
    let made = made.map(|path| house.fleet.home.shown(&path));
    let text = made.clone().unwrap_or_default();
    print::done(app.json, &text, &json!({"backup": made}));
    Ok(0)
}

async fn restore(app: &App, wanted: Option<&Path>) -> Result<u8, CommandError> {
    let db = file(app)?;
    let all = backup::beside(&db);
    let wanted = match wanted {
        None => all.last().cloned(),
        Some(path) => {
            let named = all.iter().find(|one| one.file_name() == path.file_name());
            Some(named.cloned().unwrap_or_else(|| path.to_owned()))
        }
    };
    let Some(wanted) = wanted else {
        return Err(
            CommandError::failed("there is no backup beside the database")
                .hint("name the file of one that you keep elsewhere"),
        );
    };
    let _lock = DaemonLock::take(&app.home.daemon_lock()).map_err(|error| {
        CommandError::failed(error.to_string())
            .hint("stop the daemon first: it would go on with the old file")
    })?;
    let now = Clock::system().now();
    let aside = backup::restore(&db, &wanted, now).await?;
    let aside = aside.map(|path| app.home.shown(&path));
    let mut text = format!("{} is the database now", name(&wanted));
    if let Some(aside) = &aside {
        text.push_str(&format!("; what was there is kept in {aside}"));
    }
    let value = json!({"restored": wanted, "kept": aside});
    print::done(app.json, &text, &value);
    Ok(0)
}
