//! Settings and role files become a checked [`Fleet`].
//!
//! # Theory of operation
//!
//! What may be written stands in types (`raw.rs`, `role_file.rs`): their fields are the keys, with
//! kind, bounds, default, example and, as comment, meaning. The JSON schema is made of them, and of
//! the schema the table of keys ([`keys`]) and the tables of docs/CONFIG.md.
//!
//! `carson.toml` and one `role.toml` per role are read in two passes. The first walks the document
//! with its line numbers against the table, and collects *every* finding: unknown keys with the
//! nearest known one, wrong types, values that cannot be read. The second
//! merges file and environment (`CARSON_FLEET__MAX_FIRINGS=3`) with figment into plain structs and
//! checks what crosses files: a role's repositories and accounts, its stages, its cadence. Nothing
//! is accepted half: [`load`] gives a whole fleet or all findings.
//!
//! The library reads no environment, no home directory and no terminal of its own: the binary
//! hands them in ([`LoadOptions`]).
//!
//! What an operator may write about a sink or a forge stands beside it (`carson-notify`,
//! `carson-forge`); `listed.rs` makes keys, values and findings of it.
//!
//! Reading order: `fleet.rs` (what comes out), `raw.rs`, `role_file.rs` (what operators write),
//! `forms.rs`, `kind.rs`, `keys.rs`, `load.rs`, `read.rs`, `resolve.rs`, `sections/`, `listed.rs`.

mod abilities;
mod bounds;
mod check;
mod choices;
mod confine;
mod credentials;
mod document;
mod duration;
mod egress;
mod families;
mod finding;
mod fleet;
mod forms;
mod hours;
mod keys;
mod kind;
mod known_names;
mod layout;
mod listed;
mod load;
mod nearest;
mod options;
mod overrides;
mod paths;
mod prompt;
mod provenance;
mod raw;
mod read;
mod resolve;
mod role_dirs;
mod role_file;
mod role_kind;
mod role_routes;
mod route_file;
mod route_text;
mod routes;
mod schema;
mod secret;
mod sections;
mod servers;
mod shape;
mod shipped;
mod skills;
mod sources;
mod tool_lists;
mod work;

pub use choices::{
    Cache, HookFailure, McpGrant, NetworkUse, Priority, Push, Sandbox, Spare, Toolchain, Unproven,
    Workspaces,
};
pub use confine::Confinement;
pub use credentials::CREDENTIALS;
pub use duration::{format_duration, parse_duration};
pub use families::{Family, family, passes};
pub use finding::{Finding, Findings, Severity};
pub use fleet::{Account, Fleet, Included, Prompts, ProviderKey, RedToGreen, Repo, Role, Setup};
pub use hours::Hours;
pub use layout::Layout;
pub use load::{Loaded, load, provenance};
pub use nearest::nearest;
pub use options::LoadOptions;
pub use prompt::PROMPT_NAMES;
pub use provenance::{Origin, Provenance};
pub use role_file::{Author, CommandSection, CoverageSection, IdentityCheck, Promise, Tools};
pub use route_file::{RouteError, Written, write_route};
pub use route_text::Wanted;
pub use routes::Route;
pub use schema::schema;
pub use secret::{SecretError, known_secret, read_secret};
pub use sections::{
    AutoPromote, EmbedderAt, Heartbeat, HeartbeatUrl, Housekeeping, Mcp, Memory, Metrics, Page,
};
pub use servers::McpServer;
pub use shipped::{ShippedRole, shipped_roles};
pub use skills::Skill;
pub use sources::Sources;
pub use work::{RoleKind, WorkFrom, WorkSource};
