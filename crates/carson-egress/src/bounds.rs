//! How much of everything one firing's proxy does.

use std::time::Duration;

/// The bounds of one proxy.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections at once; one more is told to come back later.
    pub connections: usize,
    /// Bytes of a request's head.
    pub head: usize,
    /// Bytes of a request to the provider's API, which is read before it is passed on.
    pub request: usize,
    /// Time in which a head must have come; an idle connection is closed after it.
    pub head_within: Duration,
    /// Time to look a name up and connect.
    pub connect_within: Duration,
    /// Time in which nothing moved in either direction.
    pub idle: Duration,
    /// Time of one connection altogether.
    pub total: Duration,
    /// Hosts that are counted by name; what is more is counted together.
    pub hosts: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 128,
            head: 64 * 1024,
            // More than any provider takes at once.
            request: 32 * 1024 * 1024,
            head_within: Duration::from_secs(60),
            connect_within: Duration::from_secs(20),
            // A model that thinks says nothing for minutes.
            idle: Duration::from_secs(15 * 60),
            total: Duration::from_secs(24 * 60 * 60),
            hosts: 256,
        }
    }
}
