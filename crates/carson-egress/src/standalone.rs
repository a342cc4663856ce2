//! The proxy of one program that an operator starts by hand.

use std::path::Path;
use std::sync::Arc;

use carson_core::egress::{Allowlist, EgressHost};
use carson_proc::sandbox::Network;

use crate::bounds::Bounds;
use crate::network::network;
use crate::proxy::{Egress, EgressError, Plan};
use crate::resolve::Resolver;
use crate::socket_handover::SocketHandover;

/// The same proxy as a firing's, for one program: its walls and its variables.
pub struct Standalone {
    egress: Arc<Egress>,
    handover: Option<SocketHandover>,
}

impl Standalone {
    /// Begins it. `socket` is a path, in a folder of its own, where the program is to have a network
    /// of its own; the folder goes with it.
    ///
    /// # Errors
    /// When the system has no socket or thread for it.
    pub fn open(rules: Allowlist, socket: Option<&Path>) -> Result<Self, EgressError> {
        let egress = Arc::new(Egress::open(Plan {
            rules: Some(rules),
            provider: None,
            resolver: Resolver::system(),
            bounds: Bounds::default(),
        })?);
        let handover = socket
            .map(|path| SocketHandover::at(path, &egress))
            .transpose()?;
        Ok(Self { egress, handover })
    }

    /// Whom the program may talk to.
    #[must_use]
    pub fn network(&self) -> Network {
        network(&self.egress, self.handover.as_ref())
    }

    /// How it finds the proxy.
    #[must_use]
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.egress.variables(self.handover.is_some())
    }

    /// What went where so far.
    #[must_use]
    pub fn counts(&self) -> Vec<EgressHost> {
        self.egress.counts()
    }
}
