//! How a firing ended, or why it could not even be concluded.

use carson_core::settle::Settled;
use carson_core::{FiringId, RoleName};
use carson_store::StoreError;
use thiserror::Error;

/// A firing that cannot even be concluded. Its row stays as it is, for recovery.
#[derive(Debug, Error)]
pub enum FiringError {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No row has this id.
    #[error("no firing has the id {0}")]
    Unknown(FiringId),
    /// The row has ended, or another process runs it.
    #[error("firing {id} cannot be run: {why}")]
    NotClaimed {
        /// The firing.
        id: FiringId,
        /// Why.
        why: String,
    },
    /// The role was removed after the claim.
    #[error("firing {id} belongs to role {role}, which the settings no longer have")]
    RoleGone {
        /// The firing.
        id: FiringId,
        /// The role.
        role: RoleName,
    },
}

/// How a firing ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The firing.
    pub id: FiringId,
    /// Its outcome and reason.
    pub settled: Settled,
}
