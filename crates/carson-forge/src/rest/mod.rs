//! REST APIs: what every forge behind one needs, and none should have to write again. Requests with
//! bounds ([`Client`]), and what a refusal means.

mod client;
mod refusal;

pub(crate) use client::{Client, Dialect};
pub(crate) use refusal::number;
