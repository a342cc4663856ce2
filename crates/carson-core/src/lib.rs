//! Carson's words and pure decisions. No IO, no clock of its own, no tokio.
//!
//! # Theory of operation
//!
//! Everything that Carson *decides* is decided here, by functions of values, so that it can be
//! tested without a process, a database or a sleep. The crates above only gather facts and carry
//! out what was decided:
//!
//! - [`cadence`] says which slot of a role is due, from its cron lines, its zone, the last slot
//!   that was claimed and the time. A wake-up carries no facts; calling it too often is harmless.
//! - [`admission`] says whether a due slot may become a firing now, must wait, or is skipped, and
//!   which of the stops (pause, block, breaker, cap, overlap) said so.
//! - [`sentinel`] reads the one line by which a session ends. It is the only piece of model text
//!   that control flow ever reads.
//! - [`settle`] turns sentinel and facts into an [`Outcome`](outcome::Outcome), by one table.
//!   Facts win over what a model says of itself.
//! - [`egress`] says which hosts a session may connect to, by name and by address.
//! - [`breaker`] says what an outcome does to a role's fail streak.
//!
//! Around them stand the nouns: [`id`] (typed names), [`stage`], [`work`], [`limits`], and the
//! [`clock`], which is a value that tests can set.
//!
//! Reading order: `id`, `stage`, `work`, `outcome`, `settle`, then `cadence` and `admission`.

pub mod admission;
pub mod block_claim;
pub mod breaker;
pub mod cadence;
pub mod clock;
pub mod egress;
mod engine_kind;
pub mod id;
pub mod leaving;
pub mod limits;
pub mod outcome;
pub mod plausible;
pub mod sentinel;
pub mod settle;
mod skip;
pub mod stage;
pub mod untrusted;
mod usage;
pub mod work;

pub use clock::Clock;
pub use engine_kind::EngineKind;
pub use id::{AccountName, FiringId, HostName, RepoName, RoleName};
pub use outcome::Outcome;
pub use sentinel::{Sentinel, Verdict};
pub use skip::{BlockKind, SkipKind};
pub use stage::Stage;
pub use untrusted::{Page, Untrusted};
pub use work::Work;
