//! Which hosts of a fleet live, and what is taken over from those that do not.
//!
//! A daemon renews its host's lease every few seconds, and a firing its own while it finds no daemon that
//! does: both outlive a restart of the other. A row is taken over once neither lease stands. Whether one
//! stands is judged by the clock of the database alone; those of the hosts may say what they will.
//!
//! A database in a file belongs to one host: nothing of this is done there, and nothing is written.

use carson_core::{FiringId, HostName, RepoName};
use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{query, query_as, query_scalar};
use uuid::Uuid;

use crate::as_firing::{AsFiring, Epoch};
use crate::away::{committed, patiently};
use crate::db::{Db, Store};
use crate::error::StoreError;
use crate::firing::{Firing, Raw, select_firing, signed};
use crate::{migrations, server};

/// Whether a host's lease stands. One that an older Carson keeps has none, and says every minute that it lives.
macro_rules! host_lives {
    () => {
        "EXISTS (SELECT 1 FROM host WHERE host.name = COALESCE(firing.carrier, firing.host) \
         AND COALESCE(host.lease_until, host.beat_at + interval '3 minutes') > now() - interval '5 seconds')"
    };
}

/// Whether host `$1` may judge the others: it has renewed its own lease without a gap for longer than theirs last.
/// After a database was away nobody's lease stands, and nobody is dead.
macro_rules! may_judge {
    () => {
        "EXISTS (SELECT 1 FROM host me WHERE me.name = $1 AND me.lease_until > now() \
         AND me.held_since < now() - interval '12 seconds')"
    };
}

/// Whether nobody who answers for a firing lives, as far as host `$1` sees.
macro_rules! nobodys {
    () => {
        concat!(
            "COALESCE(firing.carrier, firing.host) <> $1 \
             AND COALESCE(firing.lease_until, firing.claimed_at) < now() - interval '5 seconds' AND ",
            may_judge!(),
            " AND NOT ",
            host_lives!()
        )
    };
}

/// A daemon, as it says of itself.
#[derive(Clone, Debug)]
pub struct Daemon<'d> {
    /// Its process.
    pub pid: i32,
    /// That process's start time.
    pub pid_start: u64,
    /// Its version.
    pub version: &'d str,
    /// The labels of its host.
    pub labels: &'d [String],
}

/// The lease of a host, as who holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease(i64);

/// A lease that was taken.
#[derive(Clone, Debug)]
pub struct Retaken {
    /// It.
    pub lease: Lease,
    /// Since when the others took the host for dead.
    pub lapsed_at: Option<DateTime<Utc>>,
    /// Its firings that they took over since.
    pub fenced: Vec<FiringId>,
}

/// What a renewal finds: whether the host is drained, the newest migration, the time and the identity of the database.
type Held = (bool, Option<i64>, DateTime<Utc>, Option<Uuid>);

/// What became of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// It stands again for its time.
    Held {
        /// Whether nothing new is to fire on the host.
        drained: bool,
        /// Whether a newer Carson brought the database on.
        newer: bool,
        /// What time it is by the clock of the database; nothing where that is the host's own.
        now: Option<DateTime<Utc>>,
    },
    /// The host was taken for dead meanwhile, or removed.
    Lost,
}

impl Store {
    /// Whether hosts hold leases here.
    #[must_use]
    pub fn has_leases(&self) -> bool {
        matches!(self.db, Db::Postgres(_))
    }

