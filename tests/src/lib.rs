//! Test support for the whole of Carson.

#[expect(
    clippy::unwrap_used,
    reason = "support of tests: it may panic when the machine does not do what was asked"
)]
pub mod authority;
mod dice;
pub mod fleet;
#[expect(
    clippy::unwrap_used,
    reason = "support of tests: it may panic when the machine does not do what was asked"
)]
pub mod http_remote;
#[expect(
    clippy::unwrap_used,
    reason = "support of tests: it may panic when the machine does not do what was asked"
)]
pub mod https_remote;
pub mod judge;
mod mcp_sdk;
pub mod model;
pub mod postgres;
#[expect(
    clippy::unwrap_used,
    reason = "support of tests: it may panic when the machine does not do what was asked"
)]
mod screen;
pub mod server;
mod set_clock;
mod until;
pub mod users;
#[expect(
    clippy::unwrap_used,
    reason = "support of tests: it may panic when the machine does not do what was asked"
)]
pub mod wire;

pub use dice::Dice;
pub use mcp_sdk::mcp_sdk;
pub use screen::Screen;
pub use set_clock::SetClock;
pub use until::{SLOWER, until};
