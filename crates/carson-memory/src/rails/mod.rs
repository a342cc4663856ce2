//! Fixed rules that a candidate must keep before a judge, or a person, is asked about it.
//!
//! Each is a function of what is known of the candidate. A rule that is broken by intent (a secret, hidden text, words
//! meant for a tool or for the judge) rejects; one that a person may see otherwise holds.

mod broad;
mod evidence;
mod list;
mod others;
mod phrases;
mod rail;
mod secret;
mod steering;
mod unseen;

pub use list::broken;
pub use rail::{Broken, Known, Other};
