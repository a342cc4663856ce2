//! What admission looks at, read in one go.

use std::collections::{BTreeMap, BTreeSet};

use carson_core::admission::{Gate, LastFiring, Pause, Spent};
use carson_core::breaker::Breaker;
use carson_core::{HostName, Outcome, RepoName, RoleName};
use chrono::{DateTime, Utc};
use sqlx::query_as;

use crate::away::patiently;
use crate::db::{Db, Store, on};
use crate::error::StoreError;
use crate::firing::small;
use crate::pauses::{PauseRow, PauseScope};
use crate::usage::spent;

/// Whose admission is asked for.
#[derive(Clone, Copy, Debug)]
pub struct GateQuery<'a> {
    /// The role.
    pub role: &'a RoleName,
    /// Its repositories.
    pub repos: &'a [RepoName],
    /// The ends of the role's day.
    pub day: (DateTime<Utc>, DateTime<Utc>),
}

/// Firings by role between two instants that took work, or still may, and what they cost: a look that
/// found nothing uses up nobody's day. Work that is taken has a title. Each database has its own way to
/// take a list of roles.
macro_rules! fired {
    ($pool:expr, $roles:literal, $list:expr, $day:expr) => {
        query_as(concat!(
            "SELECT role, COUNT(CASE WHEN outcome IN ($4, $5, $6) THEN NULL \
             WHEN ended_at IS NOT NULL AND title IS NULL THEN NULL ELSE 1 END), \
             SUM(cost_usd), MAX(cost_estimated) FROM firing WHERE role IN (",
            $roles,
            ") AND claimed_at >= $2 AND claimed_at < $3 GROUP BY role"
        ))
        .bind($list)
        .bind($day.0)
        .bind($day.1)
        .bind(Outcome::Skipped.as_str())
        .bind(Outcome::RateLimited.as_str())
        .bind(Outcome::Auth.as_str())
        .fetch_all($pool)
        .await?
    };
}

