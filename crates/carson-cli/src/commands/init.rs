//! `carson init`

mod source;
mod written;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use carson_checks::{Checked, Health, Machine, Scene, some_of};
use carson_config::{ShippedRole, shipped_roles};
use carson_core::{Clock, KeepsTo};
use carson_home::ForgeOpenError;
use serde_json::json;

use crate::app::App;
use crate::args::Init;
use crate::commands::home_files::{not_writable, write};
use crate::commands::new_role::NewRole;
use crate::commands::proposed_check::{ProposedCheck, proposed_check};
use crate::commands::proposed_setup::{Proposal, proposed};
use crate::commands::role_text::RoleText;
use crate::error::CommandError;
use crate::print;
use source::Source;

/// What is asked of an account that was just written: without a program there is no home.
const PROGRAM: &str = "account.NAME.program";
const SIGN_IN: &str = "account.NAME.sign_in";

pub async fn run(app: &App, args: &Init) -> Result<u8, CommandError> {
    if let Some(role) = args.role.as_deref().and_then(ShippedRole::named) {
        let role = NewRole {
            repo: args.repo.clone(),
            ..NewRole::shipped(role)?
        };
        return role.add(app).await;
    }
    let settings = app.layout.settings();
    if settings.exists() {
        let exists = CommandError::failed(format!("{} exists already", settings.display()));
        return Err(exists
            .hint("edit it, or choose another home with --home")
            .hint("to add a role to it: carson init --role implementer")
            .hint("to add a repository: write [repos.NAME] with its url there, and NAME into the roles' `repos`"));
    }
    let may_ask = !args.yes && !app.json && std::io::stdin().is_terminal();
    let source = Source::found(args, may_ask).await?;
    let proposal = proposed(&source.files);
    let mut check = proposed_check(&source.files);
    if may_ask {
        check = agreed(check)?;
    }
    let mut made = Made::begin(app)?;
    made.file(&settings, &written::settings(args, &source, &proposal))?;
    let role = made.role(app, args, &source, check.as_ref())?;
    let to_mend = match examined(app).await {
        Ok(to_mend) => to_mend,
        Err(error) => {
            return Err(error.hint("nothing was kept: put that right, and run `carson init` again"));
        }
    };
    made.keep();
    if app.json {
        print::json(&json!({
            "home": app.layout.root, "settings": settings, "role": role,
            "repository": source.url, "origin": source.origin, "base": source.base,
            "check": check.map(|check| check.run), "errors": to_mend,
        }));
        return Ok(0);
    }
    print::line(&format!("home: {}", app.layout.root.display()));
    print::line(&format!("settings: {}", settings.display()));
    print::line(&format!("role: {}", role.display()));
    told(&source, check.as_ref(), &proposal);
    for one in &to_mend {
        print::alarm(&format!("error: {}: {}", one.id, one.found));
        if let Some(remedy) = &one.remedy {
            print::line(&format!("  → {remedy}"));
        }
    }
    print::line("next:");
    let carson = app.called();
    if args.slug.is_some() {
        print::line(&format!("  {carson} labels bootstrap"));
    }
    for rest in [
        "issue create \"What is to be done\"",
        "fire implementer --dry-run",
        "fire implementer",
        "daemon",
    ] {
        print::line(&format!("  {carson} {rest}"));
    }
    Ok(0)
}

/// What was found and decided.
fn told(source: &Source, check: Option<&ProposedCheck>, proposal: &Proposal) {
    let Source { url, base, .. } = source;
    print::line(&format!("repository: {url}, work starts from {base}"));
    if let Some(origin) = &source.origin {
        print::line(&format!(
            "  it is this checkout, because its issues and pull requests are files here: branches are pushed into \
             it, and not to its origin {origin}; `carson init --repo {origin}` would take that one"
        ));
    }
    match check {
        Some(ProposedCheck { run, by }) => print::line(&format!(
            "check: `{run}` says whether work is done ({by}); it stands in the role"
        )),
        None => print::alarm(
            "check: no command that tests the repository was found; write [promise] into the role, or \
             no check is run before a pull request is opened",
        ),
    }
    if !proposal.setup.is_empty() {
        print::line(&format!(
            "setup: {} would make workspaces ready to work in; the settings have it behind a #",
            proposal.setup.join("; ")
        ));
    }
    let day = written::DAY_USD;
    print::line(&format!(
        "money: 5 USD a firing (the role says so), {day} USD a day (the settings)"
    ));
}

