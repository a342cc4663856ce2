//! What can be asked of a loop, as data: for the command line and for whoever speaks JSON.
//!
//! Each takes the directory that the caller is in; the nearest loop upward is meant. Those that only look take no lock.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carson_proc::{Cancel, Command, Exit, ProcessId, spawn_detached_to};
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::caller::Caller;
use crate::checkpoint::Checkpoints;
use crate::config::{Changes, Config};
use crate::config_file::{self, ConfigFile};
use crate::digest::Digest;
use crate::error::LoopError;
use crate::event::{Ended, Event, Happened};
use crate::events_file::read_events;
use crate::fold::{interrupted, may_be_made};
use crate::journal::{Journal, judged, state_of};
use crate::json_file::{self, Sync};
use crate::lock::{Lock, Owner, dead_owner_of, holder_of, owner_of};
use crate::meta::{Checked, Meta};
use crate::own_file::{self, How};
use crate::place::{Found, Layout, Place};
use crate::run::{check_alone, check_walled, conclude, end_orphans, rules};
use crate::state::State;
use crate::status::Status;
use crate::stop_file::StopFile;

pub use crate::compare::{Compared, Differs, compare};
pub use crate::rollback::{Mine, RolledBack, rollback};

/// How a loop stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// How it stands.
    pub status: Status,
    /// Attempts that count.
    pub attempt: u32,
    /// So many may.
    pub max_attempts: u32,
    /// What the last attempt printed, without times, ids and the like.
    pub last_output_hash: Option<Digest>,
    /// Whether the promise was kept when it was asked last.
    pub promise_fulfilled: bool,
    /// Why it ended, or what is to be said of it meanwhile.
    pub reason: Option<String>,
    /// The number of the last attempt; stopped ones have numbers, too.
    pub last_attempt: u32,
    /// Milliseconds that it ran so far.
    pub elapsed_ms: u64,
    /// When it began.
    pub started_at: Option<DateTime<Utc>>,
    /// When something happened last.
    pub updated_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// What must exit 0.
    pub promise: Option<String>,
    /// What is run until it does.
    pub task: Option<String>,
    /// Whoever runs it now.
    pub owner: Option<Owner>,
    /// Whoever ran it and died: `carson loop run` goes on.
    pub died: Option<Owner>,
    /// What is wrong with its configuration.
    pub config_error: Option<String>,
    /// What is wrong with its state's file; the answer is what its events come to.
    pub state_error: Option<String>,
    /// The tree.
    pub root: PathBuf,
    /// The loop's own files.
    pub dir: PathBuf,
}

/// The attempts of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct History {
    /// The check before the first attempt.
    pub first_check: Option<Checked>,
    /// Oldest first.
    pub attempts: Vec<Entry>,
    /// Older ones that are left out.
    pub left_out: usize,
    /// One that began and did not end.
    pub under_way: Option<u32>,
    /// Older ones that another program made, ALPF: only their number is known.
    pub adopted: u32,
}

/// An attempt in the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Entry {
    /// What is known of it.
    #[serde(flatten)]
    pub meta: Meta,
    /// What the task printed: its beginning and its end.
    pub output: String,
    /// What the promise printed then.
    pub check_output: String,
}

/// A loop that was begun in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StartAnswer {
    /// Its process.
    pub pid: i32,
    /// How it stands already.
    pub status: Status,
    /// What it prints.
    pub log: PathBuf,
}

/// A loop that was asked to stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StopAnswer {
    /// The process that was asked.
    pub pid: i32,
    /// Only behind the attempt that runs.
    pub after_attempt: bool,
    /// How it stands then.
    pub status: Status,
}

/// A promise that was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestAnswer {
    /// Whether it is kept.
    pub promise_fulfilled: bool,
    /// How it was asked.
    pub check: Checked,
    /// What it printed.
    pub output: String,
    /// Whether it ran behind walls: see [`test_promise_walled`].
    pub walled: bool,
}

/// A configuration that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UpdateAnswer {
    /// The keys that differ.
    pub changed: Vec<String>,
    /// What it is.
    pub config: Config,
    /// Whether it counts from the next attempt on: the loop runs.
    pub at_next_attempt: bool,
}

