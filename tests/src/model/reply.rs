//! What a rule answers: a concrete answer, or a choice between several.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::answer::{Answer, Body, envelope};
use super::{Gate, Message, Request};

/// What a rule answers. Choices nest: `sessions([turns([…]), turns([…])])` is a whole play.
#[derive(Clone)]
pub enum Reply {
    /// A complete assistant message.
    Message(Message),
    /// An HTTP status with a body; see [`Reply::error`] for the provider's own kind of error.
    Status {
        /// The status code.
        code: u16,
        /// The body, sent as `application/json` unless a header says otherwise.
        body: String,
    },
    /// Another reply with extra response headers.
    WithHeaders(Vec<(String, String)>, Box<Reply>),
    /// The request is read and never answered. Ends when the client leaves.
    Hang,
    /// The stream of this message breaks off in the middle of its first block.
    CutStream(Message),
    /// Another reply, held back until the gate opens.
    Held(Gate, Box<Reply>),
    /// One reply per turn; see [`Reply::turns`].
    Turns(Vec<Reply>),
    /// One reply per request that comes here; see [`Reply::requests`].
    Requests(Counted),
    /// One reply per session that comes here; see [`Reply::sessions`].
    Sessions(Counted),
    /// A reply computed from the request; see [`Reply::with`].
    With(Computed),
}

/// Replies handed out in the order in which requests or sessions come.
#[derive(Clone)]
pub struct Counted {
    replies: Vec<Reply>,
    // Shared between clones, so that a rule keeps counting when it is cloned for one answer.
    seen: Arc<Mutex<Vec<String>>>,
}

/// A function from request to reply.
#[derive(Clone)]
pub struct Computed(Arc<dyn Fn(&Request) -> Reply + Send + Sync>);

impl fmt::Debug for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Computed")
    }
}

impl From<Message> for Reply {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

impl Reply {
    /// An error status with the provider's error envelope, such as
    /// `error(529, "overloaded_error", "Overloaded")`.
    #[must_use]
    pub fn error(code: u16, kind: &str, message: &str) -> Self {
        Self::Status {
            code,
            body: envelope(kind, message),
        }
    }

    /// One reply per turn of a session: the first answers the prompt, the next the first tool
    /// results, and so on; the last repeats. The turn is read off the request, so a retry of the
    /// same request gets the same reply.
    #[must_use]
    pub fn turns(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::Turns(replies.into_iter().collect())
    }

    /// One reply per request that comes here, retries included; the last repeats.
    #[must_use]
    pub fn requests(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::Requests(Counted::new(replies))
    }

    /// One reply per session that comes here, in the order of their first requests; the last
    /// repeats.
    #[must_use]
    pub fn sessions(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::Sessions(Counted::new(replies))
    }

    /// A reply computed from the request, for what a test cannot know beforehand, such as the
    /// session's working directory.
    #[must_use]
    pub fn with(reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::With(Computed(Arc::new(reply)))
    }

    /// This reply with one more response header.
    #[must_use]
    pub fn header(self, name: &str, value: impl fmt::Display) -> Self {
        self.headers([(name.to_owned(), value.to_string())])
    }

    /// This reply with more response headers.
    #[must_use]
    pub fn headers(self, headers: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::WithHeaders(headers.into_iter().collect(), Box::new(self))
    }

    /// This reply, held back until the gate opens.
    #[must_use]
    pub fn held(self, gate: &Gate) -> Self {
        Self::Held(gate.clone(), Box::new(self))
    }

    /// Makes every choice for this request; `None` when a choice has nothing to choose from.
    pub(super) fn answer(&self, request: &Request) -> Option<Answer> {
        match self {
            Self::Message(message) => Some(Body::Message(message.clone()).into()),
            Self::Status { code, body } => Some(
                Body::Status {
                    code: *code,
                    body: body.clone(),
                }
                .into(),
            ),
            Self::WithHeaders(headers, reply) => Some(reply.answer(request)?.with_headers(headers)),
            Self::Hang => Some(Body::Hang.into()),
            Self::CutStream(message) => Some(Body::CutStream(message.clone()).into()),
            Self::Held(gate, reply) => Some(reply.answer(request)?.held(gate)),
            Self::Turns(replies) => nth_or_last(replies, request.turn())?.answer(request),
            Self::Requests(counted) => counted.for_request()?.answer(request),
            Self::Sessions(counted) => counted.for_session(request.session())?.answer(request),
            Self::With(computed) => computed.0(request).answer(request),
        }
    }
}

impl Counted {
    fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            replies: replies.into_iter().collect(),
            seen: Arc::default(),
        }
    }

    fn for_request(&self) -> Option<&Reply> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(String::new());
        nth_or_last(&self.replies, seen.len() - 1)
    }

    fn for_session(&self, session: &str) -> Option<&Reply> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let nth = seen
            .iter()
            .position(|known| known == session)
            .unwrap_or_else(|| {
                seen.push(session.to_owned());
                seen.len() - 1
            });
        nth_or_last(&self.replies, nth)
    }
}

fn nth_or_last(replies: &[Reply], nth: usize) -> Option<&Reply> {
    replies.get(nth).or(replies.last())
}
