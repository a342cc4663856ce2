//! Writing as a firing: behind the fence.
//!
//! Whatever a firing writes of itself goes through [`AsFiring`], which knows the epoch of the row as the writer
//! read it. Once another host has taken the row over its epoch is another one, and a writer that comes back
//! changes nothing and learns why ([`StoreError::Fenced`]). The trail of events is not behind it: what somebody
//! saw is true whoever the row belongs to.

use carson_core::FiringId;

use crate::db::Store;
use crate::error::StoreError;

/// How often the row of a firing went to another host, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch(pub(crate) i64);

impl Epoch {
    /// That of a row which its own host has.
    pub const FIRST: Self = Self(1);
}

/// A firing as who writes its row: see the module.
#[derive(Clone, Copy, Debug)]
pub struct AsFiring<'s> {
    pub(crate) store: &'s Store,
    pub(crate) id: FiringId,
    pub(crate) epoch: Epoch,
}

/// A transaction of a firing: its row is held, and nothing is done unless it is still the writer's.
macro_rules! fenced {
    ($as:expr, $store:expr, |$tx:ident| $body:expr) => {
        match &$store.db {
            $crate::db::Db::Sqlite(pool) => {
                $crate::db::boxed!({
                    let mut $tx = pool.begin_with("BEGIN IMMEDIATE").await?;
                    let epoch = sqlx::query_scalar("SELECT epoch FROM firing WHERE id = $1");
                    let epoch = epoch.bind($as.id.uuid()).fetch_optional(&mut *$tx);
                    $as.must_be(epoch.await?)?;
                    let result = $body;
                    $tx.commit().await?;
                    result
                })
            }
            $crate::db::Db::Postgres(pool) => {
                $crate::away::committed!($store, pool, {
                    let mut $tx = pool.begin().await?;
                    let epoch =
                        sqlx::query_scalar("SELECT epoch FROM firing WHERE id = $1 FOR UPDATE");
                    let epoch = epoch.bind($as.id.uuid()).fetch_optional(&mut *$tx);
                    $as.must_be(epoch.await?)?;
                    let result = $body;
                    ($tx, result)
                })
            }
        }
    };
}

pub(crate) use fenced;

impl Store {
    /// The firing as who writes its row, which was read with this epoch.
    #[must_use]
    pub fn as_firing(&self, id: FiringId, epoch: Epoch) -> AsFiring<'_> {
        AsFiring {
            store: self,
            id,
            epoch,
        }
    }
}

impl AsFiring<'_> {
    /// Whether the row is still the writer's. One that is not there belongs to nobody, and nothing changes it.
    pub(crate) fn must_be(&self, epoch: Option<i64>) -> Result<(), StoreError> {
        match epoch {
            Some(epoch) if epoch != self.epoch.0 => Err(StoreError::Fenced { id: self.id }),
            _ => Ok(()),
        }
    }
}