    /// Takes the lease of a host, with an epoch that no lease of it had before; nothing where there are none.
    ///
    /// # Errors
    /// When the database does not answer, or is another one by now.
    pub async fn take_lease(
        &self,
        host: &HostName,
        daemon: &Daemon<'_>,
        at: DateTime<Utc>,
    ) -> Result<Option<Retaken>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(None);
        };
        let (epoch, lapsed_at, fenced) = committed!(self, pool, {
            let mut tx = pool.begin().await?;
            server::refuse_another(self.identity, server::identity(&mut *tx).await?)?;
            let lapsed_at: Option<Option<DateTime<Utc>>> =
                query_scalar("SELECT lapsed_at FROM host WHERE name = $1 FOR UPDATE")
                    .bind(host.as_str())
                    .fetch_optional(&mut *tx)
                    .await?;
            let lapsed_at = lapsed_at.flatten();
            let epoch: i64 = query_scalar(
                "INSERT INTO host (name, pid, pid_start, version, beat_at, labels, lease_until, held_since, ahead_s) \
                 VALUES ($1, $2, $3, $4, $5, $6, now() + interval '10 seconds', now(), \
                 EXTRACT(EPOCH FROM $5 - clock_timestamp())::bigint) \
                 ON CONFLICT (name) DO UPDATE SET pid = excluded.pid, \
                 pid_start = excluded.pid_start, version = excluded.version, \
                 beat_at = excluded.beat_at, labels = excluded.labels, ahead_s = excluded.ahead_s, \
                 lease_until = excluded.lease_until, held_since = now(), lapsed_at = NULL, epoch = host.epoch + 1 \
                 RETURNING epoch",
            )
            .bind(host.as_str())
            .bind(i64::from(daemon.pid))
            .bind(signed(daemon.pid_start))
            .bind(daemon.version)
            .bind(at)
            .bind(daemon.labels.join(" "))
            .fetch_one(&mut *tx)
            .await?;
            let fenced: Vec<Uuid> = query_scalar(
                "SELECT id FROM firing WHERE carrier IS NOT NULL AND carrier <> $1 AND host = $1 \
                 AND lease_until >= $2 ORDER BY seq",
            )
            .bind(host.as_str())
            .bind(lapsed_at)
            .fetch_all(&mut *tx)
            .await?;
            (tx, (epoch, lapsed_at, fenced))
        });
        Ok(Some(Retaken {
            lease: Lease(epoch),
            lapsed_at,
            fenced: fenced.into_iter().map(Into::into).collect(),
        }))
    }

    /// Renews the lease of a host, which has these labels now, and this time by its own clock.
    ///
    /// # Errors
    /// When the database does not answer, or is another one by now.
    pub async fn renew_lease(
        &self,
        host: &HostName,
        lease: Lease,
        labels: &[String],
        at: DateTime<Utc>,
    ) -> Result<Renewal, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(Renewal::Held {
                drained: false,
                newer: false,
                now: None,
            });
        };
        let held: Option<Held> = patiently!(
            self,
            query_as(
                "UPDATE host SET labels = $3, lease_until = now() + interval '10 seconds', \
                 held_since = CASE WHEN lease_until < now() THEN now() ELSE held_since END, \
                 ahead_s = EXTRACT(EPOCH FROM $4 - clock_timestamp())::bigint \
                 WHERE name = $1 AND epoch = $2 AND lapsed_at IS NULL \
                 RETURNING drained_at IS NOT NULL, (SELECT MAX(version) FROM _sqlx_migrations), clock_timestamp(), \
                 (SELECT id FROM identity LIMIT 1)",
            )
            .bind(host.as_str())
            .bind(lease.0)
            .bind(labels.join(" "))
            .bind(at)
            .fetch_optional(pool)
            .await?
        );
        let Some((drained, schema, now, identity)) = held else {
            return Ok(Renewal::Lost);
        };
        server::refuse_another(self.identity, identity)?;
        Ok(Renewal::Held {
            drained,
            now: Some(now),
            newer: schema > migrations::newest(migrations::POSTGRES),
        })
    }

    /// For how long the lease of a host has been held without a gap; nothing where it does not stand, or there is none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lease_held_for(&self, host: &HostName) -> Result<Option<TimeDelta>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(None);
        };
        let held: Option<Option<i64>> = patiently!(
            self,
            query_scalar(
                "SELECT (EXTRACT(EPOCH FROM now() - held_since) * 1000)::bigint FROM host \
                 WHERE name = $1 AND lease_until > now()",
            )
            .bind(host.as_str())
            .fetch_optional(pool)
            .await?
        );
        let held = held.flatten();
        Ok(held.map(TimeDelta::milliseconds))
    }

    /// Firings for which nobody answers any more: neither a daemon nor a process of theirs renewed a lease in
    /// time. Those of `me` are for its own processes to judge.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lapsed_firings(&self, me: &HostName) -> Result<Vec<Firing>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(Vec::new());
        };
        let rows: Vec<Raw> = patiently!(
            self,
            query_as(concat!(
                select_firing!("FROM firing WHERE firing.ended_at IS NULL AND "),
                nobodys!(),
                " ORDER BY firing.seq"
            ))
            .bind(me.as_str())
            .fetch_all(pool)
            .await?
        );
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// Firings of other hosts that `me` took over, and has not concluded.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn carried_firings(&self, me: &HostName) -> Result<Vec<Firing>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(Vec::new());
        };
        let rows: Vec<Raw> = patiently!(
            self,
            query_as(select_firing!(
                "FROM firing WHERE ended_at IS NULL AND carrier = $1 AND host <> $1 ORDER BY seq"
            ))
            .bind(me.as_str())
            .fetch_all(pool)
            .await?
        );
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// Takes a firing over, if still nobody answers for it: its epoch is another one then, and whoever had
    /// it is fenced. So is its host's daemon.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn take_over(
        &self,
        row: &Firing,
        me: &HostName,
    ) -> Result<Option<Epoch>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(None);
        };
        let epoch = committed!(self, pool, {
            let mut tx = pool.begin().await?;
            let epoch: Option<i64> = query_scalar(concat!(
                "UPDATE firing SET epoch = firing.epoch + 1, carrier = $1, \
                 lease_until = now() + interval '30 seconds' \
                 WHERE firing.id = $2 AND firing.epoch = $3 AND firing.ended_at IS NULL AND ",
                nobodys!(),
                " RETURNING firing.epoch"
            ))
            .bind(me.as_str())
            .bind(row.id.uuid())
            .bind(row.epoch.0)
            .fetch_optional(&mut *tx)
            .await?;
            if epoch.is_some() {
                query(
                    "UPDATE host SET epoch = epoch + 1, lapsed_at = now() \
                     WHERE name = $1 AND lapsed_at IS NULL \
                     AND COALESCE(lease_until, beat_at + interval '3 minutes') < now() - interval '5 seconds'",
                )
                .bind(row.carrier.as_ref().unwrap_or(&row.host).as_str())
                .execute(&mut *tx)
                .await?;
            }
            (tx, epoch)
        });
        Ok(epoch.map(Epoch))
    }

    /// Takes over what ended firings owe for which nobody answers any more, as far as it is owed in these
    /// repositories. How many.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn take_over_owing(
        &self,
        me: &HostName,
        repos: &[&RepoName],
    ) -> Result<u64, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(0);
        };
        let repos: Vec<&str> = repos.iter().map(|repo| repo.as_str()).collect();
        let done = patiently!(
            self,
            query(concat!(
                "UPDATE firing SET epoch = firing.epoch + 1, carrier = $1 \
                 WHERE firing.ended_at IS NOT NULL AND firing.repo = ANY($2) \
                 AND firing.id IN (SELECT effect.firing FROM effect WHERE effect.state = 'owed') AND ",
                nobodys!()
            ))
            .bind(me.as_str())
            .bind(&repos)
            .execute(pool)
            .await?
        );
        Ok(done.rows_affected())
    }
}

