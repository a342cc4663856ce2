//! A scripted model: a small HTTP server on loopback that speaks Anthropic's Messages to the real
//! Claude Code and opencode, OpenAI's Responses to the real Codex, its Chat Completions to `carson-agent`, and Google's
//! Generative Language API to the real Gemini CLI, all over SSE.
//!
//! # Theory of operation
//! A test starts a [`ScriptedModel`], tells it what to answer with [`ScriptedModel::on`], points a
//! CLI at it with [`claude_env`] or [`codex_env`] and reads afterwards what was asked with
//! [`ScriptedModel::requests`].
//!
//! A rule is a [`When`] and a [`Reply`]. The first rule that matches a request answers it, so the
//! specific rules go first. A request that no rule matches is answered with a 400, which the CLI
//! does not retry, and is listed by [`ScriptedModel::unmatched`]: a script with a hole fails its
//! test at once and says where.
//!
//! Scripts are mostly stateless. [`Reply::turns`] picks by the number of assistant messages the
//! request itself carries, so a retried request gets the same answer. Two replies do keep count:
//! [`Reply::sessions`] (the first session that asks, the second, …: a review that says `[REVISE]`
//! and then `[APPROVE]`) and [`Reply::requests`] (a provider that fails once and then recovers).
//!
//! The server has its own thread and runtime. It keeps answering while a test blocks on a child,
//! with or without a runtime of its own, and goes when the value is dropped.
//!
//! # Reading order
//! [`ScriptedModel`] (`server.rs`), [`Request`], [`When`], [`Reply`] and [`Message`], then what
//! goes over the wire: `sse.rs`, `responses`, `completions.rs`, `generate` and `http.rs`.

mod answer;
mod claude;
mod codex;
mod completions;
mod content;
mod gate;
mod gemini;
mod generate;
mod http;
mod installed;
mod limits;
mod message;
mod opencode;
mod reply;
mod request;
mod responses;
mod server;
mod shorthand;
mod sse;
#[cfg(test)]
mod tests;
mod when;

pub use self::claude::{claude_binary, claude_env, unhooked_claude};
pub use self::codex::{codex_binary, codex_env};
pub use self::content::ToolResult;
pub use self::gate::Gate;
pub use self::gemini::{gemini_binary, gemini_env};
pub use self::limits::{Window, subscription_limit, subscription_usage, too_many_requests};
pub use self::message::{Block, Message};
pub use self::opencode::{OPENCODE_MODEL, opencode_binary, opencode_env};
pub use self::reply::Reply;
pub use self::request::Request;
pub use self::server::ScriptedModel;
pub use self::shorthand::{bash, say, tool, write};
pub use self::when::{When, when};
