//! What sessions used, by the account that they had.

use carson_core::{AccountName, RoleName};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::query_as;

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::{large, parsed, small};
use crate::row::row;

/// What sessions with one account used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Used {
    /// The account.
    pub account: AccountName,
    /// Sessions.
    pub sessions: u32,
    /// Turns.
    pub turns: u32,
    /// Tokens in and out.
    pub tokens: u64,
    /// Money, as far as it is known.
    pub cost_usd: Option<f64>,
    /// Whether part of it was priced from tokens.
    pub cost_estimated: bool,
    /// Sessions whose cost nobody told.
    pub untold: u32,
}

impl Used {
    /// Nothing yet.
    #[must_use]
    pub fn with(account: AccountName) -> Self {
        Self {
            account,
            sessions: 0,
            turns: 0,
            tokens: 0,
            cost_usd: None,
            cost_estimated: false,
            untold: 0,
        }
    }
}

/// What the firings of one role used of one account.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UsedBy {
    /// The role.
    pub role: RoleName,
    /// Firings with a session of that account.
    pub firings: u32,
    /// What these used.
    #[serde(flatten)]
    pub used: Used,
}

row! {
    struct UsedRaw {
        role: String,
        account: String,
        firings: i64,
        sessions: i64,
        turns: i64,
        tokens: i64,
        cost_usd: Option<f64>,
        cost_estimated: i64,
        untold: i64,
    }
}

impl Store {
    /// What the sessions of all firings used that were claimed between two instants, by role and account. Of a
    /// firing that an older Carson ran all counts for the account that its row names.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn used(
        &self,
        span: (DateTime<Utc>, DateTime<Utc>),
    ) -> Result<Vec<UsedBy>, StoreError> {
        let rows: Vec<UsedRaw> = on!(self, |pool| {
            query_as(
            "SELECT role, account, COUNT(*) AS firings, CAST(SUM(sessions) AS BIGINT) AS sessions, \
             CAST(SUM(turns) AS BIGINT) AS turns, CAST(SUM(tokens) AS BIGINT) AS tokens, \
             SUM(cost_usd) AS cost_usd, MAX(cost_estimated) AS cost_estimated, \
             CAST(SUM(untold) AS BIGINT) AS untold FROM ( \
             SELECT firing.role, used.account, used.sessions, used.turns, used.tokens, used.cost_usd, \
             used.cost_estimated, used.untold FROM firing JOIN used ON used.firing = firing.id \
             WHERE firing.sessions > 0 AND firing.claimed_at >= $1 AND firing.claimed_at < $2 \
             UNION ALL SELECT role, account, sessions, turns, tokens_in + tokens_out, cost_usd, \
             cost_estimated, CASE WHEN cost_usd IS NULL THEN sessions ELSE 0 END FROM firing \
             WHERE sessions > 0 AND claimed_at >= $1 AND claimed_at < $2 AND account IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM used WHERE used.firing = firing.id) \
             ) AS each_one GROUP BY role, account ORDER BY role, account"
        )
        .bind(span.0)
        .bind(span.1)
        .fetch_all(pool)
        .await?
        });
        let used_by = |raw: UsedRaw| {
            Ok(UsedBy {
                role: parsed("role", &raw.role)?,
                firings: small(raw.firings),
                used: Used {
                    account: parsed("account", &raw.account)?,
                    sessions: small(raw.sessions),
                    turns: small(raw.turns),
                    tokens: large(raw.tokens),
                    cost_usd: raw.cost_usd,
                    cost_estimated: raw.cost_estimated != 0,
                    untold: small(raw.untold),
                },
            })
        };
        rows.into_iter().map(used_by).collect()
    }
}
