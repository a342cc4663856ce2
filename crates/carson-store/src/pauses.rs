//! What operators paused.

use std::fmt;
use std::str::FromStr;

use carson_core::{AccountName, RepoName, RoleName};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::query;

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::parsed;
use crate::row::row;

/// What an operator can pause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum PauseScope {
    /// Everything.
    Fleet,
    /// One role.
    Role(RoleName),
    /// One repository.
    Repo(RepoName),
    /// One account.
    Account(AccountName),
}

impl fmt::Display for PauseScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fleet => f.pad("fleet"),
            Self::Role(name) => f.pad(&format!("role {name}")),
            Self::Repo(name) => f.pad(&format!("repo {name}")),
            Self::Account(name) => f.pad(&format!("account {name}")),
        }
    }
}

impl From<PauseScope> for String {
    fn from(scope: PauseScope) -> Self {
        scope.to_string()
    }
}

impl FromStr for PauseScope {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is not fleet, role NAME, repo NAME or account NAME");
        match text.split_once(' ') {
            None if text == "fleet" => Ok(Self::Fleet),
            Some(("role", name)) => name.parse().map(Self::Role).map_err(|_| bad()),
            Some(("repo", name)) => name.parse().map(Self::Repo).map_err(|_| bad()),
            Some(("account", name)) => name.parse().map(Self::Account).map_err(|_| bad()),
            _ => Err(bad()),
        }
    }
}

/// A pause.
#[derive(Clone, Debug, Serialize)]
pub struct PauseRow {
    /// What.
    pub scope: PauseScope,
    /// Why.
    pub reason: String,
    /// Until when; `None` until it is resumed.
    pub until: Option<DateTime<Utc>>,
    /// Who.
    pub set_by: String,
    /// When.
    pub set_at: DateTime<Utc>,
}

row! {
    struct PauseRaw {
        scope: String,
        reason: String,
        until: Option<DateTime<Utc>>,
        set_by: String,
        set_at: DateTime<Utc>,
    }
}

impl Store {
    /// Pauses a scope, or changes its pause.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_pause(
        &self,
        scope: &PauseScope,
        reason: &str,
        until: Option<DateTime<Utc>>,
        set_by: &str,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "INSERT INTO pause (scope, reason, until, set_by, set_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (scope) DO UPDATE SET reason = excluded.reason, until = excluded.until, \
             set_by = excluded.set_by, set_at = excluded.set_at"
        )
        .bind(scope.to_string())
        .bind(self.outside(reason).as_ref())
        .bind(until)
        .bind(set_by)
        .bind(at)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// Ends a pause; `false` when there was none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn resume(&self, scope: &PauseScope) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| query("DELETE FROM pause WHERE scope = $1")
            .bind(scope.to_string())
            .execute(pool)
            .await?
            .rows_affected());
        Ok(rows == 1)
    }

    /// Every pause, expired or not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn pauses(&self) -> Result<Vec<PauseRow>, StoreError> {
        let rows: Vec<PauseRaw> = on!(self, |pool| sqlx::query_as(
            "SELECT scope, reason, until, set_by, set_at FROM pause ORDER BY scope"
        )
        .fetch_all(pool)
        .await?);
        rows.into_iter()
            .map(|raw| {
                Ok(PauseRow {
                    scope: parsed("scope", &raw.scope)?,
                    reason: raw.reason,
                    until: raw.until,
                    set_by: raw.set_by,
                    set_at: raw.set_at,
                })
            })
            .collect()
    }
}
