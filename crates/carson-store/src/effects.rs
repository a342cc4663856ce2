//! What ended firings do to the forge, until it is done.

use carson_core::effect::LabelChange;
use carson_core::settle::Settled;
use carson_core::{Effect, FiringId, HostName, RepoName, RoleName};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{query, query_as};
use uuid::Uuid;

use crate::as_firing::{AsFiring, fenced};
use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::{
    Firing, Raw as RawFiring, json, parsed, select_firing, signed, small, to_json,
};
use crate::row::row;

/// Where an effect stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectState {
    /// It is still to be done.
    Owed,
    /// The forge has it.
    Done,
    /// The forge will not have it.
    Refused,
}

impl EffectState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Owed => "owed",
            Self::Done => "done",
            Self::Refused => "refused",
        }
    }

    fn of(text: &str) -> Self {
        match text {
            "done" => Self::Done,
            "refused" => Self::Refused,
            _ => Self::Owed,
        }
    }
}

/// One effect of a firing.
#[derive(Clone, Debug, Serialize)]
pub struct EffectRow {
    /// Its place in the list.
    pub n: u32,
    /// What it is.
    #[serde(flatten)]
    pub effect: Effect,
    /// Where it stands.
    pub state: EffectState,
    /// How often it was tried.
    pub tries: u32,
    /// What the forge said: the address of what was made, or what was in the way.
    pub said: Option<String>,
    /// When it is tried again.
    pub next_at: Option<DateTime<Utc>>,
    /// The labels that it really gave and took, where it is one that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<LabelChange>,
}

/// The first thing that an ended firing still owes the forge; what comes after waits for it.
#[derive(Clone, Debug, Serialize)]
pub struct Owed {
    /// The firing.
    pub firing: FiringId,
    /// Its role.
    pub role: RoleName,
    /// The host that tries.
    pub host: HostName,
    /// The kind of the effect.
    pub effect: &'static str,
    /// How often it was tried.
    pub tries: u32,
    /// What was in the way.
    pub said: Option<String>,
    /// When it is tried again.
    pub next_at: Option<DateTime<Utc>>,
}

/// What a firing's end was decided to be.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What settle said, as far as it could be delivered.
    pub delivered: Settled,
    /// What is to be done about it, in order.
    pub effects: Vec<EffectRow>,
}

/// What became of a try.
#[derive(Clone, Debug)]
pub struct Tried<'t> {
    /// Where the effect stands now.
    pub state: EffectState,
    /// What the forge said.
    pub said: Option<&'t str>,
    /// When it is tried again.
    pub next_at: Option<DateTime<Utc>>,
}

row! {
    struct Raw {
        n: i64,
        body: String,
        state: String,
        tries: i64,
        said: Option<String>,
        next_at: Option<DateTime<Utc>>,
        applied: Option<String>,
    }
}

impl TryFrom<Raw> for EffectRow {
    type Error = StoreError;

    fn try_from(raw: Raw) -> Result<Self, StoreError> {
        Ok(Self {
            n: small(raw.n),
            effect: read_effect(&raw.body)?,
            state: EffectState::of(&raw.state),
            tries: small(raw.tries),
            said: raw.said,
            next_at: raw.next_at,
            applied: json("applied", raw.applied.as_deref())?,
        })
    }
}

row! {
    struct RawOwed {
        id: Uuid,
        role: String,
        host: String,
        body: String,
        tries: i64,
        said: Option<String>,
        next_at: Option<DateTime<Utc>>,
    }
}

impl TryFrom<RawOwed> for Owed {
    type Error = StoreError;

    fn try_from(raw: RawOwed) -> Result<Self, StoreError> {
        Ok(Self {
            firing: raw.id.into(),
            role: parsed("role", &raw.role)?,
            host: parsed("host", &raw.host)?,
            effect: read_effect(&raw.body)?.kind(),
            tries: small(raw.tries),
            said: raw.said,
            next_at: raw.next_at,
        })
    }
}

fn read_effect(body: &str) -> Result<Effect, StoreError> {
    json("body", Some(body))?.ok_or(StoreError::Row {
        column: "body",
        value: String::new(),
    })
}

const FIRST_OWED: &str = "SELECT firing.id, firing.role, firing.host, effect.body, effect.tries, \
     effect.said, effect.next_at FROM effect JOIN firing ON firing.id = effect.firing \
     WHERE effect.state = 'owed' AND firing.ended_at IS NOT NULL AND effect.n = \
     (SELECT MIN(n) FROM effect AS first WHERE first.firing = firing.id AND first.state = 'owed') \
     ORDER BY firing.seq";

