//! What checks of a home look at.

use std::ffi::OsString;

use carson_config::{Account, Repo, Role};
use carson_core::FiringId;
use carson_core::work::WorkKey;
use carson_engine::Engine;
use carson_forge::Forge;

use crate::Machine;
use carson_bench::bench::Bench;
use carson_bench::environment::Wanted;
use carson_bench::proxy;
use carson_bench::toolchains::Found;
use carson_home::Home;
use carson_home::engines;
use carson_home::lent_dirs;

/// Something that kept a part of the home from being opened.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// What happened.
    pub found: String,
    /// What would mend it.
    pub remedy: String,
}

/// A home, and how its checks are asked.
pub struct Scene<'h> {
    pub(crate) home: &'h Home,
    pub(crate) machine: &'h Machine,
    /// Why its database could not be opened.
    pub(crate) database: Option<Trouble>,
    /// Whose preflight this is.
    pub(crate) firing: Option<Asking<'h>>,
}

/// A firing that asks.
pub(crate) struct Asking<'h> {
    pub id: FiringId,
    pub role: &'h Role,
    /// The forge that it found its work at.
    pub forge: Option<&'h Forge>,
}

impl<'h> Scene<'h> {
    /// For `carson doctor`: nothing that was measured before is believed.
    #[must_use]
    pub fn examined(home: &'h Home, machine: &'h Machine, database: Option<Trouble>) -> Self {
        Self {
            home,
            machine,
            database,
            firing: None,
        }
    }

    /// The account's CLI, when it is installed.
    pub(crate) fn engine(&self, account: &Account) -> Option<Engine> {
        engines::engine_of(self.home, account)
    }

    /// The environment that a session of the account would have, but for what is not known yet.
    pub(crate) fn environment(&self, account: &Account) -> Vec<(OsString, OsString)> {
        let gone;
        let roles = &self.home.fleet.roles;
        let role = match &self.firing {
            Some(firing) => firing.role,
            None => match roles
                .values()
                .find(|role| role.accounts().contains(&account.name))
            {
                Some(role) => role,
                None => {
                    let Ok(name) = "nobody".parse() else {
                        return Vec::new();
                    };
                    gone = Role::gone(name, self.home.fleet.zone);
                    &gone
                }
            },
        };
        let repo = role.repos.first();
        let repo = repo.and_then(|name| self.home.fleet.repos.get(name));
        let Some(Repo {
            name, protected, ..
        }) = repo.or_else(|| self.home.fleet.repos.values().next())
        else {
            return Vec::new();
        };
        let id = self
            .firing
            .as_ref()
            .map_or_else(FiringId::new, |firing| firing.id);
        let mut environment = Bench::of(self.home, id).environment(&Wanted {
            home: self.home,
            id,
            role,
            account,
            repo: name,
            protected,
            work: WorkKey::None,
            branch: "",
            attempt: 0,
            egress: proxy::foreseen(self.home, role, account),
            toolchains: &Found::default(),
        });
        // There is no session to copy it for: what is looked at is the operator's.
        for (lent, dir) in lent_dirs::operators(account, role) {
            environment.push((lent.variable.into(), dir.into()));
        }
        // It is for what runs outside of the walls.
        for (_, value) in environment.iter_mut().filter(|(name, _)| name == "PATH") {
            *value = carson_proc::own_path(value);
        }
        environment
    }
}
