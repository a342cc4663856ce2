//! The stages of a firing, a file each, in the order of DESIGN §5.

pub(crate) mod baseline;
pub(crate) mod command;
pub(crate) mod confirm;
pub(crate) mod coverage;
pub(crate) mod diff_review;
pub(crate) mod execute;
pub(crate) mod facts;
mod go_on;
pub(crate) mod held_against;
pub(crate) mod leaving;
pub(crate) mod outbox;
pub(crate) mod pick;
pub(crate) mod plan;
pub(crate) mod preflight;
mod progress;
pub(crate) mod red_to_green;
pub(crate) mod report;
pub(crate) mod review;
pub(crate) mod salvage;
pub(crate) mod scope;
pub(crate) mod story;
pub(crate) mod teardown;
pub(crate) mod verify;
pub(crate) mod wanted;
pub(crate) mod workflows;
pub(crate) mod workspace;
