//! `carson init`

mod as_proposed;
mod asked_check;
mod asked_setup;
mod patience;
mod proposed;
mod source;
mod told_setup;
mod written;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use carson_checks::{Checked, Health, Machine, Scene};
use carson_config::{Fleet, ShippedRole, shipped_roles};
use carson_core::limits::WorstDay;
use carson_core::text::counted;
use carson_core::{Clock, EngineKind, KeepsTo};
use carson_home::ForgeOpenError;
use carson_operator::{Ask, roles};
use serde_json::json;

use crate::app::App;
use crate::args::Init;
use crate::commands::home_files::{not_writable, write};
use crate::commands::new_role::NewRole;
use crate::commands::proposed_check::{ProposedCheck, proposed_check};
use crate::commands::proposed_setup::{self, Proposal};
use crate::commands::role_text::RoleText;
use crate::error::CommandError;
use crate::print;
use asked_setup::Agreed;
use proposed::Hosted;
use source::{Source, Wanted};
use written::Written;

pub use as_proposed::as_proposed;

/// The check without which there is no home.
const PROGRAM: &str = ".program";
/// The role of a new home.
const FIRST_ROLE: &str = "implementer";

pub async fn run(app: &App, args: &Init) -> Result<u8, CommandError> {
    let settings = app.layout.settings();
    // Where there is no home yet, its first role is that one.
    let adds = args.role.as_deref();
    let adds = adds.filter(|role| *role != FIRST_ROLE || settings.exists());
    if let Some(role) = adds.and_then(ShippedRole::named) {
        let role = NewRole {
            repo: args.repo.clone(),
            ..NewRole::shipped(role)?
        };
        return role.add(app).await;
    }
    if settings.exists() {
        let exists = CommandError::failed(format!("{} exists already", settings.display()));
        return Err(exists
            .hint("edit it, or choose another home with --home")
            .hint("to add a role to it: carson init --role implementer")
            .hint("to add a repository: write [repos.NAME] with its url there, and NAME into the roles' `repos`"));
    }
    if let Some(script) = args.script.as_deref().filter(|script| !script.is_file()) {
        let wrong = format!("--script {}: there is no such file", script.display());
        return Err(CommandError::usage(wrong));
    }
    let may_ask = !args.yes && !app.json && std::io::stdin().is_terminal();
    let wanted = Wanted::by(args, may_ask).await?;
    let hosted = match Hosted::said(args, wanted.address())? {
        Some(said) => said,
        None => agreed_forge(wanted.address().and_then(Hosted::at), may_ask)?,
    };
    let engine = proposed::engine(args.engine, args.binary.is_some())?;
    let is_found = hosted.is_found;
    let mut begun = Begun {
        app,
        args,
        engine,
        wanted: &wanted,
        hosted,
        not_let_in: None,
        agreed: None,
        holds: None,
        may_ask,
    };
    let done = match begun.home().await {
        Err(Unfit::NotLetIn(error)) if is_found => {
            begun.not_let_in = Some(error.message);
            begun.hosted = Hosted::LOCAL;
            begun.home().await
        }
        done => done,
    };
    let done = done.map_err(|unfit| {
        let (Unfit::NotLetIn(error) | Unfit::Other(error)) = unfit;
        error.hint("nothing was kept: put that right, and run `carson init` again")
    })?;
    if app.json {
        print::json(&done.json(&begun));
    } else {
        done.tell(&begun);
    }
    Ok(0)
}

/// A home that is being made, as it was decided so far.
struct Begun<'a> {
    app: &'a App,
    args: &'a Init,
    engine: EngineKind,
    wanted: &'a Wanted,
    hosted: Hosted,
    /// Why its forge is not the one that its address names.
    not_let_in: Option<String>,
    /// The check that was agreed on: nobody is asked twice.
    agreed: Option<Option<ProposedCheck>>,
    /// What of the setup that was found is to hold.
    holds: Option<Agreed>,
    may_ask: bool,
}

/// What keeps a home from being made.
enum Unfit {
    /// Its forge has no token for us.
    NotLetIn(CommandError),
    Other(CommandError),
}

impl<E: Into<CommandError>> From<E> for Unfit {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

/// A home that was made, and kept.
struct Done {
    scaffold: Scaffold,
    checks: Vec<Checked>,
    worst: WorstDay,
}

impl Begun<'_> {
    /// Writes settings and a role, and holds them against everything that `doctor` asks; nothing stays of what is
    /// not fit.
    async fn home(&mut self) -> Result<Done, Unfit> {
        let app = self.app;
        let scaffold = self.scaffold().await?;
        let fleet = app.load()?.fleet;
        let checks = examined(app, fleet.clone());
        let checks = patience::told("git, the forge and this machine's own checks", checks).await?;
        let home = app.home_unopened(fleet)?;
        let shown = roles::Show {
            role: FIRST_ROLE.to_owned(),
        };
        let worst = shown.answer(&home).await?.worst_day;
        Ok(Done {
            scaffold: scaffold.keep(),
            checks,
            worst,
        })
    }

