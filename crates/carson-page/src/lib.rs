//! The page: a face of the operator's verbs for browsers.
//!
//! # Theory of operation
//!
//! A page is a file in `pages/` and its template. It asks verbs of `carson-operator`, makes plain rows of their
//! answers, and is rendered on the server; nothing of it needs a script. One small script brings what is live: what a
//! session says (server-sent events, `live.rs`), and a newer Tonight.
//!
//! What changes something is an [`Action`](actions::Action): a line in a list with its verb and its fields. Each has
//! a page of its own that says what it will do and asks once more; its form is sent, and the answer leads back. There
//! is nothing that the page can do and `carson` cannot.
//!
//! Who comes in is decided in one place before any page is made (`guard.rs`): the names by which we are reached
//! (`carson-door`), the session, and for each form a word that only pages of that session have. What models, issues
//! and programs wrote is text: there is one way into a page, and it escapes (`text.rs`); what is rendered leaves
//! without secrets.
//!
//! # What is no page
//!
//! Approvals of plans (a page would have to show exactly what is approved), merges, and settings.
//!
//! Reading order: `serve.rs`, `guard.rs`, `sessions.rs`, `actions.rs`, `pages.rs`, `pages/stops.rs`, `live.rs`.

mod actions;
mod chart;
mod desk;
mod fault;
mod frame;
mod guard;
mod live;
mod mark;
mod pages;
mod secret;
mod serve;
mod sessions;
mod sign_in;
mod text;

pub use carson_door::Told;
pub use desk::Homes;
pub use secret::{LINK_LASTS, link, token};
pub use serve::{keep, serve};