impl Store {
    /// Reads pauses, blocks, breakers and counts for many roles with a fixed number of queries (one
    /// more for each further zone); the answers are in the order of the questions. The caller fills
    /// in what the settings say.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn gates(
        &self,
        host: &HostName,
        queries: &[GateQuery<'_>],
    ) -> Result<Vec<Gate>, StoreError> {
        // Two at one time: each answer is a wait for another thread or machine, and sessions wait for all of them; more
        // would each be another connection.
        let stops = async {
            let (pauses, blocks) = (self.pauses().await?, self.blocks().await?);
            let (windows, breakers) = (self.windows().await?, self.breakers().await?);
            Ok::<_, StoreError>((pauses, blocks, windows, breakers))
        };
        let firings = async {
            let (live, drained) = (self.live().await?, self.drained(host).await?);
            Ok((live, drained, self.fired_today(queries).await?))
        };
        let (stops, firings) = tokio::try_join!(stops, firings)?;
        let ((pauses, blocks, windows, breakers), (live, drained, fired)) = (stops, firings);
        // By name: many roles that are due together must not each look through all of these.
        let breakers = breakers.into_iter();
        let breakers: BTreeMap<RoleName, Breaker> =
            breakers.map(|row| (row.role, row.breaker)).collect();
        let here = live.iter().filter(|(_, on)| on == host.as_str()).count();
        let running: BTreeSet<&str> = live.iter().map(|(role, _)| role.as_str()).collect();
        let of_day = |query: &GateQuery<'_>| {
            let of_role = fired.get(query.role.as_str());
            of_role.copied().unwrap_or_default()
        };
        let gate = |query: &GateQuery<'_>| Gate {
            pause: pause_of(&pauses, query),
            blocks: blocks.clone(),
            breaker: breakers.get(query.role).cloned().unwrap_or_default(),
            windows: windows.clone(),
            fired_today: of_day(query).0,
            spent_today: of_day(query).1,
            last: match running.contains(query.role.as_str()) {
                true => LastFiring::Runs,
                false => LastFiring::Ended,
            },
            drained: drained.clone(),
            running_here: u32::try_from(here).unwrap_or(u32::MAX),
            ..Gate::of(query.role.clone())
        };
        Ok(queries.iter().map(gate).collect())
    }

    /// The repositories that are paused at `now`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn paused_repos(
        &self,
        now: DateTime<Utc>,
    ) -> Result<BTreeMap<RepoName, Pause>, StoreError> {
        let pauses = self.pauses().await?.into_iter();
        let of_repo = |row: PauseRow| match &row.scope {
            PauseScope::Repo(repo) => Some((repo.clone(), pause(&row))),
            _ => None,
        };
        let mut paused: BTreeMap<_, _> = pauses.filter_map(of_repo).collect();
        paused.retain(|_, pause| pause.stands(now));
        Ok(paused)
    }

    /// The roles of firings that have not ended, and the host that runs each; the host has no name where another one
    /// carries the firing.
    async fn live(&self) -> Result<Vec<(String, String)>, StoreError> {
        Ok(on!(self, |pool| query_as(
            "SELECT role, CASE WHEN COALESCE(carrier, host) = host THEN host ELSE '' END \
             FROM firing WHERE ended_at IS NULL"
        )
        .fetch_all(pool)
        .await?))
    }

    /// The host's name, if it is drained.
    async fn drained(&self, host: &HostName) -> Result<Option<String>, StoreError> {
        let drained: Option<(String,)> = on!(self, |pool| query_as(
            "SELECT name FROM host WHERE name = $1 AND drained_at IS NOT NULL"
        )
        .bind(host.as_str())
        .fetch_optional(pool)
        .await?);
        Ok(drained.map(|(name,)| name))
    }

    async fn fired_today(
        &self,
        queries: &[GateQuery<'_>],
    ) -> Result<BTreeMap<String, (u32, Spent)>, StoreError> {
        let mut roles_by_day: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for query in queries {
            let roles = roles_by_day.entry(query.day).or_default();
            roles.push(query.role.as_str());
        }
        let mut fired = BTreeMap::new();
        for (day, roles) in roles_by_day {
            let roles = serde_json::json!(roles).to_string();
            let rows: Vec<(String, i64, Option<f64>, Option<i64>)> = match &self.db {
                Db::Sqlite(pool) => fired!(pool, "SELECT value FROM json_each($1)", roles, day),
                Db::Postgres(pool) => {
                    patiently!(
                        self,
                        fired!(
                            pool,
                            "SELECT json_array_elements_text($1::json)",
                            &roles,
                            day
                        )
                    )
                }
            };
            let rows = rows.into_iter();
            fired.extend(rows.map(|(role, count, usd, estimated)| {
                (role, (small(count), spent(usd, estimated)))
            }));
        }
        Ok(fired)
    }
}

/// The pause that stops a role for the longest time. That of a repository stops a role when all its
/// repositories have one, until the first of these is over.
fn pause_of(pauses: &[PauseRow], query: &GateQuery<'_>) -> Option<Pause> {
    let longest = |stops: &dyn Fn(&PauseScope) -> bool| {
        // One that has run out must not hide one that stands.
        let stopping = pauses.iter().filter(|row| stops(&row.scope));
        stopping.max_by_key(|row| end(row))
    };
    let of_role = longest(&|scope| match scope {
        PauseScope::Fleet => true,
        PauseScope::Role(role) => role == query.role,
        PauseScope::Repo(_) | PauseScope::Account(_) => false,
    });
    let of_repo =
        |repo| longest(&|scope| matches!(scope, PauseScope::Repo(paused) if paused == repo));
    let of_repos: Option<Vec<&PauseRow>> = query.repos.iter().map(of_repo).collect();
    let first = of_repos.and_then(|rows| rows.into_iter().min_by_key(|row| end(row)));
    of_role
        .into_iter()
        .chain(first)
        .max_by_key(|row| end(row))
        .map(pause)
}

fn end(row: &PauseRow) -> (bool, Option<DateTime<Utc>>) {
    (row.until.is_none(), row.until)
}

fn pause(row: &PauseRow) -> Pause {
    Pause {
        what: row.scope.to_string(),
        reason: row.reason.clone(),
        until: row.until,
    }
}