    /// Writes settings and a role for what was found in the repository.
    async fn scaffold(&mut self) -> Result<Scaffold, CommandError> {
        let Self { app, args, .. } = *self;
        let source = Source::found(args, self.wanted, &self.hosted);
        let source = patience::bounded("the repository's git server", source).await??;
        let proposal = proposed_setup::proposed(&source.files);
        let check = match &self.agreed {
            Some(agreed) => agreed.clone(),
            None => {
                let found = proposed_check(&source.files, &proposal.setup);
                let agreed = match self.may_ask {
                    true => {
                        let has_setup = !proposal.setup.is_empty();
                        asked_check::agreed(found, self.wanted.checkout(), has_setup).await?
                    }
                    false => found,
                };
                self.agreed.insert(agreed).clone()
            }
        };
        let holds = match self.holds {
            Some(said) => said,
            None if self.may_ask => asked_setup::agreed(&proposal)?,
            None => Agreed::default(),
        };
        self.holds = Some(holds);
        let zone = args.zone.clone().unwrap_or_else(proposed::zone);
        let settings = app.layout.settings();
        let mut made = Made::begin(app)?;
        let text = written::settings(&Written {
            args,
            engine: self.engine,
            hosted: &self.hosted,
            source: &source,
            proposal: &proposal,
            holds,
            zone: &zone,
        });
        made.file(&settings, &text)?;
        let role = made.role(app, self.engine, &source, check.as_ref())?;
        Ok(Scaffold {
            made,
            source,
            proposal,
            settings,
            role,
            zone,
        })
    }
}

/// What was written of a home, and from what. It goes again with this, unless it is kept.
struct Scaffold {
    made: Made,
    source: Source,
    proposal: Proposal,
    settings: PathBuf,
    role: PathBuf,
    zone: String,
}

impl Scaffold {
    fn keep(mut self) -> Self {
        self.made.keep();
        self
    }
}

impl Done {
    fn count(&self, health: Health) -> u64 {
        self.checks
            .iter()
            .filter(|one| one.health == health)
            .count() as u64
    }

    fn json(&self, begun: &Begun<'_>) -> serde_json::Value {
        let Source {
            url, origin, base, ..
        } = &self.scaffold.source;
        let errors: Vec<_> = self.to_mend().collect();
        let check = begun.agreed.iter().flatten().next();
        json!({
            "home": begun.app.layout.root, "settings": self.scaffold.settings, "role": self.scaffold.role,
            "repository": url, "origin": origin, "base": base, "engine": begun.engine.to_string(),
            "forge": begun.hosted.forge, "slug": begun.hosted.slug, "zone": self.scaffold.zone,
            "check": check.map(|check| &check.run), "errors": errors,
            "warnings": self.count(Health::Warning), "ok": self.count(Health::Ok),
            "worst_day": {
                "firings": self.worst.firings, "hours": hours(&self.worst), "cost_usd": self.worst.cost_usd,
            },
        })
    }

    fn to_mend(&self) -> impl Iterator<Item = &Checked> {
        self.checks.iter().filter(|one| one.health == Health::Error)
    }

