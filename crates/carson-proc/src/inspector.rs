//! Questions about what a session wrote, answered by a confined child.
//!
//! # Theory of operation
//!
//! A session's files are hostile: whoever reads them may be made to run code, to wait for ever or to
//! eat the machine's memory. So no process that matters reads them. It asks a [`Question`] of an
//! [`Inspector`], which starts our own executable once more behind walls of its own ([`Desk`]): it
//! sees what the question is about and nothing else, writes one directory, has no network and no
//! environment, and its time, memory, processes and output are bounded ([`Bounds`]). The question goes in by
//! its standard input, the answer comes back as one typed value. Whatever else happens (it is killed,
//! stays silent, prints garbage) is an [`InspectError`], after which nothing is known and nothing is
//! lost.
//!
//! The child is ours until it reads; what it answers is only as true as it was able to stay. So an
//! answer is a claim about a session's files and never a secret, and what it made in its directory
//! is checked for its form by whoever takes it over.
//!
//! [`answer_if_asked`] is the child's side, beside the launcher's in `main`.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio::sync::oneshot;

use crate::command::Command;
use crate::error::SpawnError;
use crate::finished::{Exit, Finished, StopReason};
use crate::limits::Limits;
use crate::own::own_program;
use crate::run::capture_fed;
use crate::sandbox::{Demand, Network, Overlay, Profile, Resources, UNMET};

/// The first argument that makes an executable of ours the child.
pub const INSPECT: &str = "inspector";

/// The small program of its own that answers the same, where it lies beside our executable.
const SMALL: &str = "carson-inspect";

/// Bytes of a question; it is ours, so this is against mistakes.
const QUESTION: u64 = 64 << 20;

/// Something to be found out about what a session wrote.
pub trait Question: Serialize + DeserializeOwned + Send + 'static {
    /// Its name on the child's command line.
    const NAME: &'static str;
    /// What comes back.
    type Answer: Serialize + DeserializeOwned + Send + 'static;

    /// Finds it out; this is what runs in the child.
    ///
    /// # Errors
    /// Why there is no answer, in words for the operator.
    fn answer(self) -> Result<Self::Answer, String>;
}

/// What a child may see and do.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    /// A directory of ours, for the profile; nothing that the child may write.
    pub own: PathBuf,
    /// Programs that it starts; their directories become its `PATH`, before the system's.
    pub programs: Vec<PathBuf>,
    /// What it reads, beside the system's programs and these.
    pub read: Vec<PathBuf>,
    /// What it writes.
    pub write: Vec<PathBuf>,
    /// Trees among these that are put together of others.
    pub overlays: Vec<Overlay>,
}

