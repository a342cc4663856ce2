//! A firing's proxy while it is open.

use std::sync::Arc;

use carson_config::{NetworkUse, Role};
use carson_egress::{Egress, SocketHandover, network};
use carson_proc::sandbox::Network;
use tokio::task::JoinHandle;

/// The proxy between the sessions of an account and the network.
pub struct Proxy {
    pub(super) egress: Arc<Egress>,
    /// Whether everything must go through it.
    pub(super) only: bool,
    /// Waits for the listeners of sessions with a network of their own.
    pub(super) handover: Option<SocketHandover>,
    /// Writes refusals down until there are no more.
    pub(super) telling: Option<JoinHandle<()>>,
}

impl Proxy {
    /// What a session's environment says of it.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.egress.variables(self.handover.is_some())
    }
}

/// Whom a session of this role may talk to, where its firing has this proxy.
pub fn network_of(proxy: Option<&Proxy>, role: &Role) -> Network {
    match (proxy, role.confinement.network) {
        (Some(open), _) if open.only => network(&open.egress, open.handover.as_ref()),
        (_, NetworkUse::Own) => Network::Shared,
        (_, NetworkUse::Host) => Network::Open,
    }
}
