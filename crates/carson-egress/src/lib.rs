//! The only way out: what a firing's sessions connect to goes through a proxy in the firing's own
//! process.
//!
//! # Theory of operation
//!
//! [`Egress::open`] starts one proxy per firing, on a thread and a runtime of its own, so that a
//! tool that floods it slows nobody who supervises. It listens on 127.0.0.1, and on every socket
//! that a session's own network namespace hands over ([`Egress::listen_on`]). [`Egress::variables`]
//! are what a session learns of it: the proxy's address with a token of this firing.
//!
//! A request is answered by `answer`: `CONNECT` becomes a `tunnel`, `http://…` is passed on by
//! `forward`, and what is addressed to the proxy itself goes to the provider's API with the key
//! that only this process has (`provider`). TLS is never opened. `resolve` looks a name up only
//! when a rule names it, and connects only to addresses that the rules admit. `counters` count, per
//! host; the first refusal of a host is told at once.
//!
//! Everything has a bound (`bounds`), and everything ends when the firing's sessions are over.
//!
//! It knows no settings, no rows and no firing: what it needs of them comes in a [`Plan`], and what
//! it counted is asked of it.
//!
//! Reading order: `proxy.rs`, `listener.rs`, `answer.rs`, then `tunnel.rs`, `forward.rs` or
//! `provider.rs` with `features.rs`.

mod answer;
mod body;
mod bounds;
mod counters;
mod features;
mod forward;
mod headers;
mod listener;
mod metered_stream;
mod network;
mod provider;
mod proxy;
mod refusal;
mod resets;
mod resolve;
mod shared;
mod socket_handover;
mod standalone;
mod token;
mod tunnel;
mod variables;

pub use bounds::Bounds;
pub use counters::HostRefused;
pub use network::network;
pub use provider::{Provider, ProviderError};
pub use proxy::{Egress, EgressError, Plan};
pub use resets::Headers;
pub use resolve::Resolver;
pub use socket_handover::SocketHandover;
pub use standalone::Standalone;
pub use variables::foreseen;

#[cfg(test)]
mod tests;
