//! Vectors of texts, made on this machine: `carson-embedder DIR` answers `POST /v1/embeddings` on a loopback address, in
//! OpenAI's form, with all-MiniLM-L6-v2.
//!
//! # Theory of operation
//!
//! A directory has the model ([`files`]): its sums are known, and another one is refused rather than have vectors kept
//! under a name that they do not belong to. [`model`] makes of a text its tokens, 256 at most, of these a vector each, and of
//! these their mean of length 1. A text's vector depends on nothing else: texts are never put together.
//!
//! One thread thinks ([`thread`]). Whoever asks hands it one text, waits for it, and hands it the next: so who asks for one
//! vector waits for one text of each other, and not for the hundred that somebody makes anew. What is asked is bounded in
//! bytes, texts and connections ([`server`]), and answered as OpenAI answers ([`wire`]).
//!
//! It listens on loopback addresses alone, and answers only who calls it by such a name: a page in a browser that found
//! its way here under a name of its own is refused. It asks nobody anything, reads its directory once, and writes nothing
//! but one line with its address.
//!
//! Reading order: `args.rs`, `files.rs`, `model.rs`, `thread.rs`, `wire.rs`, `server.rs`.

pub mod args;
pub mod files;
pub mod model;
pub mod server;
pub mod thread;
pub mod wire;
