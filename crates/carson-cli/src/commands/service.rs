//! `carson service`: the daemon in the hands of the machine's service manager.
//!
//! A [`Target`] is one service: its text, its file, and how it is asked for. `install` and `uninstall` touch a file
//! only while it is as Carson wrote it (`written.rs`); what they ask of systemd or launchd is bounded (`manager.rs`).

mod launchd_plist;
mod manager;
mod state;
mod systemd_unit;
mod target;
mod written;

use std::path::Path;

use serde_json::json;

use crate::app::App;
use crate::args::service::{Service, Which};
use crate::error::CommandError;
use crate::print;
use manager::{ANSWER, READY, Services, Surroundings, must_be_root};
use target::{Kind, Target, UNIT};
use written::Written;

pub async fn run(app: &App, action: Service) -> Result<u8, CommandError> {
    let around = Surroundings::now(app.environ());
    let root = Path::new("/");
    match action {
        Service::Print { which } => {
            let target = Target::of(app, &which, root)?;
            let value = json!({"file": target.file, "text": target.text});
            match app.json {
                true => print::json(&value),
                false => print::raw(target.text.trim_end()),
            }
            Ok(0)
        }
        Service::Install {
            which,
            force,
            no_start,
        } => {
            let target = Target::of(app, &which, root)?;
            let services = may_change(&around, &target, "install")?;
            settings_are_right(app, &target)?;
            let done = install(&target, services.as_ref().filter(|_| !no_start), force).await?;
            say_installed(app, &target, &done, no_start);
            Ok(0)
        }
        Service::Uninstall { which } => {
            let target = Target::of(app, &which, root)?;
            let services = may_change(&around, &target, "uninstall")?;
            let removed = uninstall(&target, services.as_ref()).await?;
            let file = target.file.display();
            let text = match removed {
                true => format!(
                    "{file} is removed, and the daemon stopped; firings that run go on to their end"
                ),
                false => format!("there is no {file}: nothing is removed"),
            };
            print::done(
                app.json,
                &text,
                &json!({"file": target.file, "removed": removed}),
            );
            Ok(0)
        }
        Service::Status { which } => status(app, &around, &which).await,
    }
}

/// Who is asked to change it.
fn may_change(
    around: &Surroundings,
    target: &Target,
    verb: &str,
) -> Result<Option<Services>, CommandError> {
    if let Kind::Machine(user) = &target.kind {
        must_be_root(around, verb, user)?;
    }
    services(around, target).map(Some)
}

fn services(around: &Surroundings, target: &Target) -> Result<Services, CommandError> {
    match &target.kind {
        Kind::Own => Services::systemd(around, false),
        Kind::Machine(_) => Services::systemd(around, true),
        Kind::Launchd { .. } => Services::launchd(around),
    }
}

/// A daemon that would not start is not installed. Of another user's home only the file is looked for.
fn settings_are_right(app: &App, target: &Target) -> Result<(), CommandError> {
    let home = &target.fleet_home;
    if !home.join("carson.toml").is_file() {
        return Err(
            CommandError::usage(format!("there is no carson.toml in {}", home.display()))
                .hint("`carson init` in a repository makes it")
                .hint("or name another home with --home"),
        );
    }
    if matches!(target.kind, Kind::Machine(_)) {
        return Ok(());
    }
    let fleet = app.load()?.fleet;
    if fleet.roles.is_empty() {
        return Err(CommandError::usage(format!(
            "there is no role in {}, so the daemon would never fire",
            fleet.layout.roles().display()
        ))
        .hint("`carson init --role implementer` makes the one that comes with Carson"));
    }
    Ok(())
}

/// What was done of an installation.
#[derive(Debug, PartialEq, Eq)]
struct Installed {
    /// Whether the file was not so before.
    changed: bool,
    /// Where somebody's own file is now.
    aside: Option<std::path::PathBuf>,
}

async fn install(
    target: &Target,
    services: Option<&Services>,
    force: bool,
) -> Result<Installed, CommandError> {
    let file = &target.file;
    let aside = match Written::of(file)? {
        Written::Missing | Written::Ours => None,
        Written::Edited if force => Some(written::keep_aside(file)?),
        Written::Edited => {
            return Err(CommandError::failed(format!(
                "{} is somebody's own: Carson did not write it so",
                file.display()
            ))
            .hint("put changes into a drop-in, which stays: `systemctl edit carson` (with --user for one of your own)")
            .hint("`carson service print` shows what would be written; --force replaces it, and keeps it beside it"));
        }
    };
    let text = target.marked();
    let changed = std::fs::read_to_string(file).ok().as_ref() != Some(&text);
    if changed {
        written::write(file, &text).map_err(|error| {
            CommandError::failed(format!("{} cannot be written: {error}", file.display()))
                .hint("check who may write that directory")
        })?;
    }
    if let Some(services) = services {
        start(target, services).await?;
    }
    Ok(Installed { changed, aside })
}

