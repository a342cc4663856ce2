//! The page over real HTTP, and in a real browser.

#![expect(clippy::unwrap_used, reason = "tests")]

mod acts;
mod browser;
mod client;
mod door;
mod hostile;
mod live;
mod looks;
mod scene;