impl AsFiring<'_> {
    /// Says that the firing's process lives, where no daemon of its host does.
    ///
    /// # Errors
    /// When the database does not answer, or the firing is fenced.
    pub async fn keep_lease(self) -> Result<(), StoreError> {
        let Db::Postgres(pool) = &self.store.db else {
            return Ok(());
        };
        let row: Option<(i64, bool)> = patiently!(
            self.store,
            query_as(
                "SELECT epoch, EXISTS (SELECT 1 FROM host WHERE host.name = firing.host \
                 AND host.lease_until > now() + interval '6 seconds') FROM firing WHERE id = $1",
            )
            .bind(self.id.uuid())
            .fetch_optional(pool)
            .await?
        );
        self.must_be(row.map(|(epoch, _)| epoch))?;
        match row {
            Some((_, false)) => self.extend("10 seconds").await,
            _ => Ok(()),
        }
    }

    /// Must be asked at the beginning of whatever changes something outside: whether the row is still the
    /// writer's. For so long as such a call takes, nobody takes it over then.
    ///
    /// # Errors
    /// When the database does not answer, or the firing is fenced.
    pub async fn acts(self) -> Result<(), StoreError> {
        self.extend("15 seconds").await
    }

    async fn extend(self, by: &str) -> Result<(), StoreError> {
        let Db::Postgres(pool) = &self.store.db else {
            return Ok(());
        };
        let epoch: Option<i64> = patiently!(
            self.store,
            query_scalar(
                "UPDATE firing SET lease_until = CASE WHEN epoch = $2 \
                 THEN GREATEST(lease_until, now() + $3::text::interval) ELSE lease_until END \
                 WHERE id = $1 RETURNING epoch",
            )
            .bind(self.id.uuid())
            .bind(self.epoch.0)
            .bind(by)
            .fetch_optional(pool)
            .await?
        );
        self.must_be(epoch)
    }
}
