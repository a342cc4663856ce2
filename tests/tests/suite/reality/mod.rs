//! GitHub as it is: an emulator that keeps state, behind a proxy of ours that fails as the real one
//! does, and before both GitHub's own description of its API, against which Prism holds every request
//! that we send. Pull requests go through the same story on every forge.
//!
//! ```text
//! forge ─► front (faults) ─► Prism (the description) ─► back (what the emulator lacks) ─► emulator
//! git ─► `git http-backend` ─► a bare repository, which the back asks for branches and commits
//! ```
//! `cargo xtask test` installs the programs, and says where they are.

mod back;
mod branches;
mod crew;
mod description;
mod front;
mod github;
mod graphql;
mod house;
mod http;
mod local;
mod minutes;
mod programs;
mod pulls;
mod story;
mod whole;
