//! Where logs go: standard error, one line each; the daemon's supervisor keeps them. A firing in a
//! terminal keeps its own, as one of the daemon's does.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use carson_redact::Redactor;
use tracing::Subscriber;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::print;
use crate::terminal::{self, Stream};

/// The log of the firing that this process runs in a terminal.
static KEPT: OnceLock<File> = OnceLock::new();

/// How lines come to standard error.
enum Way {
    /// Whoever logs writes them.
    Straight,
    /// A thread of their own does; where it waits and the queue is full, they are left out.
    Queue(SyncSender<Vec<u8>>),
    /// The end has come.
    Nowhere,
}

static WAY: Mutex<Way> = Mutex::new(Way::Straight);

fn way() -> MutexGuard<'static, Way> {
    WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lines that wait to be written.
const WAITING: usize = 1_024;

/// How long whoever reads them has for the last ones.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// As long as this lives nobody waits for whoever reads standard error.
#[must_use]
pub struct Unwaited(Receiver<()>);

/// What is logged is read by somebody who may not do so: a client of MCP that started us and keeps the pipe.
///
/// # Errors
/// When there is no thread to be had.
pub fn wait_for_nobody() -> io::Result<Unwaited> {
    let (to, lines) = sync_channel::<Vec<u8>>(WAITING);
    let (done, is_done) = sync_channel(1);
    let named = std::thread::Builder::new().name("log".to_owned());
    named.spawn(move || {
        for line in lines {
            let _ = io::stderr().write_all(&line);
        }
        let _ = done.try_send(());
    })?;
    *way() = Way::Queue(to);
    Ok(Unwaited(is_done))
}

impl Drop for Unwaited {
    fn drop(&mut self) {
        *way() = Way::Nowhere;
        let _ = self.0.recv_timeout(LAST_WORDS);
    }
}

/// Starts logging at a level, or as `CARSON_LOG` says.
pub fn start(level: &str, json: bool) {
    let asked = EnvFilter::try_from_env("CARSON_LOG");
    let (asked, colours) = (
        asked.unwrap_or_else(|_| at(level)),
        terminal::has_colours(Stream::Error),
    );
    // As one that the daemon starts has it.
    let kept = lines(false, Kept, false).with_filter(at("info"));
    // A second start (never in one process) would be refused; there is nothing to do about it.
    let _ = match level {
        // What it says is what its starter keeps.
        // One filter for all: those of single layers remember on each thread what they said last, and a question
        // of sqlx's behind which no line follows would leave out the next line of ours.
        "info" => tracing_subscriber::registry()
            .with(asked)
            .with(lines(json, Said, colours))
            .try_init(),
        _ => tracing_subscriber::registry()
            .with(lines(json, Said, colours).with_filter(asked))
            .with(kept)
            .try_init(),
    };
}

/// Keeps what is logged from now on in this file too.
///
/// # Errors
/// When it cannot be written.
pub fn keep(log: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(0o600).open(log)?;
    // There is one firing in a process.
    let _ = KEPT.set(file);
    Ok(())
}

fn at(level: &str) -> EnvFilter {
    // What clients of MCP say of themselves, and what they show to be let in, is in its lines.
    EnvFilter::new(format!(
        "{level},tokio_cron_scheduler=warn,sqlx=warn,hyper=warn,rmcp=warn"
    ))
}

fn lines<S, W>(json: bool, writer: W, colours: bool) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = fmt::layer().with_ansi(colours).with_writer(writer);
    if json {
        lines.json().flatten_event(true).boxed()
    } else {
        lines.with_target(false).boxed()
    }
}

/// Standard error.
struct Said;

/// The firing's own log, once there is one.
struct Kept;

impl MakeWriter<'_> for Said {
    type Writer = Redacted<Self>;

    fn make_writer(&self) -> Self::Writer {
        terminal::clear_live();
        Redacted(print::redactor(), Self)
    }
}

impl Write for Said {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        match &*way() {
            Way::Straight => io::stderr().write_all(event)?,
            Way::Queue(to) => drop(to.try_send(event.to_vec())),
            Way::Nowhere => {}
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Kept {
    type Writer = Redacted<Box<dyn Write>>;

    fn make_writer(&self) -> Self::Writer {
        let file: Box<dyn Write> = match KEPT.get() {
            Some(file) => Box::new(file),
            None => Box::new(io::sink()),
        };
        Redacted(print::redactor(), file)
    }
}

/// A place without secrets. The formatter writes each event in one piece, so nothing is split here.
struct Redacted<W>(Redactor, W);

impl<W: Write> Write for Redacted<W> {
    /// Never fails: a log whose reader went away or whose disk is full ends nothing. The formatter would
    /// say so on standard error, and panic where that is the very place.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let _ = self.1.write_all(&self.0.redact_bytes(event));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.1.flush();
        Ok(())
    }
}
