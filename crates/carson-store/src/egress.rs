//! What firings connected to.

use carson_core::FiringId;
use carson_core::egress::EgressHost;
use sqlx::{query, query_as};

use crate::as_firing::{AsFiring, fenced};
use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::{large, signed};

impl Store {
    /// What a firing connected to, by host.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn egress(&self, id: FiringId) -> Result<Vec<EgressHost>, StoreError> {
        type Raw = (String, i64, i64, i64, i64);
        let rows: Vec<Raw> = on!(self, |pool| query_as(
            "SELECT host, allowed, refused, bytes_up, bytes_down FROM egress WHERE firing = $1 \
             ORDER BY host"
        )
        .bind(id.uuid())
        .fetch_all(pool)
        .await?);
        let host = |(host, allowed, refused, up, down): Raw| EgressHost {
            host,
            allowed: large(allowed),
            refused: large(refused),
            bytes_up: large(up),
            bytes_down: large(down),
        };
        Ok(rows.into_iter().map(host).collect())
    }
}

impl AsFiring<'_> {
    /// Writes what a firing connected to so far: absolute values, so writing twice changes nothing.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_egress(self, hosts: &[EgressHost]) -> Result<(), StoreError> {
        if hosts.is_empty() {
            return Ok(());
        }
        fenced!(self, self.store, |tx| {
            for host in hosts {
                query(
                    "INSERT INTO egress (firing, host, allowed, refused, bytes_up, bytes_down) \
                     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (firing, host) DO UPDATE SET \
                     allowed = excluded.allowed, refused = excluded.refused, \
                     bytes_up = excluded.bytes_up, bytes_down = excluded.bytes_down",
                )
                .bind(self.id.uuid())
                .bind(self.store.outside(&host.host).as_ref())
                .bind(signed(host.allowed))
                .bind(signed(host.refused))
                .bind(signed(host.bytes_up))
                .bind(signed(host.bytes_down))
                .execute(&mut *tx)
                .await?;
            }
        });
        Ok(())
    }
}
