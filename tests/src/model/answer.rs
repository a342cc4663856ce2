//! One concrete answer, after every choice of a [`super::Reply`] was made.

use serde_json::json;

use super::{Gate, Message};

/// What is sent for one request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) headers: Vec<(String, String)>,
    pub(super) gates: Vec<Gate>,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    Message(Message),
    Status { code: u16, body: String },
    Hang,
    CutStream(Message),
}

impl From<Body> for Answer {
    fn from(body: Body) -> Self {
        Self {
            headers: Vec::new(),
            gates: Vec::new(),
            body,
        }
    }
}

impl Answer {
    /// A status with the provider's error envelope.
    pub(super) fn error(code: u16, kind: &str, message: &str) -> Self {
        Body::Status {
            code,
            body: envelope(kind, message),
        }
        .into()
    }

    pub(super) fn with_headers(mut self, headers: &[(String, String)]) -> Self {
        self.headers.extend_from_slice(headers);
        self
    }

    pub(super) fn held(mut self, gate: &Gate) -> Self {
        self.gates.push(gate.clone());
        self
    }
}

/// The body of every error of the provider.
pub(super) fn envelope(kind: &str, message: &str) -> String {
    json!({ "type": "error", "error": { "type": kind, "message": message } }).to_string()
}