/// The command that the operator wants at a terminal.
fn agreed(proposed: Option<ProposedCheck>) -> Result<Option<ProposedCheck>, CommandError> {
    print::line(&match &proposed {
        Some(ProposedCheck { run, by }) => {
            format!("Check (Enter for `{run}`, by {by}; another command; or \"none\"):")
        }
        None => "Check (the command that tests the repository; Enter for none):".to_owned(),
    });
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(match answer.trim() {
        "" => proposed,
        "none" => None,
        run => Some(ProposedCheck {
            run: run.to_owned(),
            by: "as you said",
        }),
    })
}

/// Holds what was written against the same checks as what people write, and asks what a first firing
/// could not do without; what somebody can mend afterwards.
async fn examined(app: &App) -> Result<Vec<Checked>, CommandError> {
    let home = app.home_unopened(app.load()?.fleet)?;
    for repo in home.fleet.repos.values() {
        if let Err(error) = home.forge(repo).await {
            let hint = match error {
                ForgeOpenError::Token(_) => {
                    "sign in there first: on GitHub by `gh auth login`; or --token-file names a file with a token"
                }
                ForgeOpenError::Forge(_) => error.hint(),
            };
            return Err(CommandError::caused_by(&error).hint(hint));
        }
    }
    let machine = Machine::new(Clock::system());
    let scene = Scene::examined(&home, &machine, None);
    let mut all = some_of(&scene, &[PROGRAM, SIGN_IN]).await;
    all.retain(|one| one.health == Health::Error);
    let program = all.iter().find(|one| one.id.ends_with(".program"));
    if let Some(Checked { found, remedy, .. }) = program {
        let error = CommandError::failed(found);
        let other = "carson init --binary PATH says where it is, and --engine takes another one";
        return Err(error.hint(remedy.clone().unwrap_or_default()).hint(other));
    }
    Ok(all)
}

/// What was made so far. It goes again unless it is kept: half a home would be in the way of the
/// next try.
struct Made {
    files: Vec<PathBuf>,
    /// The home, when it was not there before.
    home: Option<PathBuf>,
}

impl Made {
    fn begin(app: &App) -> Result<Self, CommandError> {
        let root = &app.layout.root;
        let made = Self {
            files: Vec::new(),
            home: (!root.exists()).then(|| root.clone()),
        };
        app.layout.create().map_err(not_writable)?;
        Ok(made)
    }

    fn file(&mut self, path: &Path, text: &str) -> Result<(), CommandError> {
        write(path, text).map_err(not_writable)?;
        self.files.push(path.to_owned());
        Ok(())
    }

    fn role(
        &mut self,
        app: &App,
        args: &Init,
        source: &Source,
        check: Option<&ProposedCheck>,
    ) -> Result<PathBuf, CommandError> {
        let file = app.layout.roles().join("implementer/role.toml");
        // A role that lies there already is the operator's own.
        if file.exists() {
            return Ok(file);
        }
        let account = args.engine.to_string();
        let text = RoleText {
            like: shipped_roles().first(),
            repo: &source.name,
            account: &account,
            check,
            without_tools: args.engine.facts().keeps_to == KeepsTo::Nothing,
            ..RoleText::default()
        };
        self.file(&file, &text.toml())?;
        Ok(file)
    }

    fn keep(mut self) {
        self.files.clear();
        self.home = None;
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = std::fs::remove_file(file);
        }
        if let Some(home) = &self.home {
            let _ = std::fs::remove_dir_all(home);
        }
    }
}
