//! The transport of a client that started us: a message a line, on standard input and output.
//!
//! The SDK has one, too. It drops a line that is too long without a word, answers what it cannot read without
//! its number, so that a client waits for ever, keeps what a client does not read without a bound, and where pipes are sockets
//! (those of Node.js) a process that is told to end waits for its client to close them. This one has a thread of
//! its own for each pipe.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{
    QuitReason, RxJsonRpcMessage, ServerInitializeError, ServiceExt, TxJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::desk::Standing;
use crate::lines::{Line, hand_on};
use crate::server::Server;

/// The longest message that is read.
const LONGEST: usize = 1 << 20;

/// Messages that wait to be written, and lines that wait to be read: a client that does not read is not
/// read from, either.
const WAITING: usize = 64;

/// Lines in a row that are no messages: who sends more speaks something else.
const BAD_LINES: usize = 100;

/// How long a client may take to read what was written last.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A conversation that did not come about, or broke.
#[derive(Debug, Error)]
pub enum StdioError {
    /// There is no thread to be had.
    #[error("the system gives no thread for standard input and output")]
    Thread(#[source] io::Error),
    /// The client did not begin as the protocol says.
    #[error("the client did not begin as the protocol says: {0}")]
    Begin(String),
    /// Something in it panicked.
    #[error("the conversation broke")]
    Broke(#[source] tokio::task::JoinError),
}

/// Answers the client at these pipes until its end of them closes, or `stop` says so.
///
/// # Errors
/// When there are no threads, or the client does not begin as the protocol says.
pub async fn serve(
    standing: Arc<dyn Standing>,
    from: impl Read + Send + 'static,
    to: impl Write + Send + 'static,
    stop: impl Future<Output = ()>,
) -> Result<(), StdioError> {
    let pipes = Pipes::open(from, to).map_err(StdioError::Thread)?;
    let talk = async {
        let running = match Server::new(standing).serve(pipes).await {
            Ok(running) => running,
            // Nobody said anything: an end like every other.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(StdioError::Begin(began(&error))),
        };
        match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(StdioError::Broke(error)),
            Ok(_) => Ok(()),
        }
    };
    tokio::select! {
        ended = talk => ended,
        () = stop => Ok(()),
    }
}

/// In one line: the SDK's words hold the whole message.
fn began(error: &ServerInitializeError) -> String {
    match error {
        ServerInitializeError::ExpectedInitializeRequest(_) => {
            "its first message is not `initialize`".to_owned()
        }
        error => error.to_string().chars().take(300).collect(),
    }
}

/// The two pipes.
struct Pipes {
    lines: mpsc::Receiver<Line>,
    out: Option<mpsc::Sender<Vec<u8>>>,
    written: Option<oneshot::Receiver<()>>,
    bad: usize,
}

impl Pipes {
    fn open(from: impl Read + Send + 'static, to: impl Write + Send + 'static) -> io::Result<Self> {
        let (line, lines) = mpsc::channel(WAITING);
        let (out, messages) = mpsc::channel(WAITING);
        let (done, written) = oneshot::channel();
        thread("mcp-in", move || {
            if let Err(error) = hand_on(from, LONGEST, &line) {
                tracing::error!(%error, "standard input broke");
            }
        })?;
        thread("mcp-out", move || {
            if let Err(error) = write_all(to, messages) {
                tracing::debug!(%error, "the client reads no more");
            }
            let _ = done.send(());
        })?;
        Ok(Self {
            lines,
            out: Some(out),
            written: Some(written),
            bad: 0,
        })
    }

    /// The message of a line; what is none is said, as long as somebody listens.
    fn read(&mut self, line: &Line) -> Option<RxJsonRpcMessage<RoleServer>> {
        let problem = match line {
            Line::Whole(line) if line.trim_ascii().is_empty() => return None,
            Line::Whole(line) => match serde_json::from_slice(line) {
                Ok(message) => {
                    self.bad = 0;
                    return Some(message);
                }
                Err(error) => unreadable(line, &error)?,
            },
            Line::TooLong => {
                let said = format!("a message of more than {LONGEST} bytes is not read");
                (ErrorData::invalid_request(said, None), None)
            }
        };
        self.bad += 1;
        let (error, id) = problem;
        let answer = ServerJsonRpcMessage::error(error, id);
        if let (Some(out), Ok(answer)) = (&self.out, written(&answer)) {
            // A client that does not read gets no complaint either.
            let _ = out.try_send(answer);
        }
        None
    }
}

/// What is said of a line that is no message of the protocol; nothing of a notification, which nobody
/// waits for.
fn unreadable(line: &[u8], error: &serde_json::Error) -> Option<(ErrorData, Option<RequestId>)> {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return Some((
            ErrorData::parse_error(format!("no JSON: {error}"), None),
            None,
        ));
    };
    let id = value.get("id").cloned();
    if id.is_none() && value.get("method").is_some() {
        return None;
    }
    let id = id.and_then(|id| serde_json::from_value(id).ok());
    let said = "no message of the protocol";
    Some((ErrorData::invalid_request(said, None), id))
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let named = std::thread::Builder::new().name(name.to_owned());
    named.spawn(work).map(drop)
}

fn write_all(mut to: impl Write, mut messages: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
    while let Some(message) = messages.blocking_recv() {
        to.write_all(&message)?;
        to.flush()?;
    }
    Ok(())
}

fn written(message: &TxJsonRpcMessage<RoleServer>) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

fn gone() -> io::Error {
    io::Error::from(io::ErrorKind::BrokenPipe)
}

impl Transport<RoleServer> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let out = self.out.clone();
        async move {
            let line = written(&item)?;
            let out = out.ok_or_else(gone)?;
            out.send(line).await.map_err(|_| gone())
        }
    }

    /// The next message. Dropped half-way it has taken nothing.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // Nothing is read while the client does not.
            drop(self.out.as_ref()?.reserve().await.ok()?);
            let line = self.lines.recv().await?;
            if let Some(message) = self.read(&line) {
                return Some(message);
            }
            if self.bad >= BAD_LINES {
                tracing::error!("{BAD_LINES} lines in a row were no messages: the client is left");
                return None;
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        drop(self.out.take());
        if let Some(written) = self.written.take() {
            let _ = tokio::time::timeout(LAST_WORDS, written).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
