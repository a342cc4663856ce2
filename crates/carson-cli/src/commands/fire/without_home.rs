//! `carson fire ROLE --dry-run` where there is no home yet: what a firing would do in the one that `carson init` would
//! make here.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use carson_core::FiringId;
use carson_home::Home;
use carson_operator::fire::DryRun;
use carson_operator::issues::Create;
use carson_operator::{Ask, names};
use carson_proc::Cancel;

use super::outlook;
use crate::app::App;
use crate::args::Fire;
use crate::commands::home_files::not_writable;
use crate::commands::init::as_proposed;
use crate::error::CommandError;
use crate::print;

/// The issue that is made up where a role works on issues.
const TITLE: &str = "An example: say in the README what this is for";
const BODY: &str = "It stands here only to be shown what becomes of an issue.";

/// Looks ahead in a home beside the place where it would be, which goes again.
pub async fn look_ahead(app: &App, args: Fire, cancel: Cancel) -> Result<u8, CommandError> {
    let settings = app.layout.settings();
    if args.work.is_some() || args.story.is_some() || args.repo.is_some() {
        let missing = format!("{} is not there", settings.display());
        return Err(CommandError::usage(missing).hint(
            "`carson init` makes it; without --repo, --work and --story, what it would make is shown",
        ));
    }
    let place = Place::beside(app)?;
    let proposed = App::new(Some(place.0.join("home")), app.json)?;
    let origin = as_proposed(&proposed, &args.role).await?;
    let home = proposed.home().await?;
    make_up_an_issue(&home, &args.role).await?;
    let asked = DryRun {
        role: args.role,
        repo: None,
        work: None,
        story: None,
    };
    let watched = (cancel, outlook::passing());
    let outlook = asked.watched(&home, watched).await?;
    if app.json {
        let shown = serde_json::to_value(&outlook);
        let mut shown = shown.map_err(|error| CommandError::caused_by(&error))?;
        shown["made_up"] = true.into();
        print::json(&shown);
        return Ok(0);
    }
    tell_the_home(&home, &settings, origin.as_deref());
    outlook::print(&proposed, &home, &outlook, args.all)
}

async fn make_up_an_issue(home: &Home, role: &str) -> Result<(), CommandError> {
    let role = names::role(&home.fleet, role)?;
    if let (Some(label), Some(repo)) = (role.work.label(), role.repos.first()) {
        let issue = Create {
            title: TITLE.to_owned(),
            body: BODY.to_owned(),
            labels: vec![label.to_owned()],
            repo: Some(repo.to_string()),
        };
        issue.answer(home).await?;
    }
    Ok(())
}

/// What `carson init` would have decided.
fn tell_the_home(home: &Home, settings: &Path, origin: Option<&str>) {
    print::line(&format!(
        "there is no {} yet: this is what `carson init` would make here, with an issue made up; nothing of it is kept",
        settings.display()
    ));
    for repo in home.fleet.repos.values() {
        let (url, base) = (&repo.url, &repo.base);
        print::line(&format!(
            "repository: {url}, work starts from {base}; issues are files"
        ));
    }
    if let Some(origin) = origin {
        print::line(&format!(
            "  `carson init` takes {origin} and the issues there instead, if it is let in"
        ));
    }
    print::line(&format!("zone: {}", home.fleet.zone));
    if let Some(usd) = home.fleet.max_cost_usd_per_day {
        print::line(&format!("money: at most {usd:.2} USD a day"));
    }
}

/// A directory where a home would be, so that its disk and its rights are those; it goes with this.
struct Place(PathBuf);

impl Place {
    fn beside(app: &App) -> Result<Self, CommandError> {
        let root = &app.layout.root;
        if root.symlink_metadata().is_ok() && !root.is_dir() {
            let wrong = format!("{} is no directory", root.display());
            return Err(CommandError::usage(wrong).hint("name another home with --home"));
        }
        let settings = app.layout.settings();
        if settings.symlink_metadata().is_ok() {
            let wrong = format!("{} is a link that leads nowhere", settings.display());
            return Err(CommandError::usage(wrong).hint("remove it, and run `carson init`"));
        }
        let roles = std::fs::read_dir(app.layout.roles());
        if roles.is_ok_and(|mut roles| roles.next().is_some()) {
            let half = format!("{} has roles, and no carson.toml", root.display());
            return Err(CommandError::usage(half).hint("`carson init` makes it, and takes them up"));
        }
        let above = root.ancestors().skip(1).find(|above| above.is_dir());
        let name = format!(".carson-look-{}", FiringId::new().short());
        let dir = above.unwrap_or(Path::new("/")).join(name);
        let made = DirBuilder::new().mode(0o700).create(&dir);
        made.map_err(|error| {
            let what = format!("{} cannot be made: {error}", dir.display());
            not_writable(std::io::Error::new(error.kind(), what))
        })?;
        Ok(Self(dir))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
