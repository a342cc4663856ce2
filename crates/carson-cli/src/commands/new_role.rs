//! A new role, for a home that is there already: `carson agent new`, and `carson init --role`.

use std::path::PathBuf;

use carson_config::{Repo, RoleKind, ShippedRole};
use carson_core::{AccountName, KeepsTo, RoleName};
use carson_operator::names;
use serde_json::json;

use super::home_files::{not_writable, write};
use super::proposal_files::files_of;
use super::proposed_check::proposed_check;
use super::proposed_setup::proposed;
use super::role_text::RoleText;
use crate::app::App;
use crate::error::CommandError;
use crate::print;

/// What it is to be; what is not said is proposed.
#[derive(Debug)]
pub struct NewRole {
    /// Its name.
    pub name: RoleName,
    /// The shipped role that it is like; else it has a task of its own.
    pub like: Option<&'static ShippedRole>,
    /// What people call it.
    pub title: Option<String>,
    /// Its repository in the settings; the only one without it.
    pub repo: Option<String>,
    /// Its account in the settings; the first one without it.
    pub account: Option<String>,
    /// When it fires.
    pub cadence: Vec<String>,
    /// What it is to do.
    pub task: Option<String>,
    /// What it runs.
    pub run: Option<String>,
}

/// A role that was made.
#[derive(Debug)]
pub struct Made {
    file: PathBuf,
    repo: Repo,
    account: Option<AccountName>,
}

impl NewRole {
    /// One that comes with Carson, as it is.
    pub fn shipped(role: &'static ShippedRole) -> Result<Self, CommandError> {
        let name = role
            .name
            .parse()
            .map_err(|error| CommandError::caused_by(&error))?;
        Ok(Self {
            name,
            like: Some(role),
            title: None,
            repo: None,
            account: None,
            cadence: Vec::new(),
            task: None,
            run: None,
        })
    }

    fn kind(&self) -> RoleKind {
        self.like.map_or(RoleKind::Routine, |role| role.kind)
    }

    /// Makes it, and says so.
    pub async fn add(&self, app: &App) -> Result<u8, CommandError> {
        let Made {
            file,
            repo,
            account,
        } = self.write(app).await?;
        let (name, kind) = (&self.name, self.kind());
        let mut told = format!("role: {}", file.display());
        if kind != RoleKind::Steward {
            told.push_str(&format!(" works in {}", repo.name));
        }
        if let Some(account) = &account {
            told.push_str(&format!(" with the account {account}"));
        }
        if kind == RoleKind::Merger && !repo.merge {
            told.push_str(&format!(
                "; it merges nothing before carson.toml has `policy = {{ merge = true }}` in [repos.{}]",
                repo.name
            ));
        }
        let carson = app.called();
        told.push_str(&format!(
            "\nnext:\n  {carson} fire {name} --dry-run\n  {carson} roles show {name}"
        ));
        let made = json!({
            "role": file, "kind": kind.as_str(), "repository": repo.name, "account": account,
        });
        print::done(app.json, &told, &made);
        Ok(0)
    }

    /// Writes its file. What the settings would not have is not kept: it would keep every other role from
    /// firing.
    pub async fn write(&self, app: &App) -> Result<Made, CommandError> {
        if !app.layout.settings().exists() {
            let missing = format!("{} is not there", app.layout.settings().display());
            let hint = "`carson init` makes it, with a first role";
            return Err(CommandError::failed(missing).hint(hint));
        }
        let (name, kind) = (&self.name, self.kind());
        let file = app.layout.roles().join(name.as_str()).join("role.toml");
        if file.exists() {
            let exists = CommandError::failed(format!("{} exists already", file.display()));
            return Err(exists.hint("edit it; `carson config check` finds mistakes"));
        }
        let runs_nothing = self.run.as_deref().is_none_or(|run| run.trim().is_empty());
        if kind.needs_a_command() && runs_nothing {
            let missing = CommandError::usage(format!("what does {name} run?"));
            let hint = format!("carson agent new {name} --run \"COMMAND\"");
            return Err(missing.hint(hint));
        }
        let fleet = app.load()?.fleet;
        let anywhere = fleet
            .repos
            .keys()
            .next()
            .filter(|_| kind == RoleKind::Steward);
        let wanted = self
            .repo
            .as_deref()
            .or(anywhere.map(carson_core::RepoName::as_str));
        let repo = names::repo_or_only(&fleet, wanted)?;
        let account = match &self.account {
            Some(name) => Some(names::account(&fleet, name)?.name.clone()),
            None => fleet.accounts.keys().next().cloned(),
        };
        let account = account.filter(|_| kind.has_sessions());
        if kind.has_sessions() && account.is_none() {
            let none = "carson.toml has no account that the role could work with";
            let hint = "[accounts.claude] with engine = \"claude\"";
            return Err(CommandError::usage(none).hint(hint));
        }
        let files = files_of(&repo.url, &repo.base).await;
        let setup = match repo.setup.lines.is_empty() {
            true => proposed(&files).setup,
            false => repo.setup.lines.clone(),
        };
        let check = proposed_check(&files, &setup);
        let text = RoleText {
            like: self.like,
            title: self.title.as_deref(),
            repo: repo.name.as_str(),
            account: account.as_ref().map_or("", |account| account.as_str()),
            cadence: &self.cadence,
            task: self.task.as_deref(),
            run: self.run.as_deref(),
            check: check.as_ref(),
            without_tools: account
                .as_ref()
                .and_then(|account| fleet.accounts.get(account))
                .is_some_and(|account| account.engine.facts().keeps_to == KeepsTo::Nothing),
        };
        write(&file, &text.toml()).map_err(not_writable)?;
        if let Err(error) = app.load() {
            let _ = std::fs::remove_file(&file);
            let _ = file.parent().map(std::fs::remove_dir);
            return Err(error.hint("nothing was kept"));
        }
        Ok(Made {
            file,
            repo: repo.clone(),
            account,
        })
    }
}
