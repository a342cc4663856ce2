//! What answers are made of.

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;

/// The body of an answer.
pub(crate) type Body = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;
