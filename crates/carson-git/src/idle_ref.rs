//! A ref that may go, and what it must still be when it does.

use crate::oid::Oid;

/// A ref that nothing needs any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleRef {
    pub(crate) name: String,
    /// Where it was: one that moved since is left alone.
    pub(crate) at: Oid,
}
