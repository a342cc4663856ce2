//! What went where.

use serde::Serialize;

/// What a firing had to do with one host. The field names are those of `carson firings ID --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EgressHost {
    /// `host:port`.
    pub host: String,
    /// Connections, or requests, that were let through.
    pub allowed: u64,
    /// Those that were refused.
    pub refused: u64,
    /// Bytes to it.
    pub bytes_up: u64,
    /// Bytes from it.
    pub bytes_down: u64,
}
