//! Runs a loop: attempts until the promise is kept, or a bound is met.
//!
//! What a run decides is pure and elsewhere: [`begin`](begin::begin), [`Bounds`](crate::bounds::Bounds),
//! [`judge`](crate::progress::judge). Here is the order of things: between two attempts what a person changed is taken
//! over; an attempt is written down before it begins; when it has ended, the tree is kept before the promise is asked, and
//! all that is known of it is one event.

mod attempt;
mod begin;
mod check_alone;
mod dead;
mod driver;
mod ground;
mod orphans;
mod promise;
mod put_away;
mod step;

pub use begin::{Begin, Wish, begin};
pub use check_alone::{check_alone, check_walled};
pub(crate) use dead::conclude;
pub use driver::{OWNER, Options, run};
pub(crate) use ground::rules;
pub(crate) use orphans::{end as end_left, end_orphans};
pub use step::{Step, Watch};
