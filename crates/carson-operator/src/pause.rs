//! Pauses of the fleet, a role, a repository or an account.

use carson_config::Fleet;
use carson_core::RoleName;
use carson_home::Home;
use carson_store::PauseScope;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::told;
use crate::verb::{Ask, Who};

/// Why something is paused, where nobody says.
pub const REASON: &str = "paused by the operator";

/// Characters of a reason at most: it stands on every screen.
const REASON_MAX: usize = 300;

/// Pause something: the whole fleet, or the one thing that is named.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// One role.
    pub role: Option<String>,
    /// One repository.
    pub repo: Option<String>,
    /// One account.
    pub account: Option<String>,
    /// Why.
    #[serde(default = "reason")]
    pub reason: String,
    /// For how long (2h); until it is resumed without it.
    pub r#for: Option<String>,
}

fn reason() -> String {
    REASON.to_owned()
}

/// Something is paused; firings that run go on.
#[derive(Debug, Serialize)]
pub struct Paused {
    /// What: `fleet`, `role NAME`, …
    pub scope: String,
    /// It is.
    pub paused: bool,
    /// Until when; `None` until it is resumed.
    pub until: Option<DateTime<Utc>>,
    /// The pause that stood before, in whose place this one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<Before>,
}

/// A pause that another one took the place of.
#[derive(Debug, Serialize)]
pub struct Before {
    /// Until when it would have been; `None` until it is resumed.
    pub until: Option<DateTime<Utc>>,
    /// Why.
    pub reason: String,
}

impl Before {
    /// In one sentence.
    #[must_use]
    pub fn told(&self) -> String {
        let until = match self.until {
            Some(until) => carson_core::text::instant(until),
            None => "it is resumed".to_owned(),
        };
        format!(
            "That takes the place of a pause until {until}: {}",
            self.reason
        )
    }
}

impl Ask for Pause {
    const NAME: &'static str = "pause";
    const WHAT: &'static str = "Pause the fleet, a role, a repository or an account";
    const WHO: Who = Who::Operator;
    type Answer = Paused;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let scope = scope(&home.fleet, &[self.role, self.repo, self.account])?;
        let long = self.reason.chars().count();
        if long > REASON_MAX {
            return Err(Refusal::Field {
                field: "reason",
                problem: format!("it has {long} characters, and {REASON_MAX} are the most"),
            });
        }
        let now = home.clock.now();
        let instead_of = standing(home, &scope).await?;
        let until = names::span(self.r#for.as_deref())?.map(|span| now + span);
        let store = &home.store;
        store
            .set_pause(&scope, &self.reason, until, "operator", now)
            .await?;
        let ends = told::until(until, &format!("carson resume{}", flag(&scope)));
        let mut text = format!("{}\n{ends} What runs goes on to its end.", self.reason);
        if let Some(before) = &instead_of {
            text = format!("{text}\n{}", before.told());
        }
        told::tell(home, role_of(&scope), &format!("Paused: {scope}"), &text).await;
        Ok(Paused {
            scope: scope.to_string(),
            paused: true,
            until,
            instead_of,
        })
    }
}

/// The pause of a scope that stands now.
async fn standing(home: &Home, scope: &PauseScope) -> Result<Option<Before>, Refusal> {
    let now = home.clock.now();
    let mut rows = home.store.pauses().await?.into_iter();
    let row = rows.find(|row| row.scope == *scope && row.until.is_none_or(|until| now < until));
    Ok(row.map(|row| Before {
        until: row.until,
        reason: row.reason,
    }))
}

/// End a pause: that of the whole fleet, or of the one thing that is named.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resume {
    /// One role.
    pub role: Option<String>,
    /// One repository.
    pub repo: Option<String>,
    /// One account.
    pub account: Option<String>,
}

/// Something goes on.
#[derive(Debug, Serialize)]
pub struct Resumed {
    /// What: `fleet`, `role NAME`, …
    pub scope: String,
    /// It is not.
    pub paused: bool,
    /// Whether it was.
    pub resumed: bool,
}

impl Ask for Resume {
    const NAME: &'static str = "resume";
    const WHAT: &'static str = "End a pause";
    const WHO: Who = Who::Operator;
    type Answer = Resumed;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let scope = scope(&home.fleet, &[self.role, self.repo, self.account])?;
        let resumed = home.store.resume(&scope).await?;
        if resumed {
            let title = format!("Goes on: {scope}");
            told::tell(home, role_of(&scope), &title, "The pause was ended.").await;
        }
        Ok(Resumed {
            scope: scope.to_string(),
            paused: false,
            resumed,
        })
    }
}

fn role_of(scope: &PauseScope) -> Option<&RoleName> {
    match scope {
        PauseScope::Role(role) => Some(role),
        _ => None,
    }
}

/// How the command names it.
fn flag(scope: &PauseScope) -> String {
    match scope {
        PauseScope::Fleet => String::new(),
        PauseScope::Role(role) => format!(" --role {role}"),
        PauseScope::Repo(repo) => format!(" --repo {repo}"),
        PauseScope::Account(account) => format!(" --account {account}"),
    }
}

/// What is named: a role, a repository, an account, or nothing.
fn scope(fleet: &Fleet, named: &[Option<String>; 3]) -> Result<PauseScope, Refusal> {
    match named {
        [None, None, None] => Ok(PauseScope::Fleet),
        [Some(role), None, None] => {
            let role = names::role(fleet, role)?;
            Ok(PauseScope::Role(role.name.clone()))
        }
        [None, Some(repo), None] => {
            let repo = names::repo(fleet, repo)?;
            Ok(PauseScope::Repo(repo.name.clone()))
        }
        [None, None, Some(account)] => {
            let account = names::account(fleet, account)?;
            Ok(PauseScope::Account(account.name.clone()))
        }
        _ => Err(Refusal::Field {
            field: "role",
            problem: "a pause is of one thing: name a role, a repository or an account".to_owned(),
        }),
    }
}
