//! One server: a child that is talked to by lines of JSON.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use carson_core::untrusted::one_line;
use carson_proc::{Cancel, Command, Limits, Line, Stdin, StopReason, Stream, converse};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::wire::{NEWEST_WITH_HANDSHAKE, Said, client, is_known, meta, said, speaks_newest};

/// How long a server may take to end by itself.
const GOODBYE: Duration = Duration::from_millis(500);
/// How long is waited for an answer of the newest version before the handshake of older ones.
const DISCOVER: Duration = Duration::from_secs(5);
/// Messages that may wait to be read; who sends more is not heard.
const WAITING: usize = 16;
/// The longest that one lives.
const LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// Most characters of what it complains of.
const COMPLAINT: usize = 200;
/// Bytes of output that end it.
const OUTPUT_MAX: u64 = 256 * 1024 * 1024;

/// What goes wrong with a server.
#[derive(Debug, Error)]
pub enum ServerError {
    /// It does not answer in time.
    #[error("no answer to {method} within {} s", .time.as_secs())]
    Silent {
        /// What was asked.
        method: String,
        /// How long was waited.
        time: Duration,
    },
    /// It is gone.
    #[error("it has ended: {0}")]
    Gone(String),
    /// It says that it cannot.
    #[error("{0}")]
    Refused(String),
    /// It speaks another version of the protocol.
    #[error("it speaks version {0:?} of the protocol, which is not known here")]
    Version(String),
    /// It answered with a line that nobody takes.
    #[error("its answer is longer than 1 MiB")]
    TooLong,
}

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    sender: mpsc::Sender<Vec<u8>>,
    lines: mpsc::Receiver<Said>,
    cancel: Cancel,
    running: JoinHandle<()>,
    /// Its last line of standard error.
    complaint: Arc<Mutex<String>>,
    last_id: u64,
    /// The question that is waited for: answers to others are nobody's.
    awaited: Arc<AtomicU64>,
    /// Whether it speaks a version with a handshake; else each request says what we are.
    handshake: bool,
}

impl Server {
    /// Starts one. `kept` stays until it has ended: what its walls need, say. A program that does not start is
    /// [`ServerError::Gone`] at the first question.
    #[must_use]
    pub fn start(mut command: Command, kept: impl Send + 'static) -> Self {
        command.stdin = Stdin::Sent;
        let (sender, sent) = mpsc::channel(16);
        let (heard, lines) = mpsc::channel(WAITING);
        let closing = heard.clone();
        let complaint = Arc::new(Mutex::new(String::new()));
        let (noted, unheard) = (Arc::clone(&complaint), Arc::clone(&complaint));
        let cancel = Cancel::new();
        let stop = cancel.clone();
        let awaited = Arc::new(AtomicU64::new(0));
        let meant = Arc::clone(&awaited);
        let running = tokio::spawn(async move {
            let limits = Limits {
                grace: Duration::from_secs(1),
                max_output: OUTPUT_MAX,
                keep: 4 * 1024,
                ..Limits::within(LIFE)
            };
            let on_line = |line: Line<'_>| {
                if line.stream == Stream::Stderr {
                    let text = String::from_utf8_lossy(line.bytes);
                    *held(&noted) = one_line(&text, COMPLAINT);
                } else if line.truncated {
                    // Who it was for stands nowhere: somebody is waiting for it.
                    let _ = heard.try_send(Said::TooLong);
                } else if let Some(said) = said(line.bytes) {
                    let meant = meant.load(Ordering::Relaxed);
                    if !matches!(said, Said::Answer { id, .. } if id != meant) {
                        let _ = heard.try_send(said);
                    }
                }
                ControlFlow::Continue(())
            };
            match converse(&command, &limits, &stop, sent, on_line).await {
                Err(error) => *held(&unheard) = error.to_string(),
                Ok(done) => {
                    if let Some(StopReason::OutputCap) = done.stopped {
                        *held(&unheard) = "it printed more than 256 MB".to_owned();
                    }
                }
            }
            drop(kept);
            // Only now does who asks hear that nobody is there.
            drop(closing);
        });
        Self {
            sender,
            lines,
            cancel,
            running,
            complaint,
            last_id: 0,
            awaited,
            handshake: false,
        }
    }

    /// Agrees on a version: the newest, which has no handshake, or what an older server answers to one.
    ///
    /// # Errors
    /// When it does not answer, or speaks none that is known.
    pub async fn agree(&mut self, time: Duration) -> Result<(), ServerError> {
        let discovered = self.request("server/discover", json!({}), DISCOVER).await;
        match discovered {
            Ok(result) if speaks_newest(&result) => return Ok(()),
            // Older servers refuse what they do not know, or say nothing before the handshake.
            Ok(_) | Err(ServerError::Refused(_) | ServerError::Silent { .. }) => {}
            Err(gone) => return Err(gone),
        }
        self.handshake = true;
        let params = json!({
            "protocolVersion": NEWEST_WITH_HANDSHAKE,
            "capabilities": {},
            "clientInfo": client(),
        });
        let result = self.request("initialize", params, time).await?;
        let version = result["protocolVersion"].as_str().unwrap_or_default();
        if !is_known(version) {
            return Err(ServerError::Version(version.chars().take(40).collect()));
        }
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// When there is none in time, or it is a refusal.
    pub async fn request(
        &mut self,
        method: &str,
        mut params: Value,
        time: Duration,
    ) -> Result<Value, ServerError> {
        if !self.handshake {
            params["_meta"] = meta();
        }
        self.last_id += 1;
        let id = self.last_id;
        self.awaited.store(id, Ordering::Relaxed);
        let ends_at = Instant::now() + time;
        let asked = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let silent = || ServerError::Silent {
            method: method.to_owned(),
            time,
        };
        // What was said before is no answer to this.
        while Instant::now() < ends_at
            && let Ok(earlier) = self.lines.try_recv()
        {
            if let Said::Question(answer) = earlier {
                let _ = timeout_at(ends_at, self.send(&answer)).await;
            }
        }
        let sent = timeout_at(ends_at, self.send(&asked)).await;
        sent.map_err(|_| silent())??;
        // Whoever says something all the time is never waited for: no timeout comes then.
        while Instant::now() < ends_at {
            let heard = timeout_at(ends_at, self.lines.recv()).await;
            match heard.map_err(|_| silent())?.ok_or_else(|| self.gone())? {
                Said::Answer { id: to, result } if to == id => {
                    return result.map_err(ServerError::Refused);
                }
                Said::TooLong => return Err(ServerError::TooLong),
                // To a question that was given up.
                Said::Answer { .. } => {}
                Said::Question(answer) => {
                    let answered = timeout_at(ends_at, self.send(&answer)).await;
                    answered.map_err(|_| silent())??;
                }
            }
        }
        Err(silent())
    }

    async fn send(&self, message: &Value) -> Result<(), ServerError> {
        let line = format!("{message}\n").into_bytes();
        self.sender.send(line).await.map_err(|_| self.gone())
    }

    fn gone(&self) -> ServerError {
        ServerError::Gone(match held(&self.complaint).as_str() {
            "" => "it said nothing".to_owned(),
            said => said.to_owned(),
        })
    }

    /// Lets it end by itself, for a moment.
    pub async fn end(self) {
        let Self {
            sender,
            cancel,
            mut running,
            ..
        } = self;
        drop(sender);
        if timeout(GOODBYE, &mut running).await.is_err() {
            cancel.cancel();
            let _ = running.await;
        }
    }
}

fn held(complaint: &Mutex<String>) -> MutexGuard<'_, String> {
    complaint.lock().unwrap_or_else(PoisonError::into_inner)
}
