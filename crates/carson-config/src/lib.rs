//! Settings and role files become a checked [`Fleet`].
//!
//! # Theory of operation
//!
//! `carson.toml` and one `role.toml` per role are read in two passes. The first ([`keys`]) walks
//! the document with its line numbers against a table of all keys, and collects *every* finding:
//! unknown keys with the nearest known one, wrong types, values that cannot be read. The second
//! merges file and environment (`CARSON_FLEET__MAX_FIRINGS=3`) with figment into plain structs and
//! checks what crosses files: a role's repositories and accounts, its stages, its cadence. Nothing
//! is accepted half: [`load`] gives a whole fleet or all findings.
//!
//! The library reads no environment, no home directory and no terminal of its own: the binary
//! hands them in ([`LoadOptions`]).
//!
//! Reading order: `fleet.rs` (what comes out), `raw.rs` (what operators write), `keys.rs`,
//! `load.rs`, `resolve.rs`.

mod check;
mod confine;
mod credentials;
mod document;
mod duration;
mod egress;
mod families;
mod finding;
mod fleet;
mod home;
mod keys;
mod load;
mod outside;
mod overrides;
mod prompt;
mod provenance;
mod provider;
mod raw;
mod resolve;
mod secret;
mod shipped;
mod sources;
mod upkeep;

pub use confine::{Confinement, NetworkUse, Push, Sandbox};
pub use credentials::CREDENTIALS;
pub use duration::{format_duration, parse_duration};
pub use families::{Family, family, passes};
pub use finding::{Finding, Findings, Severity};
pub use fleet::{
    Account, Api, Fleet, ForgeKind, GitHub, HookFailure, Priority, Promise, Prompts, ProviderKey,
    Repo, Role, Slack, SlackAuth, TokenSource, Tools, WorkSource,
};
pub use home::Home;
pub use load::{LoadOptions, Loaded, load};
pub use prompt::PROMPT_NAMES;
pub use provenance::{Origin, Provenance};
pub use raw::schema;
pub use secret::{SecretError, read_secret};
pub use shipped::{ShippedRole, shipped_roles};
pub use sources::Sources;
pub use upkeep::{Heartbeat, HeartbeatUrl, Hours, Housekeeping};
