//! Carson's own plans (`stories.json`).
//!
//! Reading order: [`Plan`] (what may stand in one), `check.rs` (what is said of one that is not right), `select.rs`,
//! `policy.rs`, `prompt.rs`, `run.rs`, `attempt.rs`, `did.rs`, `judge.rs`; then `areas.rs` and `repo.rs` (what is looked at),
//! `refs.rs`, `others.rs` and `index.rs` (what of a repository is whose), `back.rs` (the way back), `journal.rs` and `replay.rs`
//! (what is written down), `recover.rs`. In a fleet the work is a commit: `commit.rs` (what it may change),
//! `marked.rs` (what Carson writes into the plan).

mod acceptance;
mod after_promise;
mod areas;
mod attempt;
mod back;
mod before;
mod check;
mod commit;
mod conforms;
mod did;
mod error;
mod event;
mod index;
mod journal;
mod judge;
mod made;
mod marked;
mod others;
mod patch;
mod place;
mod policy;
mod promise;
mod prompt;
mod recover;
mod refs;
mod replay;
mod repo;
mod run;
mod runner;
mod schema;
mod select;
mod settings;
mod status;
mod told;
mod written;

pub use acceptance::{BadPath, created};
pub use attempt::seconds;
pub use check::{checked, makes_the_plan};
pub use commit::{Leaf, Touched};
pub use error::StoriesError;
pub use event::{Event, Outcome, What};
pub use journal::{document, read, read_at};
pub use judge::{Allowed, Violation};
pub use marked::marked;
pub use place::Place;
pub use policy::{POLICY_BYTES, policy_text};
pub use prompt::{Prompt, prompt};
pub use replay::replay;
pub use run::run;
pub use runner::Given;
pub use schema::{schema, schema_text};
pub use select::{in_turn, open};
pub use settings::{Asked, Interrupted};
pub use status::{Replayed, Row, Standing, replayed, standing};
pub use told::{Came, Told};
pub use written::{Mode, Plan, Status, Story};