/// How much a child may use.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Total time.
    pub wall_clock: Duration,
    /// Memory of it and its own children, in MiB.
    pub memory_mb: u64,
    /// The largest file that it writes, in MiB.
    pub file_size_mb: u64,
    /// Bytes of its answer.
    pub answer: usize,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum InspectError {
    /// The child did not start.
    #[error("the inspector could not be started")]
    Start(#[from] SpawnError),
    /// Its profile could not be written, or the question could not be put.
    #[error("the inspector could not be asked: {0}")]
    Ask(String),
    /// It could not put up its walls.
    #[error("the inspector has no walls: {0}")]
    Unconfined(String),
    /// It took too long.
    #[error("the inspector did not end within {} s: what it looked at is too large", within.as_secs())]
    Slow {
        /// Its time.
        within: Duration,
    },
    /// It was killed, most likely for the memory that it took.
    #[error("the inspector was ended by {exit:?}: what it looked at is too large, or broken")]
    Died {
        /// How it ended.
        exit: Exit,
    },
    /// It looked, and says why it cannot answer.
    #[error("{0}")]
    Refused(String),
    /// Its answer is none.
    #[error("the inspector's answer cannot be read: {0}")]
    Garbled(String),
}

/// Whom to ask.
#[derive(Clone, Debug)]
pub struct Inspector(Asked);

#[derive(Clone, Debug)]
enum Asked {
    Child(PathBuf),
    #[cfg(feature = "testing")]
    Here,
}

impl Inspector {
    /// Children of this executable, whose `main` calls [`answer_if_asked`], or of the small program beside
    /// it that does nothing else: most of what a short answer costs is the start of a large one.
    #[must_use]
    pub fn of(program: impl Into<PathBuf>) -> Self {
        Self(Asked::Child(program.into()))
    }

    /// The process itself, without walls or bounds: for tests of a library, which have no executable
    /// that could be asked.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn here() -> Self {
        Self(Asked::Here)
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// Each of [`InspectError`]; nothing is known then.
    pub async fn ask<Q: Question>(
        &self,
        question: &Q,
        desk: &Desk,
        bounds: &Bounds,
    ) -> Result<Q::Answer, InspectError> {
        let first = async { Ok::<_, std::convert::Infallible>(()) };
        let asked = self.ask_after(first, question, desk, bounds).await;
        asked.unwrap_or_else(|never| match never {}).1
    }

    /// Asks once `first` went well, which always comes to its end; what it says, and the answer. Meanwhile the
    /// child starts and puts its walls up, so `desk` must name what is there already; its time begins now. When
    /// `first` fails nothing is asked, and its error is the outer one.
    ///
    /// # Errors
    /// Inside each of [`InspectError`]; nothing is known then.
    pub async fn ask_after<Q: Question, T, E>(
        &self,
        first: impl Future<Output = Result<T, E>>,
        question: &Q,
        desk: &Desk,
        bounds: &Bounds,
    ) -> Result<(T, Result<Q::Answer, InspectError>), E> {
        let asked = written(question);
        let first = async { Ok((first.await?, asked)) };
        self.put::<Q, T, E>(first, desk, bounds).await
    }

    /// Asks what is known only later: the same with a question that `first` comes to.
    ///
    /// # Errors
    /// Inside each of [`InspectError`]; nothing is known then.
    pub async fn ask_when<Q: Question, E>(
        &self,
        first: impl Future<Output = Result<Q, E>>,
        desk: &Desk,
        bounds: &Bounds,
    ) -> Result<Result<Q::Answer, InspectError>, E> {
        let first = async { Ok(((), written(&first.await?))) };
        Ok(self.put::<Q, (), E>(first, desk, bounds).await?.1)
    }

    /// Puts the question that `first` comes to, as the child reads it.
    async fn put<Q: Question, T, E>(
        &self,
        first: impl Future<Output = Result<(T, Result<Vec<u8>, InspectError>), E>>,
        desk: &Desk,
        bounds: &Bounds,
    ) -> Result<(T, Result<Q::Answer, InspectError>), E> {
        let (went, answer) = match &self.0 {
            Asked::Child(program) => {
                let (say, said) = oneshot::channel();
                // Both come to their end, whatever becomes of the other.
                let first = async {
                    let (went, asked) = first.await?;
                    // Without a question the child has nothing to answer.
                    let asked = asked.map(|asked| drop(say.send(asked)));
                    Ok((went, asked))
                };
                let input = async { said.await.unwrap_or_default() };
                let answer = ask_child(program, Q::NAME, input, desk, bounds);
                let (went, answer) = tokio::join!(first, answer);
                let (went, asked) = went?;
                (went, asked.and(answer))
            }
            #[cfg(feature = "testing")]
            Asked::Here => {
                let (went, asked) = first.await?;
                let answer = match asked {
                    Ok(asked) => answer_here::<Q>(asked).await,
                    Err(error) => Err(error),
                };
                (went, answer)
            }
        };
        let read = |answer: Vec<u8>| {
            serde_json::from_slice(&answer)
                .map_err(|error| InspectError::Garbled(error.to_string()))
        };
        Ok((went, answer.and_then(read)))
    }
}

/// A question as the child reads it.
fn written(question: &impl Question) -> Result<Vec<u8>, InspectError> {
    serde_json::to_vec(question).map_err(|error| InspectError::Ask(error.to_string()))
}

#[cfg(feature = "testing")]
async fn answer_here<Q: Question>(asked: Vec<u8>) -> Result<Vec<u8>, InspectError> {
    match tokio::task::spawn_blocking(move || reply::<Q>(&asked)).await {
        Ok(replied) => replied.map_err(InspectError::Refused),
        Err(panic) => Err(InspectError::Garbled(panic.to_string())),
    }
}

async fn ask_child(
    program: &Path,
    name: &str,
    asked: impl Future<Output = Vec<u8>>,
    desk: &Desk,
    bounds: &Bounds,
) -> Result<Vec<u8>, InspectError> {
    // Where sessions write, it may be one of theirs.
    let small = own_program(&program.with_file_name(SMALL), None);
    let program = small.unwrap_or_else(|| program.to_owned());
    let profile = desk.own.join(format!("{name}.json"));
    let unmade =
        |error: std::io::Error| InspectError::Ask(format!("{}: {error}", profile.display()));
    match std::fs::remove_file(&profile) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unmade(error)),
        _ => {}
    }
    walls(&program, desk, bounds)
        .write_to(&profile)
        .map_err(unmade)?;
    let command = Command::new(program.as_path(), "/")
        .args([INSPECT, name])
        .env("PATH", path(desk))
        .stdin_bytes(Vec::new())
        .confined(&profile);
    let limits = Limits {
        keep: bounds.answer,
        max_output: bounds.answer as u64,
        grace: Duration::from_millis(100),
        ..Limits::within(bounds.wall_clock)
    };
    answer_of(capture_fed(&command, &limits, asked).await?, bounds)
}

