//! The loop.

mod pass;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use carson_config::{LoadOptions, Sources};
use carson_core::{Event, HostName};
use carson_firing::daemons;
use carson_firing::one_forge::{self, OneForge};
use carson_home::{Home, disk_space};
use carson_proc::sandbox::take_over_group;
use carson_store::StoreError;
use chrono::TimeDelta;
use sd_notify::NotifyState;
use thiserror::Error;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Mutex, Notify};
use tokio_cron_scheduler::{JobScheduler, JobSchedulerError};
use tracing::{error, info, warn};

use crate::alarm_clock;
use crate::chat::Listener;
use crate::due::Ledger;
use crate::embedder;
use crate::faces::Faces;
use crate::health::Health;
use crate::jobs::{self, Shared, Wires};
use crate::lease;
use crate::lock::{DaemonLock, LockError};
use crate::mcp;
use crate::metrics;
use crate::operator_alert;
use crate::page;
use crate::reload::{SETTLE, Told, Watch, reload};
use crate::wall_clock_timer::Alarm;
use crate::watchdog::{self, Heart, Pulse};

/// Slots are claimed, and their processes started, this long before they are due; a process waits for
/// its instant by itself. A hundred processes take some 200 ms to start on two cores: whoever
/// starts them at the instant is late for the last ones.
const LEAD: TimeDelta = TimeDelta::milliseconds(300);

/// How soon a clock that was set is noticed where that does not end a wait by itself.
const PIECE: Duration = Duration::from_secs(5);

/// A database file up to this size is looked through before anything is done with it: less than a
/// second. A larger one waits for its nightly check.
const LOOK_THROUGH: u64 = 256 << 20;

const NO_ROOM: &str = "there is no room";

