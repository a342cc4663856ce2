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
//! say it. What is answered, and how long a body may be, is the service's. Who says nothing gives way to who asks
//! (`places.rs`), and what anybody can bring about as often as they like is said in the log seldom ([`Often`]).
//!
//! Reading order: `names.rs`, `pace.rs`, `often.rs`, `places.rs`, `listen.rs`.

mod listen;
mod names;
mod often;
mod pace;
mod places;

pub use listen::{CONNECTIONS, HEAD, Told, bound, keep, serve};
pub use names::{Names, is_same, only};
pub use often::Often;
pub use pace::Pace;
