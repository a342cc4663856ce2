//! Opening a PostgreSQL: brought up to date, unless it is not the one that the caller knows.
//!
//! A server makes an empty database of the same name as readily as it drops one, and migrations would fill it: the
//! fleet would begin anew without its breakers, pauses and claims, and nobody would be told. So each database has an
//! identity of its own, which a dump takes along, and whoever knows it is refused another one before anything is
//! written there.

use std::str::FromStr;
use std::time::Duration;

use carson_redact::Redactor;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool};
use sqlx::{Connection as _, PgExecutor, query_as, query_scalar};
use tokio::time::timeout;
use uuid::Uuid;

use crate::address::shown_address;
use crate::away::{self, Waits};
use crate::db::{Db, Opening, Store};
use crate::error::{StoreError, Trouble};
use crate::migrations;

/// How long a server has to say why it lets nobody in.
const WHY: Duration = Duration::from_secs(5);

pub(crate) async fn open(url: &str, opening: Opening) -> Result<Store, StoreError> {
    let mut waits = Waits::at_most(opening.away);
    let (pool, identity) = loop {
        // Bringing the schema up to date takes the time that it takes.
        match opened(url, opening.known).await {
            Err(error) if waits.again(&error).await => {}
            answered => break answered?,
        }
    };
    waits.over();
    Ok(Store {
        db: Db::Postgres(pool),
        notes: None,
        file: None,
        identity: Some(identity),
        redactor: Redactor::default(),
        patience: opening.away,
    })
}

async fn opened(url: &str, known: Option<Uuid>) -> Result<(PgPool, Uuid), StoreError> {
    let pool = connected(url).await?;
    let migrator = migrations::migrator(migrations::POSTGRES);
    if !is_up_to_date(&pool, &migrator).await {
        if known.is_some() {
            refuse_another(known, identity_if_any(&pool).await?)?;
        }
        bring_up(&pool, &migrator, url).await?;
    }
    let found = identity(&pool).await?;
    refuse_another(known, found)?;
    let found = found.ok_or(StoreError::Query(sqlx::Error::RowNotFound))?;
    Ok((pool, found))
}

pub(crate) fn refuse_another(known: Option<Uuid>, found: Option<Uuid>) -> Result<(), StoreError> {
    match known.is_none() || known == found {
        true => Ok(()),
        false => Err(StoreError::Another {
            is_empty: found.is_none(),
        }),
    }
}

async fn connected(url: &str) -> Result<PgPool, StoreError> {
    let open = |source| StoreError::Open {
        url: shown_address(url),
        source,
    };
    let options = PgConnectOptions::from_str(url).map_err(open)?;
    match away::pool().connect_with(options.clone()).await {
        Err(sqlx::Error::PoolTimedOut) => Err(open(reason(&options).await)),
        pool => pool.map_err(open),
    }
}

/// Why nobody is let in. A pool tries again and again where a server has no room, and then says only that it has waited.
async fn reason(options: &PgConnectOptions) -> sqlx::Error {
    match timeout(WHY, PgConnection::connect_with(options)).await {
        Ok(Err(error)) => error,
        Ok(Ok(_)) | Err(_) => sqlx::Error::PoolTimedOut,
    }
}

/// Whether exactly these migrations were made. Whoever only looks need not be allowed to write.
async fn is_up_to_date(pool: &PgPool, migrator: &Migrator) -> bool {
    let made: Result<Vec<(i64, Vec<u8>)>, _> =
        query_as("SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version")
            .fetch_all(pool)
            .await;
    let ours = migrator
        .iter()
        .map(|one| (one.version, one.checksum.to_vec()));
    made.is_ok_and(|made| made.into_iter().eq(ours))
}

async fn bring_up(pool: &PgPool, migrator: &Migrator, url: &str) -> Result<(), StoreError> {
    migrator.run(pool).await.map_err(|source| match source {
        // Of the connection or the server, and not of the schema.
        MigrateError::Execute(source) if Trouble::of(&source).is_some() => source.into(),
        MigrateError::Execute(source) => StoreError::Open {
            url: shown_address(url),
            source,
        },
        source => StoreError::Schema {
            url: shown_address(url),
            source,
        },
    })
}

/// Which database this is.
pub(crate) async fn identity(executor: impl PgExecutor<'_>) -> Result<Option<Uuid>, StoreError> {
    let id = query_scalar("SELECT id FROM identity LIMIT 1");
    Ok(id.fetch_optional(executor).await?)
}

/// The same of one that may have no tables.
async fn identity_if_any(pool: &PgPool) -> Result<Option<Uuid>, StoreError> {
    match identity(pool).await {
        Err(StoreError::Trouble {
            trouble: Trouble::Bare,
            ..
        }) => Ok(None),
        found => found,
    }
}

impl Store {
    /// Which database this is; nothing for a file, which says by itself whether it is still there
    /// ([`still_there`](Self::still_there)).
    #[must_use]
    pub fn identity(&self) -> Option<Uuid> {
        self.identity
    }
}