    fn tell(&self, begun: &Begun<'_>) {
        let carson = begun.app.called();
        print::line(&format!("home: {}", begun.app.layout.root.display()));
        print::line(&format!("settings: {}", self.scaffold.settings.display()));
        print::line(&format!("role: {}", self.scaffold.role.display()));
        self.tell_choices(begun);
        print::line(&format!(
            "doctor: {} ok, {}, {}{}",
            self.count(Health::Ok),
            counted(self.count(Health::Warning), "warning"),
            counted(self.count(Health::Error), "error"),
            match self.count(Health::Warning) {
                0 => String::new(),
                _ => format!(" (all of it: {carson} doctor)"),
            }
        ));
        for one in self.to_mend() {
            print::alarm(&format!("error: {}: {}", one.id, one.found));
            if let Some(remedy) = &one.remedy {
                print::line(&format!("  → {remedy}"));
            }
        }
        print::line("next:");
        let Scaffold {
            proposal, settings, ..
        } = &self.scaffold;
        told_setup::tell_next(proposal, begun.holds.unwrap_or_default(), settings);
        if begun.hosted.slug.is_some() {
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
    }

    /// What was found and decided.
    fn tell_choices(&self, begun: &Begun<'_>) {
        let Source {
            url, base, name, ..
        } = &self.scaffold.source;
        print::line(&format!("repository: {url}, work starts from {base}"));
        if let Some(origin) = &self.scaffold.source.origin {
            print::line(&format!(
                "  it is this checkout, because its issues and pull requests are files here: branches are pushed into \
                 it, and not to its origin {origin}; `url = \"{origin}\"` in [repos.{name}] of carson.toml takes that one"
            ));
        }
        print::line(&match (&begun.hosted.slug, &begun.not_let_in) {
            (Some(slug), _) => format!("issues: those of {slug} on {}", begun.hosted.forge),
            (None, Some(why)) => format!(
                "issues: files under the home, because its forge does not let Carson in ({why}); sign in there, and \
                 `{} init` with another home takes it",
                begun.app.called()
            ),
            (None, None) => "issues: files under the home, which you can edit".to_owned(),
        });
        print::line(&format!("agent: {}", begun.engine.facts().title));
        match begun.agreed.iter().flatten().next() {
            Some(ProposedCheck { run, by }) => print::line(&format!(
                "check: `{run}` says whether work is done ({by}); it stands in the role"
            )),
            None if begun.may_ask => print::line(
                "check: none, as you said; with [promise] in the role one is run before a pull request is opened",
            ),
            None => print::alarm(
                "check: no command that tests the repository was found; write [promise] into the role, or \
                 no check is run before a pull request is opened",
            ),
        }
        told_setup::tell(&self.scaffold.proposal, begun.holds.unwrap_or_default());
        print::line(&format!("zone: {}", self.scaffold.zone));
        let day = written::DAY_USD;
        print::line(&format!(
            "money: 5 USD a firing (the role says so), {day} USD a day (the settings)"
        ));
        print::line(&format!(
            "at worst in a day: {}, {:.0} hours of work{}",
            counted(self.worst.firings, "firing"),
            hours(&self.worst),
            self.worst
                .cost_usd
                .map_or(String::new(), |usd| format!(", {usd:.2} USD"))
        ));
    }
}

/// How long its firings take at most, together.
fn hours(worst: &WorstDay) -> f64 {
    worst.wall_clock.as_secs_f64() / 3600.0
}

/// The forge that the operator wants at a terminal; the one that was found where nobody is asked.
fn agreed_forge(found: Option<Hosted>, may_ask: bool) -> Result<Hosted, CommandError> {
    let Some(found) = found else {
        return Ok(Hosted::LOCAL);
    };
    if !may_ask {
        return Ok(found);
    }
    let slug = found.slug.as_deref().unwrap_or_default();
    print::line(&format!(
        "Take the issues of {slug} on {}? (Enter for yes; \"no\" keeps issues and pull requests as files under the home)",
        found.forge
    ));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(match answer.trim().to_lowercase().as_str() {
        "" | "y" | "yes" => found,
        _ => Hosted::LOCAL,
    })
}

/// Holds what was written against the same checks as what people write; what somebody can mend afterwards is no reason
/// to keep nothing.
async fn examined(app: &App, fleet: Fleet) -> Result<Vec<Checked>, Unfit> {
    let (home, trouble) = app.home_as_it_is(fleet).await?;
    for repo in home.fleet.repos.values() {
        match home.forge(repo).await {
            Ok(_) => {}
            Err(error @ ForgeOpenError::Token(_)) => {
                let hint = "sign in there first: on GitHub by `gh auth login`; or --token-file names a file with a token";
                return Err(Unfit::NotLetIn(CommandError::caused_by(&error).hint(hint)));
            }
            Err(error @ ForgeOpenError::Forge(_)) => {
                let hint = error.hint();
                return Err(CommandError::caused_by(&error).hint(hint).into());
            }
        }
    }
    let machine = Machine::new(Clock::system());
    let mut all = carson_checks::doctor_of_machine(&machine).await;
    let scene = Scene::examined(&home, &machine, trouble);
    all.extend(carson_checks::doctor(&scene).await);
    let is_missing = |one: &&Checked| one.id.ends_with(PROGRAM) && one.health == Health::Error;
    if let Some(Checked { found, remedy, .. }) = all.iter().find(is_missing) {
        let error = CommandError::failed(found);
        let other = "carson init --binary PATH says where it is, and --engine takes another one";
        let error = error.hint(remedy.clone().unwrap_or_default()).hint(other);
        return Err(error.into());
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
        engine: EngineKind,
        source: &Source,
        check: Option<&ProposedCheck>,
    ) -> Result<PathBuf, CommandError> {
        let file = app.layout.roles().join(FIRST_ROLE).join("role.toml");
        // A role that lies there already is the operator's own.
        if file.exists() {
            return Ok(file);
        }
        let account = engine.to_string();
        let text = RoleText {
            like: shipped_roles().first(),
            repo: &source.name,
            account: &account,
            check,
            without_tools: engine.facts().keeps_to == KeepsTo::Nothing,
            ..RoleText::default()
        };
        self.file(&file, &text.toml())?;
        Ok(file)
    }

    fn keep(&mut self) {
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