/// Bytes of an output in the history, at each end.
const SHOWN: usize = 2 * 1024;
/// How long a loop in the background may take to begin.
const BEGINS: Duration = Duration::from_secs(30);
/// How long it may take to end: its tree has ten seconds, and what it left is kept.
const ENDS: Duration = Duration::from_secs(60);
/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// The loop that is meant from a directory.
///
/// # Errors
/// When there is none, or it is not to be trusted.
pub fn find(from: &Path, layout: Layout) -> Result<Place, LoopError> {
    match Place::find(from, layout)? {
        Found::Loop(place) => Ok(place),
        Found::AlpfConfig(place) => Ok(place),
        Found::Nothing => Err(LoopError::None {
            from: from.to_owned(),
        }),
    }
}

/// Makes a loop in a directory.
///
/// # Errors
/// When there is one, or the disk says no.
pub fn init(root: &Path, layout: Layout, config: &Config) -> Result<Place, LoopError> {
    let place = Place::at(root, layout)?;
    if place.config().symlink_metadata().is_ok() {
        return Err(LoopError::Exists { dir: place.dir() });
    }
    place.make()?;
    config_file::create(&place, config)?;
    Ok(place)
}

/// Whether ALPF was told bounds, and nobody what is to be done within them.
///
/// # Errors
/// When that is broken: with the line.
pub fn is_unsaid(place: &Place) -> Result<bool, LoopError> {
    match config(place) {
        Ok(_) => Ok(false),
        Err(LoopError::Unsaid { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Sees to it that a loop that was found has its own files: what ALPF was told is taken over, with what is said
/// beside it.
///
/// # Errors
/// When that is broken, it is not said what is to be done, or the disk says no.
pub fn settle(place: &Place, changes: &Changes) -> Result<bool, LoopError> {
    let is_new = place.config().symlink_metadata().is_err();
    if !is_new || place.layout() != Layout::Native || !place.alpf_config().is_file() {
        return Ok(false);
    }
    let told = ConfigFile::of_alpf(place, changes)?.config;
    place.make()?;
    config_file::create(place, &told)?;
    Ok(true)
}

/// What it is configured to do.
///
/// # Errors
/// When that is broken: with the line.
pub fn config(place: &Place) -> Result<Config, LoopError> {
    ConfigFile::of(place)
}

/// How it stands.
///
/// # Errors
/// When its files are broken: with the line.
pub fn status(place: &Place) -> Result<StatusAnswer, LoopError> {
    let look = || Ok::<_, LoopError>((judged(place)?, owner_of(&place.lock())));
    let ((mut state, mut wrong), mut owner) = look()?;
    if state.status == Status::Running && owner.is_none() {
        // It may have ended between the two.
        ((state, wrong), owner) = look()?;
    }
    let config = config(place);
    let told = config.as_ref().ok();
    let died = dead_owner_of(&place.lock()).filter(|_| state.status == Status::Running);
    let max_attempts = match (state.max_attempts, told) {
        (0, Some(config)) => config.max_attempts,
        (known, Some(config)) if owner.is_none() => {
            may_be_made(&read_events(&place.events())?, known, config.max_attempts)
        }
        (known, _) => known,
    };
    Ok(StatusAnswer {
        status: state.status,
        attempt: state.attempt,
        max_attempts,
        last_output_hash: state.last_output_hash,
        promise_fulfilled: state.promise_fulfilled,
        reason: state.reason,
        last_attempt: state.last_attempt,
        elapsed_ms: state.elapsed_ms,
        started_at: state.started_at,
        updated_at: state.updated_at,
        ended_at: state.ended_at,
        promise: told.map(|config| config.promise.to_string()),
        task: told.map(|config| config.task.to_string()),
        owner,
        died,
        config_error: config.as_ref().err().map(ToString::to_string),
        state_error: wrong.map(|error| error.to_string()),
        root: place.root().to_owned(),
        dir: place.dir(),
    })
}

/// The last attempts, so many at most, with what they printed.
///
/// # Errors
/// When its files are broken: with the line.
pub fn history(place: &Place, limit: Option<usize>) -> Result<History, LoopError> {
    let events: Vec<Event> = read_events(&place.events())?;
    let first_check = events.iter().rev().find_map(|event| match &event.what {
        Happened::Checked { check, .. } => Some(check.clone()),
        _ => None,
    });
    let taken = events.iter().rev().find_map(|event| match &event.what {
        Happened::Adopted { state } => Some(state.last_attempt),
        _ => None,
    });
    let adopted = match taken {
        Some(count) => count,
        None if events.is_empty() => state_of(place)?.last_attempt,
        None => 0,
    };
    let under_way = interrupted(&events).map(|begun| begun.attempt);
    let metas: Vec<Meta> = events
        .into_iter()
        .filter_map(|event| match event.what {
            Happened::AttemptEnded { meta, .. } => Some(*meta),
            _ => None,
        })
        .collect();
    let left_out = limit.map_or(0, |limit| metas.len().saturating_sub(limit));
    let entry = |meta: Meta| {
        let dir = place.attempt(meta.attempt);
        Entry {
            output: ends(&dir.join("output")),
            check_output: ends(&dir.join("check")),
            meta,
        }
    };
    Ok(History {
        first_check,
        attempts: metas.into_iter().skip(left_out).map(entry).collect(),
        under_way,
        left_out,
        adopted,
    })
}

/// Begins the loop in the background, and waits until it runs or has ended. `args` are those of `carson loop run` that go
/// with it.
///
/// # Errors
/// When somebody runs it, or it does not begin.
pub async fn start(
    place: &Place,
    caller: &Caller,
    args: &[String],
) -> Result<StartAnswer, LoopError> {
    place.make()?;
    if let Some(owner) = owner_of(&place.lock()) {
        let (path, owner) = (place.lock(), Box::new(owner));
        return Err(crate::lock::LockError::Held { path, owner }.into());
    }
    let events = || {
        let found = std::fs::symlink_metadata(place.events()).ok()?;
        Some((found.ino(), found.len()))
    };
    let before = events();
    let log = place.log();
    let file = own_file::open(&log, How::Append);
    let file = file.map_err(LoopError::io(format!("{}", log.display())))?;
    let from = file.metadata().map(|found| found.len()).unwrap_or(0);
    let mut command = Command::new(&caller.program, place.root())
        .args(["loop", "run", "--background"])
        .args(args.iter().cloned())
        .exact_env(caller.env.clone());
    if place.layout() == Layout::Alpf {
        command = command.args(["--compat", "alpf"]);
    }
    let begun = spawn_detached_to(&command, file)?;
    let id = begun.id;
    let (sender, mut ended) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let _ = sender.send(begun.wait().await);
    });
    let started = Instant::now();
    loop {
        let is_its = owner_of(&place.lock()).is_some_and(|owner| owner.process() == id);
        let over = ended.try_recv().ok();
        let is_over = over.is_some();
        // One that is done says so, and writes nothing.
        let is_done = matches!(over, Some(Ok(Exit::Code(0))));
        // Behind the look whether it is over: what it wrote before that is there.
        let is_new = events() != before;
        let state = state_of(place)?;
        // Its files are there before it says that it runs.
        let runs = is_its && state.status == Status::Running;
        if is_new && (runs || is_over) || is_done {
            let (pid, status) = (id.pid, state.status);
            return Ok(StartAnswer { pid, status, log });
        }
        if is_over || started.elapsed() > BEGINS {
            let said = log_since(&log, from);
            return Err(LoopError::NotBegun { said });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Asks whoever runs it to stop: at once, and waits until it has; or behind the attempt that runs. Of a run that died,
/// what it left behind is ended.
///
/// # Errors
/// When nobody runs it, or it does not end.
pub async fn stop(
    place: &Place,
    caller: &Caller,
    after_attempt: bool,
) -> Result<StopAnswer, LoopError> {
    // A signal goes to nobody whom only the file names.
    let Some(owner) = holder_of(&place.lock())? else {
        let died = dead_owner_of(&place.lock()).filter(|owner| owner.what == crate::run::OWNER);
        return match died {
            Some(dead) if !after_attempt => stop_the_dead(place, caller, &dead).await,
            _ => Err(not_running(place)?),
        };
    };
    if owner.what != crate::run::OWNER {
        // Bringing the tree back half way is not what is meant.
        let (path, owner) = (place.lock(), Box::new(owner));
        return Err(crate::lock::LockError::Held { path, owner }.into());
    }
    let id: ProcessId = owner.process();
    if after_attempt {
        StopFile::ask(place, &owner, caller.clock.now())?;
    } else {
        let _ = id.ask_to_end();
        let started = Instant::now();
        let lock = place.lock();
        let holds = || std::fs::symlink_metadata(&lock).is_ok_and(|file| id.has_locked(&file));
        while holds() {
            if started.elapsed() > ENDS {
                return Err(LoopError::StillRunning { pid: id.pid });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(StopAnswer {
        pid: id.pid,
        after_attempt,
        status: state_of(place)?.status,
    })
}

/// Ends what a run left behind that died, keeps what that did, and writes down that it was stopped.
async fn stop_the_dead(
    place: &Place,
    caller: &Caller,
    dead: &Owner,
) -> Result<StopAnswer, LoopError> {
    let now = caller.clock.now();
    let lock = Lock::take(&place.lock(), &Owner::myself("carson loop stop", now))?;
    end_orphans(place, &lock).await;
    let mut journal = Journal::open(place, &caller.clock)?;
    if journal.state().status != Status::Running {
        return Err(not_running(place)?);
    }
    let (rules, mut checkpoints) = (rules(place, caller), Checkpoints::open(place)?);
    conclude((place, &rules), &mut checkpoints, &mut journal, now)?;
    let how = Ended {
        status: Status::Stopped,
        reason: "whoever ran it had died; what that left behind was ended, as was asked".to_owned(),
        found: None,
        elapsed_ms: journal.state().elapsed_ms,
    };
    journal.add(Happened::Ended { how }, Sync::Now)?;
    Ok(StopAnswer {
        pid: dead.pid,
        after_attempt: false,
        status: journal.state().status,
    })
}

fn not_running(place: &Place) -> Result<LoopError, LoopError> {
    let status = state_of(place)?.status;
    Ok(LoopError::NotRunning { status })
}

/// Changes the configuration; a loop that runs takes it over before its next attempt.
///
/// # Errors
/// When it is broken, or would be.
pub fn update(
    place: &Place,
    caller: &Caller,
    changes: &Changes,
) -> Result<UpdateAnswer, LoopError> {
    let is_new = settle(place, changes)?;
    let (changed, config) = config_file::change(place, changes, &caller.clock)?;
    Ok(UpdateAnswer {
        changed: match is_new {
            true => config_file::keys_of(changes),
            false => changed,
        },
        at_next_attempt: owner_of(&place.lock()).is_some(),
        config,
    })
}

/// Asks the promise alone; nothing is written down.
///
/// # Errors
/// When the configuration is broken.
pub async fn test_promise(
    place: &Place,
    caller: &Caller,
    cancel: &Cancel,
) -> Result<TestAnswer, LoopError> {
    let (check, output) = check_alone(place, caller, &config(place)?, cancel).await?;
    Ok(TestAnswer {
        promise_fulfilled: check.passed,
        check,
        output: caller.redactor.redact(&output).into_owned(),
        walled: false,
    })
}

/// The same for whoever may run nothing there: the promise reads the tree, the system and the toolchains, and writes a
/// temporary directory; it has no network, no home and no variable but those of programs. All of its runs take ten
/// minutes at most.
///
/// # Errors
/// When the configuration is broken, or the walls are not to be had.
pub async fn test_promise_walled(
    place: &Place,
    caller: &Caller,
    cancel: &Cancel,
) -> Result<TestAnswer, LoopError> {
    let (check, output) = check_walled(place, caller, &config(place)?, cancel).await?;
    Ok(TestAnswer {
        promise_fulfilled: check.passed,
        check,
        output: caller.redactor.redact(&output).into_owned(),
        walled: true,
    })
}

/// The state, as it is written.
///
/// # Errors
/// When its files are broken: with the line.
pub fn state(place: &Place) -> Result<State, LoopError> {
    state_of(place)
}

/// Both ends of a file; nothing of one that is not there.
fn ends(path: &Path) -> String {
    let bytes = json_file::bytes(path).unwrap_or_default();
    let mut output = crate::output::Output::keeping(SHOWN);
    output.push(&bytes);
    output.text()
}

/// What a log says since.
fn log_since(log: &Path, from: u64) -> String {
    let bytes = json_file::bytes(log).unwrap_or_default();
    let from = usize::try_from(from).unwrap_or(0).min(bytes.len());
    let said = String::from_utf8_lossy(&bytes[from..]).into_owned();
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(4);
    match lines[from..].join("; ") {
        said if said.is_empty() => "it said nothing".to_owned(),
        said => said,
    }
}
