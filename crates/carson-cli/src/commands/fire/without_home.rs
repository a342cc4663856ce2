//! `carson fire ROLE --dry-run` where there is no home yet: what a firing would do in the one that `carson init` would
//! make here.

use std::path::PathBuf;

use carson_core::FiringId;
use carson_operator::Ask;
use carson_operator::fire::DryRun;
use carson_operator::issues::Create;

use super::look_ahead as look;
use crate::app::App;
use crate::args::Fire;
use crate::commands::init::as_proposed;
use crate::error::CommandError;
use crate::print;

/// The issue that is made up where a role works on issues.
const TITLE: &str = "An example: say in the README what this is for";
const BODY: &str = "It stands here only to be shown what becomes of an issue.";

/// Looks ahead in a home in a temporary directory, which goes again.
pub async fn look_ahead(app: &App, args: Fire) -> Result<u8, CommandError> {
    if args.work.is_some() || args.story.is_some() || args.repo.is_some() {
        let missing = format!("{} is not there", app.layout.settings().display());
        return Err(CommandError::usage(missing)
            .hint("`carson init` makes it; without --repo, --work and --story, what it would make is shown"));
    }
    let place = Temporary::new()?;
    let proposed = App::new(Some(place.0.join("home")), app.json)?;
    as_proposed(&proposed, &args.role).await?;
    let home = proposed.home().await?;
    if !app.json {
        let settings = app.layout.settings();
        print::line(&format!(
            "there is no {} yet: this is what `carson init` would make here, and nothing of it is kept",
            settings.display()
        ));
    }
    let role = carson_operator::names::role(&home.fleet, &args.role)?;
    if let (Some(label), Some(repo)) = (role.work.label(), role.repos.first()) {
        let issue = Create {
            title: TITLE.to_owned(),
            body: BODY.to_owned(),
            labels: vec![label.to_owned()],
            repo: Some(repo.to_string()),
        };
        issue.answer(&home).await?;
    }
    let asked = DryRun {
        role: args.role,
        repo: None,
        work: None,
        story: None,
    };
    look(&proposed, &home, asked, args.all).await
}

/// A directory that goes with this.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> std::io::Result<Self> {
        let name = format!("carson-look-{}", FiringId::new().short());
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir(&dir)?;
        Ok(Self(dir))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
