//! What of a firing goes through `carson-egress`, and by which rules.

mod default_rules;
mod open;
mod running;

pub use open::{Proxy, network_of};
pub use running::{begin, end, foreseen, record};
