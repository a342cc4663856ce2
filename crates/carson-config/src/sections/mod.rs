//! The sections of `carson.toml`, one file each: what was written becomes what is meant.

mod account;
mod forge;
mod mcp;
mod provider;
mod repo;
mod upkeep;

pub(crate) use account::accounts;
pub(crate) use forge::forges;
pub use mcp::Mcp;
pub(crate) use mcp::{McpSection, mcp};
pub(crate) use repo::repos;
pub use upkeep::{Heartbeat, HeartbeatUrl, Housekeeping};
pub(crate) use upkeep::{HeartbeatSection, heartbeat};
