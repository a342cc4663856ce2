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
//! - [`admission`] says whether a due slot may become a firing now, must wait, or is skipped; the
//!   [`stops`] (pause, block, breaker, cap, overlap, …) are a list, each with what would change it.
//! - [`sentinel`] reads the one line by which a session ends. It is the only piece of model text
//!   that control flow ever reads.
//! - [`settle`] turns sentinel and facts into an [`Outcome`](outcome::Outcome), by one table.
//!   Facts win over what a model says of itself.
//! - [`egress`] says which hosts a session may connect to, by name and by address.
//! - [`reading`] says how long people need for the pull requests that wait for them.
//! - [`coverage`] reads how much of which file the tests run.
//! - [`compensation`] has the ways back from what a firing did, for who undoes it.
//! - [`declared`] says what of a session's wishes for the forge is done.
//! - [`pull_end`] says what became of a pull request, and what takes a merge back.
//! - [`breaker`] says what an outcome does to a role's fail streak.
//! - [`outage`] says when a provider counts as down, and when it is asked again.
//! - [`forecast`] says what a night will cost, and what ends before it does.
//! - [`lesson`] has the words of what the fleet remembers.
//! - [`repetition`] says whether a session goes in circles.
//! - [`spare`] says what an account's usage window would lose, for a second try of hard work.
//! - [`section`] is how an entry of a list (a sink, a forge) says what an operator may write of it.
//!
//! Around them stand the nouns: [`id`] (typed names), [`stage`], [`work`], [`limits`], and the
//! [`clock`], which is a value that tests can set.
//!
//! Reading order: `id`, `stage`, `work`, `outcome`, `settle`, then `cadence`, `stops` and `admission`.

pub mod admission;
mod api;
pub mod block_claim;
pub mod breaker;
pub mod cadence;
pub mod clock;
pub mod compensation;
pub mod coverage;
pub mod declared;
pub mod effect;
pub mod egress;
mod engines;
pub mod event;
pub mod forecast;
pub mod id;
pub mod leaving;
pub mod lesson;
pub mod limits;
pub mod outage;
pub mod outcome;
pub mod plausible;
pub mod proof;
pub mod pull_end;
pub mod reading;
pub mod repetition;
pub mod section;
pub mod sentinel;
pub mod settle;
pub mod signing;
mod skip;
pub mod spare;
pub mod stage;
pub mod stops;
pub mod story;
pub mod text;
mod tool_rule;
pub mod untrusted;
mod usage;
pub mod work;

pub use api::Api;
pub use clock::Clock;
pub use compensation::Compensation;
pub use effect::Effect;
pub use engines::{
    ENGINE_NAMES, ENGINES, EngineFacts, EngineKind, KeepsTo, Program, WORDS_WITH_CALLS,
};
pub use event::Event;
pub use id::{AccountName, FiringId, HostName, RepoName, RoleName};
pub use outcome::Outcome;
pub use proof::Proof;
pub use sentinel::{Choice, Sentinel, Verdict};
pub use skip::{BlockKind, SkipKind};
pub use stage::Stage;
pub use tool_rule::ToolRule;
pub use untrusted::{Page, Untrusted};
pub use work::Work;