fn answer_of(done: Finished, bounds: &Bounds) -> Result<Vec<u8>, InspectError> {
    match (done.stopped, done.exit) {
        (Some(StopReason::OutputCap), _) => Err(InspectError::Garbled("it is too long".to_owned())),
        (Some(_), _) => Err(InspectError::Slow {
            within: bounds.wall_clock,
        }),
        (None, Exit::Code(0)) => Ok(done.stdout.bytes()),
        (None, Exit::Code(1)) => Err(InspectError::Refused(last_line(&done))),
        (None, Exit::Code(code)) if code == i32::from(UNMET) => {
            Err(InspectError::Unconfined(last_line(&done)))
        }
        (None, exit) => Err(InspectError::Died { exit }),
    }
}

fn last_line(done: &Finished) -> String {
    let said = done.stderr.text();
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    last.unwrap_or("it does not say why").trim().to_owned()
}

fn path(desk: &Desk) -> OsString {
    let own = desk.programs.iter().filter_map(|program| program.parent());
    let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    // A directory with a colon in its name cannot be on a path.
    std::env::join_paths(own.chain(system)).unwrap_or_else(|_| "/usr/bin:/bin".into())
}

/// Seconds of processor time beyond its total time: it has more than one thread of work at times.
const CPUS: u64 = 4;

fn walls(program: &Path, desk: &Desk, bounds: &Bounds) -> Profile {
    let mut read = Profile::system_reads();
    for program in desk.programs.iter().map(PathBuf::as_path).chain([program]) {
        read.extend(program.canonicalize());
        read.push(program.to_owned());
    }
    read.extend(desk.read.iter().cloned());
    Profile {
        demand: Demand::BestEffort,
        read,
        write: desk.write.clone(),
        hide: Profile::system_secrets(),
        shared: Vec::new(),
        overlays: desk.overlays.clone(),
        network: Network::Nobody,
        resources: Resources {
            processes: Some(32),
            file_size_mb: Some(bounds.file_size_mb),
            open_files: Some(1024),
            memory_mb: Some(bounds.memory_mb),
            tree_memory_mb: None,
            cpu_seconds: Some(bounds.wall_clock.as_secs().saturating_mul(CPUS).max(1)),
        },
        force: None,
    }
}

/// A kind of question that an executable answers.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    name: &'static str,
    reply: fn(&[u8]) -> Result<Vec<u8>, String>,
}

impl Kind {
    /// That of a type.
    #[must_use]
    pub const fn of<Q: Question>() -> Self {
        Self {
            name: Q::NAME,
            reply: reply::<Q>,
        }
    }
}

fn reply<Q: Question>(asked: &[u8]) -> Result<Vec<u8>, String> {
    let question: Q = serde_json::from_slice(asked).map_err(|error| error.to_string())?;
    serde_json::to_vec(&question.answer()?).map_err(|error| error.to_string())
}

/// Answers a question if the command line says so; `None` for an ordinary start.
///
/// To be called in `main` beside [`launch_if_asked`](crate::sandbox::launch_if_asked).
#[must_use]
pub fn answer_if_asked(kinds: &[Kind]) -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != INSPECT {
        return None;
    }
    let name = args.next().unwrap_or_default();
    outlive_file_bound();
    let answered = kinds
        .iter()
        .find(|kind| name == kind.name)
        .ok_or_else(|| format!("no question has the name {name:?}"))
        .and_then(|kind| (kind.reply)(&question()?))
        .and_then(|answer| {
            let mut out = std::io::stdout().lock();
            let said = out.write_all(&answer).and_then(|()| out.flush());
            said.map_err(|error| error.to_string())
        });
    Some(match answered {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "{}", why.replace('\n', " "));
            ExitCode::FAILURE
        }
    })
}

/// A file that would become larger than its bound is an error of whoever writes it, and not the end of all.
#[expect(unsafe_code, reason = "a signal is ignored")]
fn outlive_file_bound() {
    let ignored = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    // SAFETY: nothing of ours runs when it comes.
    let _ = unsafe { sigaction(Signal::SIGXFSZ, &ignored) };
}

fn question() -> Result<Vec<u8>, String> {
    let mut asked = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(QUESTION)
        .read_to_end(&mut asked);
    read.map(|_| asked).map_err(|error| error.to_string())
}