/// A daemon that cannot run.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// Another one runs this home.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system gives no timer or no signals.
    #[error("the system gives no {what}")]
    System {
        /// What.
        what: &'static str,
        /// What it said.
        source: std::io::Error,
    },
    /// Another host keeps issues of its own.
    #[error(transparent)]
    Forge(#[from] OneForge),
    /// Another daemon has this host's name.
    #[error(
        "another daemon on this database keeps the lease of the host {0}: a home that was copied is told apart by its state/home-id; remove that file in the copy, or give it a fleet.host of its own"
    )]
    Twice(HostName),
    /// There is nothing to fire.
    #[error("there is no role in {}, so the daemon would never fire", .0.display())]
    NoRoles(PathBuf),
    /// The checked settings cannot be kept for the firings.
    #[error("the settings cannot be kept in CARSON_HOME")]
    Settings(#[source] std::io::Error),
    /// The alarm clock does not start.
    #[error("the alarm clock does not start")]
    Alarm(#[from] JobSchedulerError),
}

/// How the daemon is to run.
#[derive(Clone, Debug)]
pub struct Start {
    /// Where the settings are read again from.
    pub options: LoadOptions,
    /// What the home's settings were made from.
    pub sources: Sources,
    /// On SIGTERM, wait for the firings that run; else they are left to go on alone.
    pub drain: bool,
}

/// Listens to SIGHUP from now on: before the settings are read, so that none is lost that says they changed.
///
/// # Errors
/// When the system gives none.
pub fn hang_ups() -> Result<Signal, DaemonError> {
    listen(SignalKind::hangup())
}

fn listen(kind: SignalKind) -> Result<Signal, DaemonError> {
    signal(kind).map_err(|source| DaemonError::System {
        what: "signals",
        source,
    })
}

/// Runs until SIGTERM or SIGINT; `hang_ups` is what was [listened](hang_ups) to before.
///
/// # Errors
/// When it cannot start.
pub async fn run(home: Home, start: Start, mut hang_ups: Signal) -> Result<(), DaemonError> {
    if home.fleet.roles.is_empty() {
        return Err(DaemonError::NoRoles(home.fleet.layout.roles()));
    }
    let _lock = DaemonLock::take(&home.fleet.layout.daemon_lock())?;
    take_over_group();
    if home
        .store
        .file_bytes()
        .is_some_and(|size| size < LOOK_THROUGH)
    {
        home.store.must_be_whole(true).await?;
    }
    operator_alert::was_down(&home).await?;
    one_forge::check(&home, true).await?;
    if daemons::is_kept_by_another(&home).await? {
        return Err(DaemonError::Twice(home.fleet.host.clone()));
    }
    let lease = lease::take(&home).await?;
    let mut daemon = Daemon::new(home, start).await?;
    let _alarm_clock = daemon.alarm_clock().await?;
    let _watch = Watch::start(&daemon.home.fleet.layout, daemon.changed.clone());
    let wires = (&daemon.health, &daemon.recover);
    lease::keep(&daemon.shared, lease, &daemon.standing, wires);
    let pulse = daemon.pulse.clone();
    jobs::start(&Wires {
        home: daemon.shared.clone(),
        recover_now: daemon.recover.clone(),
        freed: daemon.look.clone(),
        pulse: pulse.clone(),
        health: daemon.health.clone(),
    })
    .map_err(no_timer)?;
    daemon.tools.follow(&daemon.shared);
    daemon.page.follow(&daemon.shared);
    daemon.chat.follow();
    daemon.embedder.follow(&daemon.shared);
    daemon.numbers.follow();
    let status = format!("roles: {}", daemon.home.fleet.roles.len());
    watchdog::say(&[NotifyState::Ready, NotifyState::Status(&status)]);
    watchdog::watch_over(pulse);
    info!(
        home = %daemon.home.fleet.layout.root.display(),
        roles = daemon.home.fleet.roles.len(),
        store = daemon.home.store.kind(),
        "daemon started"
    );
    daemon.go_round(&mut hang_ups).await?;
    watchdog::say(&[NotifyState::Stopping]);
    if daemon.start.drain {
        daemon.drain().await?;
    }
    info!("daemon stopped; firings that run go on");
    Ok(())
}

struct Daemon {
    home: Home,
    shared: Shared,
    start: Start,
    /// The set of settings that firings are started with.
    settings: PathBuf,
    /// Of changed settings.
    refused: Told,
    ledger: Ledger,
    alarm: Alarm,
    health: Health,
    look: Arc<Notify>,
    changed: Arc<Notify>,
    recover: Arc<Notify>,
    heart: Heart,
    pulse: Pulse,
    /// What the other hosts say of this one.
    standing: Arc<lease::Standing>,
    /// Nothing is fired any more: what runs is waited for.
    drains: Arc<AtomicBool>,
    tools: mcp::Face,
    page: page::Face,
    numbers: metrics::Face,
    chat: Listener,
    embedder: embedder::Kept,
    /// Held for its drop.
    _faces: Faces,
}

/// Every signal that would end the process: it ends in order by each.
struct Signals([Signal; 6]);

impl Signals {
    fn new() -> Result<Self, DaemonError> {
        Ok(Self([
            listen(SignalKind::terminate())?,
            listen(SignalKind::interrupt())?,
            listen(SignalKind::quit())?,
            listen(SignalKind::alarm())?,
            listen(SignalKind::user_defined1())?,
            listen(SignalKind::user_defined2())?,
        ]))
    }

    async fn any(&mut self) {
        let [one, two, three, four, five, six] = &mut self.0;
        tokio::select! {
            _ = one.recv() => {}
            _ = two.recv() => {}
            _ = three.recv() => {}
            _ = four.recv() => {}
            _ = five.recv() => {}
            _ = six.recv() => {}
        }
    }
}

fn no_timer(source: std::io::Error) -> DaemonError {
    DaemonError::System {
        what: "timer",
        source,
    }
}

impl Daemon {
    async fn new(home: Home, start: Start) -> Result<Self, DaemonError> {
        let alarm = Alarm::new(PIECE).map_err(no_timer)?;
        let settings = start.sources.keep(&home.fleet.layout);
        let settings = settings.map_err(DaemonError::Settings)?;
        let mut ledger = Ledger::default();
        ledger.learn(&home.fleet, &home.store, &home.clock).await?;
        let shared: Shared = Arc::new(RwLock::new(home.clone()));
        let (look, health, drains) = (Arc::default(), Health::default(), Arc::default());
        let (heart, pulse) = watchdog::pair(&look);
        let faces = Faces::start(home.clone());
        let facts = metrics::Facts {
            shared: shared.clone(),
            health: health.clone(),
            pulse: pulse.clone(),
            drains: Arc::clone(&drains),
            text: Mutex::default(),
        };
        Ok(Self {
            chat: Listener::of(&shared, &faces),
            shared,
            home,
            start,
            settings,
            refused: Told::default(),
            ledger,
            standing: Arc::default(),
            alarm,
            health,
            look,
            changed: Arc::default(),
            recover: Arc::default(),
            heart,
            pulse,
            drains,
            tools: mcp::Face::of(&faces),
            page: page::Face::of(&faces),
            numbers: metrics::Face::of(facts, faces.tell("metrics")),
            embedder: embedder::Kept::default(),
            _faces: faces,
        })
    }

    /// Wakes the loop every minute, whatever became of its own timer.
    async fn alarm_clock(&self) -> Result<JobScheduler, DaemonError> {
        let clock = self.home.clock.clone();
        Ok(alarm_clock::start(
            self.look.clone(),
            Alarm::new(PIECE).map_err(no_timer)?,
            clock,
        )
        .await?)
    }

    async fn go_round(&mut self, hang_ups: &mut Signal) -> Result<(), DaemonError> {
        let mut signals = Signals::new()?;
        loop {
            if let Err(error) = self.pass().await {
                jobs::refused(&self.health, &error);
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            self.heart.beat();
            let now = self.home.clock.now();
            let next = Ledger::next(&self.home.fleet, now + LEAD).map(|next| next - LEAD);
            tokio::select! {
                biased;
                () = signals.any() => return Ok(()),
                _ = hang_ups.recv() => self.reload().await,
                () = self.changed.notified() => {
                    tokio::time::sleep(SETTLE).await;
                    self.reload().await;
                }
                () = self.look.notified() => {}
                () = self.alarm.wait(next, now) => {}
            }
        }
    }

    /// Whether something that the fleet stands on forbids to claim anything now. Slots stay due,
    /// and no row is written: there may be no room for one.
    async fn is_stopped(&self) -> bool {
        if self.health.lost().is_some() || self.standing.forbids() {
            return true;
        }
        if let Err(gone) = self.home.store.still_there() {
            jobs::refused(&self.health, &gone);
            self.save_what_is_open().await;
            return true;
        }
        let Err(why) = disk_space::check(&self.home.fleet) else {
            return false;
        };
        if self.health.trouble(NO_ROOM) {
            error!(why, "nothing fires until there is room; slots wait");
            operator_alert::alert_operator(
                &self.home,
                &Event::FleetStopped { text: why.clone() },
                "Carson stopped: no room",
                &why,
            )
            .await;
        }
        true
    }

    /// The rows of a database that was deleted in use are still there for us, and for nobody else.
    async fn save_what_is_open(&self) {
        match self.home.store.back_up(self.home.clock.now()).await {
            Ok(Some(path)) => {
                warn!(backup = %path.display(), "what it held is saved as its newest backup");
            }
            Ok(None) => {}
            Err(error) => error!(%error, "what it held could not be saved"),
        }
    }

    async fn reload(&mut self) {
        if let Ok(now) = NotifyState::monotonic_usec_now() {
            watchdog::say(&[NotifyState::Reloading, now]);
        }
        self.read_again().await;
        watchdog::say(&[NotifyState::Ready]);
    }

    async fn read_again(&mut self) {
        let (home, settings) = (&mut self.home, &mut self.settings);
        if !reload(home, settings, &self.start.options, &mut self.refused).await {
            return;
        }
        let learnt = self
            .ledger
            .learn(&self.home.fleet, &self.home.store, &self.home.clock)
            .await;
        if let Err(error) = learnt {
            warn!(%error, "the last slots of new roles could not be read");
        }
        *self.shared.write().unwrap_or_else(PoisonError::into_inner) = self.home.clone();
        self.tools.follow(&self.shared);
        self.page.follow(&self.shared);
        self.chat.follow();
        self.embedder.follow(&self.shared);
        self.numbers.follow();
    }

    /// Waits until no firing of this host runs; a second signal ends the waiting.
    async fn drain(&self) -> Result<(), DaemonError> {
        self.drains.store(true, Ordering::Relaxed);
        let mut signals = Signals::new()?;
        loop {
            let live = self
                .home
                .store
                .live_firings(Some(&self.home.fleet.host))
                .await?;
            if live.is_empty() {
                return Ok(());
            }
            self.heart.beat();
            info!(firings = live.len(), "draining");
            tokio::select! {
                () = signals.any() => return Ok(()),
                () = self.look.notified() => {}
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
            }
        }
    }
}
