//! The way in by HTTP: what stands between the connections of a machine and what Carson serves there.
//!
//! # Theory of operation
//!
//! What Carson serves is for people and programs of its own machine. A web page in the operator's browser can send
//! requests to any port of that machine too, also under a name of its own that it lets lead here (DNS rebinding). It
//! cannot choose `Host` and `Origin`: [`Names`] says which are ours, and whoever serves looks at them first. Then
//! comes what somebody has to know, compared in a time that says nothing of it ([`is_same`]), as often as a [`Pace`]
//! lets pass.
//!
//! [`keep`] listens and serves within bounds: connections at once, the bytes of what a client wants, and the time to
//! say it. What is answered, and how long a body may be, is the service's.
//!
//! Reading order: `names.rs`, `pace.rs`, `listen.rs`.

mod listen;
mod names;
mod pace;

pub use listen::{CONNECTIONS, HEAD, bound, keep, serve};
pub use names::{Names, is_same, only};
pub use pace::Pace;
