//! A child that has begun.

use tokio::process::Child;

use crate::children::Registered;
use crate::marker::Marker;
use crate::sandbox::cgroup::Cgroup;

/// A child that has begun, and what it is known by.
pub(crate) struct Begun {
    pub child: Child,
    pub registered: Registered,
    pub marker: Marker,
    /// Nobody gets out of it.
    pub cgroup: Option<Cgroup>,
}
