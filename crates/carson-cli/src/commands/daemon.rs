//! `carson daemon`

use carson_daemon::{DaemonError, LockError, Start};

use crate::app::App;
use crate::args::Daemon;
use crate::error::CommandError;

pub async fn run(app: &App, args: &Daemon) -> Result<u8, CommandError> {
    // Whatever is changed after the settings were read is read again.
    let hang_ups = carson_daemon::hang_ups().map_err(|error| CommandError::caused_by(&error))?;
    let loaded = app.load()?;
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    carson_daemon::wait_for_disk(&loaded.fleet).await;
    let home = app.home_of(loaded.fleet).await?;
    let start = Start {
        options: app.options(),
        sources: loaded.sources,
        drain: args.drain,
    };
    match carson_daemon::run(home, start, hang_ups).await {
        Ok(()) => Ok(0),
        Err(DaemonError::Lock(error @ LockError::Held { .. })) => {
            Err(CommandError::failed(error.to_string())
                .hint("one daemon per home: stop that one, or choose another home with --home"))
        }
        Err(DaemonError::Lock(error)) => Err(CommandError::caused_by(&error)
            .hint("check that the home can be written, or choose another with --home")),
        Err(error @ DaemonError::NoRoles(_)) => Err(CommandError::usage(error.to_string()).hint(
            "`carson init --role implementer` makes the one that comes with Carson; \
             `carson config check` says what is wrong with what lies there",
        )),
        Err(DaemonError::Store(error)) => Err(app.store_error(error)),
        Err(error) => Err(CommandError::caused_by(&error)),
    }
}
