//! OpenAI's Responses API, which Codex speaks: reading a request, and the events of an answer.

mod asked;
mod sent;

pub(super) use asked::Asked;
pub(super) use sent::Sent;
