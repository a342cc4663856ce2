//! An OpenAI-compatible chat endpoint: one request at a time, its answer as a bounded stream.
//!
//! Reading order: `wire.rs` (what is sent and read), `sse.rs` and `stream.rs` (the answer as it comes),
//! `text_tools.rs` (for models without tool calling), `retry.rs`, `endpoint.rs`.

pub mod endpoint;
mod retry;
mod sse;
pub mod stream;
pub mod text_tools;
pub mod wire;
