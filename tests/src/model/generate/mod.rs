//! Google's Generative Language API, which Gemini CLI speaks: reading a request, and the events of an answer.

mod asked;
mod sent;

pub(super) use asked::{Asked, model_of};
pub(super) use sent::Sent;
