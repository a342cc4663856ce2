//! Which accounts a role uses, or one of its stages.

use std::collections::BTreeSet;

use carson_config::{Account, Finding, Fleet, LoadOptions, Role, Wanted, write_route};
use carson_core::{AccountName, RoleName, Stage};
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Write which accounts a role uses, or one of its stages, and which model a stage asks.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// The role.
    pub role: String,
    /// Accounts, in order of preference; without them those that are there stay.
    #[serde(default)]
    pub accounts: Vec<String>,
    /// Only of this stage: `plan`, `review`, `execute` or `diff-review`.
    pub stage: Option<String>,
    /// The model that the stage asks.
    pub model: Option<String>,
    /// How hard that is told to think.
    pub effort: Option<String>,
    /// The stage has nothing of its own any more.
    #[serde(default)]
    pub reset: bool,
}

/// What was written.
#[derive(Debug, Serialize)]
pub struct RouteSet {
    /// The role.
    pub role: RoleName,
    /// The stage; all of them without it.
    pub stage: Option<Stage>,
    /// The file, in the home.
    pub file: String,
    /// Whether it is another one now.
    pub changed: bool,
    /// What was used before.
    pub before: Uses,
    /// What is used now.
    pub now: Uses,
    /// What somebody should look at in the settings as they are now.
    pub warnings: Vec<Finding>,
}

/// What a role, or a stage, uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Uses {
    /// Accounts, in order of preference; of a stage none where it has those of the role.
    pub accounts: Vec<AccountName>,
    /// The model.
    pub model: Option<String>,
    /// How hard it is told to think.
    pub effort: Option<String>,
}

impl Ask for Set {
    const NAME: &'static str = "engine set";
    const WHAT: &'static str = "Write which accounts a role, or a stage of it, uses";
    const WHO: Who = Who::Operator;
    type Answer = RouteSet;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let role = names::role(&home.fleet, &self.role)?;
        let stage = self.stage.as_deref().map(stage).transpose()?;
        let wanted = self.wanted(&home.fleet, role, stage)?;
        let options = LoadOptions {
            home: home.fleet.layout.root.clone(),
            files: None,
            env: home.environ.clone(),
            user_home: home.user_home.clone(),
            machine: home.fleet.host.to_string(),
        };
        let done = write_route(&options, &role.name, stage, &wanted)?;
        let fleet = &done.loaded.fleet;
        let now = fleet
            .roles
            .get(&role.name)
            .map(|role| Uses::of(role, stage));
        Ok(RouteSet {
            role: role.name.clone(),
            stage,
            file: fleet.layout.shown(&done.file),
            changed: done.changed,
            before: Uses::of(role, stage),
            now: now.unwrap_or_default(),
            warnings: done.loaded.warnings,
        })
    }
}

impl Set {
    /// What the file shall say.
    fn wanted(&self, fleet: &Fleet, role: &Role, stage: Option<Stage>) -> Result<Wanted, Refusal> {
        let says_more = !self.accounts.is_empty() || self.model.is_some() || self.effort.is_some();
        let refused = |field, problem: &str| {
            let problem = problem.to_owned();
            Err(Refusal::Field { field, problem })
        };
        match (self.reset, stage) {
            (true, _) if says_more => {
                return refused(
                    "reset",
                    "a stage without anything of its own has no accounts, model or effort",
                );
            }
            (true, None) => return refused("reset", "say of which stage, with --stage"),
            (true, Some(_)) => return Ok(Wanted::Usual),
            (false, _) if !says_more => {
                return Err(Refusal::NothingToChange("which accounts, model or effort"));
            }
            (false, None) if self.model.is_some() => {
                return refused(
                    "model",
                    "it is that of a stage: say which with --stage, or set the account's model in carson.toml",
                );
            }
            (false, None) if self.effort.is_some() => {
                return refused("effort", "it is that of a stage: say which with --stage");
            }
            (false, _) => {}
        }
        for name in &self.accounts {
            names::account(fleet, name)?;
        }
        // One model is of one vendor: it does not go over to another.
        let before = Uses::of(role, stage);
        let named = self.accounts.iter().map(String::as_str);
        let had = before.or_of(role).iter().map(AccountName::as_str);
        let goes_on = self.accounts.is_empty() || vendors(fleet, named) == vendors(fleet, had);
        let kept = |said: &Option<String>, before: Option<String>| {
            said.clone().or(before.filter(|_| goes_on))
        };
        Ok(Wanted::Route {
            engines: self.accounts.clone(),
            model: kept(&self.model, before.model.clone()),
            effort: kept(&self.effort, before.effort.clone()),
        })
    }
}

impl Uses {
    fn of(role: &Role, stage: Option<Stage>) -> Self {
        let Some(stage) = stage else {
            return Self {
                accounts: role.engines.clone(),
                ..Self::default()
            };
        };
        role.routes
            .get(&stage)
            .map_or_else(Self::default, |route| Self {
                accounts: route.engines.clone(),
                model: route.model.clone(),
                effort: route.effort.clone(),
            })
    }

    /// Its accounts, else those of the role.
    fn or_of<'u>(&'u self, role: &'u Role) -> &'u [AccountName] {
        match self.accounts.as_slice() {
            [] => &role.engines,
            own => own,
        }
    }
}

fn vendors<'f, 'n>(fleet: &'f Fleet, all: impl Iterator<Item = &'n str>) -> BTreeSet<&'f str> {
    let known = all.filter_map(|name| names::account(fleet, name).ok());
    known.map(Account::vendor).collect()
}

/// A stage with sessions that may have accounts of its own.
fn stage(name: &str) -> Result<Stage, Refusal> {
    let known = Stage::ROUTED
        .into_iter()
        .find(|stage| stage.as_str() == name);
    known.ok_or_else(|| Refusal::Unknown {
        what: "stage with accounts of its own",
        name: name.to_owned(),
        known: Stage::ROUTED.iter().map(ToString::to_string).collect(),
    })
}
