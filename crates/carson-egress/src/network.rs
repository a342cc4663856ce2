//! What the walls leave open for who goes through the proxy.

use carson_proc::sandbox::Network;

use crate::proxy::Egress;
use crate::socket_handover::SocketHandover;

/// The network of who may talk to the proxy only.
#[must_use]
pub fn network(egress: &Egress, handover: Option<&SocketHandover>) -> Network {
    match handover {
        Some(handover) => Network::Isolated {
            proxy: egress.port(),
            socket: handover.path().to_owned(),
        },
        None => Network::Ports(vec![egress.port()]),
    }
}
