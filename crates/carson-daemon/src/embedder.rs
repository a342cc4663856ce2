//! The embedder of this machine, kept running (`memory.embedder_dir`).

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use carson_config::EmbedderAt;
use carson_core::Event;
use carson_home::{EMBEDDER, Home};
use carson_proc::{Cancel, Command, Limits, Stdin, converse};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tracing::{info, warn};

use crate::jobs::Shared;

/// Then it is started anew: no child has no end.
const LIFE: Duration = Duration::from_secs(24 * 3_600);
/// The first wait before it is started again; each one that follows an early end doubles.
const FIRST: Duration = Duration::from_secs(1);
/// The longest of them.
const LONGEST: Duration = Duration::from_secs(600);
/// Who lived so long had a good start.
const STEADY: Duration = Duration::from_secs(60);

/// What is kept running now. Dropping it ends that.
#[derive(Default)]
pub(crate) struct Kept(Option<Running>);

struct Running {
    at: EmbedderAt,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Dropping what runs a child kills the child.
        self.task.abort();
    }
}

impl Kept {
    /// Keeps running what the settings of now say.
    pub(crate) fn follow(&mut self, shared: &Shared) {
        let home = shared.read().unwrap_or_else(PoisonError::into_inner);
        let memory = &home.fleet.memory;
        let wanted = memory
            .embedder
            .clone()
            .filter(|at| at.dir.is_some() && !memory.killed);
        if self.0.as_ref().map(|running| &running.at) == wanted.as_ref() {
            return;
        }
        // The old one lets its address go first.
        self.0 = None;
        let home = home.clone();
        self.0 = wanted.map(|at| Running {
            task: tokio::spawn(keep(home, at.clone())),
            at,
        });
    }
}

/// Starts it, and again when it ends, later each time that it ends early; for as long as somebody wants it.
async fn keep(home: Home, at: EmbedderAt) {
    let mut wait = FIRST;
    let mut is_told = false;
    loop {
        let began = Instant::now();
        let why = match started(&home, &at) {
            Ok(command) => ended(&command).await,
            Err(why) => why,
        };
        let why = home.redactor.redact(&why).into_owned();
        if began.elapsed() >= STEADY {
            (wait, is_told) = (FIRST, false);
        }
        warn!(why, ?wait, "the embedder is started again");
        if !is_told {
            // Once: until it stays, every recall says so too.
            is_told = true;
            let event = Event::MemoryEmbedderEnded { why };
            let now = home.clock.now();
            if let Err(error) = home.store.event(&event, None, None, now).await {
                warn!(%error, "an event could not be written down");
            }
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST);
    }
}

/// What is started, in a directory of nobody's and with no variable of ours.
fn started(home: &Home, at: &EmbedderAt) -> Result<Command, String> {
    let dir = at.dir.as_ref().ok_or("it has no directory")?;
    let listen = at.listen.ok_or("its address has no port")?;
    let program = home.embedder_program().ok_or_else(|| {
        format!("{EMBEDDER} is neither beside carson nor on PATH: cargo install --path embedder")
    })?;
    let mut command = Command::new(program, &home.fleet.layout.root)
        .arg(dir)
        .arg("--listen")
        .arg(listen.to_string())
        // It ends with us, however we end.
        .arg("--until-input-ends");
    command.stdin = Stdin::Sent;
    Ok(command)
}

/// Runs it, and says how it ended.
async fn ended(command: &Command) -> String {
    let (input, sent) = mpsc::channel(1);
    let limits = Limits::within(LIFE);
    let answers = |line: carson_proc::Line<'_>| {
        info!(said = %String::from_utf8_lossy(line.bytes), "the embedder");
        std::ops::ControlFlow::Continue(())
    };
    let finished = converse(command, &limits, &Cancel::new(), sent, answers).await;
    drop(input);
    match finished {
        Ok(finished) => format!("{:?}: {}", finished.exit, finished.stderr.text().trim()),
        Err(error) => error.to_string(),
    }
}