const SELECT: &str =
    "SELECT n, body, state, tries, said, next_at, applied FROM effect WHERE firing = $1 ORDER BY n";

impl Store {
    /// The effects of a firing, in order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn effects(&self, id: FiringId) -> Result<Vec<EffectRow>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| query_as(SELECT)
            .bind(id.uuid())
            .fetch_all(pool)
            .await?);
        read(rows)
    }

    /// The ended firings of a host, and those that it took over, that owe an effect whose time has come, the
    /// oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn owing(
        &self,
        host: &HostName,
        now: DateTime<Utc>,
    ) -> Result<Vec<FiringId>, StoreError> {
        let rows: Vec<(Uuid,)> = on!(self, |pool| query_as(
            "SELECT firing.id FROM effect JOIN firing ON firing.id = effect.firing \
             WHERE effect.state = 'owed' AND firing.ended_at IS NOT NULL \
             AND COALESCE(firing.carrier, firing.host) = $1 \
             GROUP BY firing.id, firing.seq \
             HAVING MAX(COALESCE(effect.next_at, firing.ended_at)) <= $2 ORDER BY firing.seq"
        )
        .bind(host.as_str())
        .bind(now)
        .fetch_all(pool)
        .await?);
        Ok(rows.into_iter().map(|(id,)| id.into()).collect())
    }

    /// How many issues firings of a role filed, or are to file, that began since then.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn filed_since(
        &self,
        role: &RoleName,
        since: DateTime<Utc>,
    ) -> Result<u32, StoreError> {
        let filed: (i64,) = on!(self, |pool| query_as(
            "SELECT COUNT(*) FROM effect JOIN firing ON firing.id = effect.firing \
             WHERE firing.role = $1 AND firing.claimed_at >= $2 AND effect.state <> 'refused' \
             AND effect.body LIKE '{\"kind\":\"file-issue\"%'"
        )
        .bind(role.as_str())
        .bind(since)
        .fetch_one(pool)
        .await?);
        Ok(small(filed.0))
    }

    /// Whether a firing still owes the forge something.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn owes(&self, id: FiringId) -> Result<bool, StoreError> {
        let owed: (i64,) = on!(self, |pool| query_as(
            "SELECT COUNT(*) FROM effect WHERE firing = $1 AND state = 'owed'"
        )
        .bind(id.uuid())
        .fetch_one(pool)
        .await?);
        Ok(owed.0 > 0)
    }

    /// The firings of a host, claimed since then, that merged a pull request; the newest first.
    ///
    /// # Errors
    /// When the database does not answer, or holds what no Carson wrote.
    pub async fn firings_that_merged(
        &self,
        host: &HostName,
        since: DateTime<Utc>,
    ) -> Result<Vec<Firing>, StoreError> {
        let rows: Vec<RawFiring> = on!(self, |pool| query_as(select_firing!(
            "FROM firing WHERE host = $1 AND claimed_at >= $2 AND ended_at IS NOT NULL \
             AND EXISTS (SELECT 1 FROM effect WHERE effect.firing = firing.id \
             AND effect.state = 'done' AND effect.body LIKE '{\"kind\":\"merge-pull\"%') \
             ORDER BY seq DESC"
        ))
        .bind(host.as_str())
        .bind(since)
        .fetch_all(pool)
        .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// What ended firings of any host still owe, the oldest first.
    ///
    /// # Errors
    /// When the database does not answer, or holds what no Carson wrote.
    pub async fn owed(&self) -> Result<Vec<Owed>, StoreError> {
        let rows: Vec<RawOwed> = on!(self, |pool| query_as(FIRST_OWED).fetch_all(pool).await?);
        rows.into_iter().map(Owed::try_from).collect()
    }

    /// The firings that still owe the forge of a repository something, the oldest first.
    ///
    /// # Errors
    /// When the database does not answer, or holds what no Carson wrote.
    pub async fn owing_in(&self, repo: &RepoName) -> Result<Vec<Firing>, StoreError> {
        let rows: Vec<RawFiring> = on!(self, |pool| query_as(select_firing!(
            "FROM firing WHERE id IN (SELECT effect.firing FROM effect \
             WHERE effect.state = 'owed') AND repo = $1 ORDER BY seq"
        ))
        .bind(repo.as_str())
        .fetch_all(pool)
        .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }
}

impl AsFiring<'_> {
    /// Writes down how a firing was delivered and what follows from it, in one transaction, before any
    /// of it is done. What was written before stands, and is the answer.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn plan_effects(
        self,
        delivered: &Settled,
        effects: &[Effect],
    ) -> Result<Planned, StoreError> {
        self.plan(delivered, effects, false).await
    }

    /// The same by who knows more than the one that wrote it down before, and died: what was written stands where any of it
    /// is done.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn plan_effects_anew(
        self,
        delivered: &Settled,
        effects: &[Effect],
    ) -> Result<Planned, StoreError> {
        self.plan(delivered, effects, true).await
    }

    async fn plan(
        self,
        delivered: &Settled,
        effects: &[Effect],
        anew: bool,
    ) -> Result<Planned, StoreError> {
        let (stands, rows) = fenced!(self, self.store, |tx| {
            let rows = query(
                "UPDATE firing SET delivered = $2 \
                 WHERE id = $1 AND ended_at IS NULL AND (delivered IS NULL OR $3 AND NOT EXISTS \
                 (SELECT 1 FROM effect WHERE firing = $1 AND state <> 'owed'))",
            )
            .bind(self.id.uuid())
            .bind(self.store.outside(&to_json(delivered)).into_owned())
            .bind(anew)
            .execute(&mut *tx)
            .await?
            .rows_affected();
            if rows == 1 {
                query("DELETE FROM effect WHERE firing = $1")
                    .bind(self.id.uuid())
                    .execute(&mut *tx)
                    .await?;
                for (n, effect) in (0_i64..).zip(effects) {
                    query("INSERT INTO effect (firing, n, body, state) VALUES ($1, $2, $3, $4)")
                        .bind(self.id.uuid())
                        .bind(n)
                        .bind(self.store.outside(&to_json(effect)).into_owned())
                        .bind(EffectState::Owed.as_str())
                        .execute(&mut *tx)
                        .await?;
                }
            }
            let stands: Option<(Option<String>,)> =
                query_as("SELECT delivered FROM firing WHERE id = $1")
                    .bind(self.id.uuid())
                    .fetch_optional(&mut *tx)
                    .await?;
            let rows: Vec<Raw> = query_as(SELECT)
                .bind(self.id.uuid())
                .fetch_all(&mut *tx)
                .await?;
            (stands, rows)
        });
        let stands = stands.and_then(|(text,)| text);
        let stands = json("delivered", stands.as_deref())?;
        Ok(Planned {
            delivered: stands.unwrap_or_else(|| delivered.clone()),
            effects: read(rows)?,
        })
    }

    /// Notes what became of an effect that was owed; `false` when somebody else had done it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_effect(self, n: u32, tried: &Tried<'_>) -> Result<bool, StoreError> {
        self.note(n, tried, None).await
    }

    /// The same of one that made the firing's pull request: that stands in the firing's row once the effect counts as
    /// done, or neither does.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_pull_effect(
        self,
        n: u32,
        tried: &Tried<'_>,
        pull: (u64, &str),
    ) -> Result<bool, StoreError> {
        self.note(n, tried, Some(pull)).await
    }

    async fn note(
        self,
        n: u32,
        tried: &Tried<'_>,
        pull: Option<(u64, &str)>,
    ) -> Result<bool, StoreError> {
        let rows = fenced!(self, self.store, |tx| {
            if let Some((number, url)) = pull {
                query("UPDATE firing SET pr_number = $2, pr_url = $3 WHERE id = $1")
                    .bind(self.id.uuid())
                    .bind(signed(number))
                    .bind(self.store.outside(url).as_ref())
                    .execute(&mut *tx)
                    .await?;
            }
            query(
                "UPDATE effect SET state = $3, said = $4, next_at = $5, tries = tries + 1 \
                 WHERE firing = $1 AND n = $2 AND state = 'owed'",
            )
            .bind(self.id.uuid())
            .bind(i64::from(n))
            .bind(tried.state.as_str())
            .bind(tried.said.map(|said| self.store.outside(said).into_owned()))
            .bind(tried.next_at)
            .execute(&mut *tx)
            .await?
            .rows_affected()
        });
        Ok(rows == 1)
    }
}

fn read(rows: Vec<Raw>) -> Result<Vec<EffectRow>, StoreError> {
    rows.into_iter().map(EffectRow::try_from).collect()
}
