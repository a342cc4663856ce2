//! Backups of the database.

use std::path::PathBuf;

use carson_config::Fleet;
use carson_home::Home;
use carson_store::backup;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Which backups are there, the oldest first? Nothing is opened: the database may be damaged.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {}

impl Ask for List {
    const NAME: &'static str = "backup list";
    const WHAT: &'static str = "List the backups of the database, oldest first";
    const WHO: Who = Who::Operator;
    type Answer = Vec<PathBuf>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        Ok(backup::beside(&file(&home.fleet)?))
    }
}

/// Make a backup now.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Make {}

/// A backup is made.
#[derive(Debug, Serialize)]
pub struct Made {
    /// Its file, below the home.
    pub backup: Option<String>,
}

impl Ask for Make {
    const NAME: &'static str = "backup make";
    const WHAT: &'static str = "Make a backup of the database now; the daemon makes one a day";
    const WHO: Who = Who::Operator;
    type Answer = Made;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        file(&home.fleet)?;
        let made = home.store.back_up(home.clock.now()).await?;
        let backup = made.map(|path| home.fleet.layout.shown(&path));
        Ok(Made { backup })
    }
}

/// The file of the database.
///
/// # Errors
/// When it is a server.
pub fn file(fleet: &Fleet) -> Result<PathBuf, Refusal> {
    let path = fleet.database.strip_prefix("sqlite:");
    path.map(PathBuf::from).ok_or(Refusal::NoFile)
}
