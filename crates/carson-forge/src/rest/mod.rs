//! REST APIs: what every forge behind one needs, and none should have to write again. Requests with
//! bounds ([`Client`]), lists that are asked for again and again, what a refusal means, and whose token
//! it is.

mod answers;
mod client;
mod log;
mod memory;
mod pages;
mod refusal;
mod tokens;

pub(crate) use answers::Answers;
pub(crate) use client::{Client, Dialect};
pub(crate) use memory::Memory;
pub(crate) use pages::Query;
pub(crate) use refusal::number;
pub(crate) use tokens::{Fixed, Tokens};
