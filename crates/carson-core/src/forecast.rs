//! What the firings of a night will cost, and what ends before the night does.
//!
//! # Theory of operation
//!
//! A forecast is arithmetic on facts; whoever has an open home gathers them: the slots of each role until
//! the morning (from its cadence), what its newest firings cost (from the rows), the money that may be
//! spent (purses), and how much of each account's usage windows is used.
//!
//! It is made twice. *Expected*: each firing costs what the newest ones did on average, those that found no
//! work among them, and keeps its role from the slots that pass while it runs. *At worst*: every slot
//! becomes a firing that costs all that one may. Both are walked through slot by slot, and each firing
//! takes from the purses what is left: the sums never exceed them, and the first firing that gets less than
//! it would cost says which role is cut, when, and by what.
//!
//! Money that nobody told is no money of a forecast: a role with too few firings, or with too many whose
//! cost is unknown, has no expected cost, and is named.
//!
//! Windows cut nothing here. How fast one fills is measured by the tokens that it took so far; where that
//! would be over before it starts again, the forecast says when, and who waits first.
//!
//! Reading order: `facts.rs`, `history.rs`, `picks.rs`, `purses.rs`, `windows.rs`, `night.rs`.

mod facts;
mod history;
mod night;
mod picks;
mod purses;
mod windows;

pub use facts::{Cap, Purse, RoleFacts, Stopped, WindowFacts};
#[cfg(test)]
pub(crate) use history::Past;
pub use history::{ENOUGH, History, TooLittle};
pub use night::{Case, Due, Forecast, Night, RoleForecast, Sum};
pub use purses::Ended;
pub use windows::WindowEnd;

#[cfg(test)]
mod tests;
