//! `carson agent`

use carson_core::RoleName;
use clap::{Args as ClapArgs, Subcommand};

use super::roles;

/// `carson agent`
#[derive(Debug, Subcommand)]
pub enum Agent {
    /// Add a role to the home that is there: one that comes with Carson, or one of your own.
    ///
    /// A name that comes with Carson is that role. Any other one is like one of them (`--like`), has a task of
    /// its own for an agent (`--task`), or runs a command (`--run`); at a terminal it is asked for. Its file is
    /// yours to edit; docs/ROLES.md says what each is for.
    New(New),
}

/// `carson agent new`
#[derive(Debug, ClapArgs)]
pub struct New {
    /// Its name: small letters, digits and `-`.
    pub name: RoleName,
    /// The role that comes with Carson that it is like.
    #[arg(long, value_name = "ROLE", value_parser = roles(), conflicts_with = "task")]
    pub like: Option<String>,
    /// What it is to do at every slot; what it commits becomes a pull request.
    #[arg(long, value_name = "TEXT", conflicts_with = "run")]
    pub task: Option<String>,
    /// What it runs at every slot, without an agent: a line for `sh`. Where that does not exit 0, one issue says
    /// so until it does. Of a tester: what prints its lcov report.
    #[arg(long, value_name = "COMMAND")]
    pub run: Option<String>,
    /// What people call it [default: its name].
    #[arg(long)]
    pub title: Option<String>,
    /// Its repository, by its name in the settings [default: the only one].
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// The account that it works with, by its name in the settings [default: the first one].
    #[arg(long, value_name = "ACCOUNT")]
    pub engine: Option<String>,
    /// When it fires: a cron line; several may be given [default: what is usual for it].
    #[arg(long, value_name = "CRON")]
    pub cadence: Vec<String>,
    /// Ask nothing.
    #[arg(long)]
    pub yes: bool,
}