/// Comes back when the daemon says that it is ready, or after a bounded time.
async fn start(target: &Target, services: &Services) -> Result<(), CommandError> {
    if let Kind::Launchd { domain } = &target.kind {
        let (file, label) = (target.file.display().to_string(), target.name());
        // Of before, where there is one.
        let _ = services
            .ask(&["bootout", &format!("{domain}/{label}")], READY)
            .await?;
        services.must(&["bootstrap", domain, &file], ANSWER).await?;
        return state::until_launchd_runs(services, domain, label).await;
    }
    services.must(&["daemon-reload"], ANSWER).await?;
    services.must(&["enable", UNIT], ANSWER).await?;
    // What stayed down after five starts may be tried again now.
    let _ = services.ask(&["reset-failed", UNIT], ANSWER).await?;
    let started = services.must(&["restart", UNIT], READY).await;
    started.map(drop).map_err(|error| {
        let journal = match &target.kind {
            Kind::Own => "`journalctl --user -u carson -n 50` says why",
            _ => "`journalctl -u carson -n 50` says why",
        };
        error
            .hint(journal)
            .hint("the unit is written and enabled: `carson service status`")
    })
}

/// Whether there was one.
async fn uninstall(target: &Target, services: Option<&Services>) -> Result<bool, CommandError> {
    let file = &target.file;
    match Written::of(file)? {
        Written::Missing => return Ok(false),
        Written::Ours => {}
        Written::Edited => {
            let stop = match &target.kind {
                Kind::Own => {
                    "`systemctl --user disable --now carson` stops it; remove the file yourself then"
                }
                Kind::Machine(_) => {
                    "`systemctl disable --now carson` stops it; remove the file yourself then"
                }
                Kind::Launchd { .. } => {
                    "`launchctl bootout` stops it; remove the file yourself then"
                }
            };
            return Err(CommandError::failed(format!(
                "{} is somebody's own: Carson did not write it so, and leaves it",
                file.display()
            ))
            .hint(stop));
        }
    }
    if let Some(services) = services {
        match &target.kind {
            Kind::Launchd { domain } => {
                let named = format!("{domain}/{}", target.name());
                // It may not be loaded.
                let _ = services.ask(&["bootout", &named], READY).await?;
            }
            _ => drop(services.must(&["disable", "--now", UNIT], READY).await?),
        }
    }
    std::fs::remove_file(file)?;
    if let (Some(services), Kind::Own | Kind::Machine(_)) = (services, &target.kind) {
        services.must(&["daemon-reload"], ANSWER).await?;
        let _ = services.ask(&["reset-failed", UNIT], ANSWER).await?;
    }
    Ok(true)
}

fn say_installed(app: &App, target: &Target, done: &Installed, no_start: bool) {
    let lingers = target.lingers(Path::new("/"));
    if app.json {
        return print::json(&json!({
            "file": target.file, "changed": done.changed, "kept": done.aside,
            "started": !no_start, "lingers": lingers,
        }));
    }
    let file = target.file.display();
    let wrote = if done.changed {
        "is written"
    } else {
        "is as it was"
    };
    print::line(&format!("{file} {wrote}"));
    if let Some(aside) = &done.aside {
        print::line(&format!("what was there is kept as {}", aside.display()));
    }
    if no_start {
        return print::line("nothing was started");
    }
    print::line(
        "the daemon runs, and starts with the machine: `carson service status`, `carson status`",
    );
    match &target.kind {
        Kind::Own if !lingers => print::warning(
            "it ends when you sign out, until you say: loginctl enable-linger \"$USER\"",
        ),
        Kind::Launchd { .. } => {
            print::line("it runs while you are signed in, and not while the Mac sleeps");
        }
        _ => {}
    }
}

async fn status(app: &App, around: &Surroundings, which: &Which) -> Result<u8, CommandError> {
    let target = Target::of(app, which, Path::new("/"))?;
    let services = services(around, &target)?;
    let seen = state::look(&target, &services, around.uid).await?;
    match app.json {
        true => print::json(&seen),
        false => seen.lines().iter().for_each(|line| print::line(line)),
    }
    Ok(u8::from(!seen.runs()))
}

#[cfg(test)]
mod tests;
