//! The sections of `carson.toml`, one file each: what was written becomes what is meant.

mod account;
mod forge;
mod mcp;
mod memory;
mod metrics;
mod page;
mod provider;
mod repo;
mod upkeep;

pub(crate) use account::accounts;
pub(crate) use forge::forges;
pub use mcp::Mcp;
pub(crate) use mcp::{McpSection, mcp};
pub use memory::{AutoPromote, EmbedderAt, Memory};
pub(crate) use memory::{MemorySection, memory};
pub use metrics::Metrics;
pub(crate) use metrics::{MetricsSection, metrics, traces_to};
pub use page::Page;
pub(crate) use page::{PageSection, page};
pub(crate) use repo::repos;
pub use upkeep::{Heartbeat, HeartbeatUrl, Housekeeping};
pub(crate) use upkeep::{HeartbeatSection, heartbeat};
