//! A launcher that stands ready for the next confined program of a task.
//!
//! Most of what walls cost is the same around every program. Whoever is to start several, one after the other, does so in
//! [`with_launcher_ready`]: while one of them runs, the launcher of the next one starts and puts up what it can
//! (`stand.rs`). It is a child like any other, with the marker and the control group that the program will have, and
//! it ends with the task. Where nobody stands ready, or who does so does not fit, a launcher is started as
//! usual.

use std::cell::RefCell;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::errno::Errno;
use tokio::process::Child;
use tracing::debug;

use crate::begun::Begun;
use crate::children::{self, Registered};
use crate::command::Command;
use crate::marker::{self, Marker};
use crate::pipes::Theirs;
use crate::sandbox::call::{LAUNCH, STAND};
use crate::sandbox::cgroup::Cgroup;
use crate::sandbox::order::{Order, say_first};
use crate::sandbox::probe;
use crate::sandbox::profile::{Abi, Demand, Network, Profile};

/// For one that nobody needs to be gone.
const PATIENCE: Duration = Duration::from_secs(1);

tokio::task_local! {
    static TASK: RefCell<Task>;
}

/// What a task has.
#[derive(Default)]
struct Task {
    ready: Option<Ready>,
    /// The next program is the last one.
    is_last: bool,
}

/// A launcher that waits for its order.
struct Ready {
    /// Without anybody at this end it goes.
    orders: UnixStream,
    launcher: PathBuf,
    child: Child,
    registered: Registered,
    marker: Marker,
    cgroup: Option<Cgroup>,
}

/// Runs what starts confined programs one after the other, and has a launcher ready for each but the first, or for that,
/// too, after [`get_launcher_ready`].
pub async fn with_launcher_ready<T>(work: impl Future<Output = T>) -> T {
    let whole = async {
        let done = work.await;
        if let Some(ready) = TASK.with(|task| task.borrow_mut().ready.take()) {
            ready.dismiss().await;
        }
        done
    };
    TASK.scope(RefCell::default(), whole).await
}

/// Has one ready from now on, in [`with_launcher_ready`].
pub fn get_launcher_ready() {
    refill(&probe::launcher());
}

/// Says that only one more is needed.
pub fn last_launcher() {
    let _ = TASK.try_with(|task| task.borrow_mut().is_last = true);
}

/// Has one ready again.
pub(crate) fn refill(launcher: &Path) {
    let _ = TASK.try_with(|task| {
        let mut task = task.borrow_mut();
        if task.is_last || task.ready.is_some() {
            return;
        }
        match Ready::start(launcher) {
            Ok(ready) => task.ready = Some(ready),
            Err(error) => debug!(%error, "no launcher stands ready"),
        }
    });
}

/// Begins a confined program with the launcher that stands ready, if one does and it fits.
pub(crate) fn begin(command: &Command, theirs: &Theirs) -> Option<Begun> {
    let confined = command.confined.as_ref()?;
    let profile = Profile::read_from(&confined.profile).ok()?;
    let is_usual = profile.demand != Demand::Off
        && profile.force.unwrap_or_default() == Abi::default()
        && matches!(profile.network, Network::Isolated { .. } | Network::Nobody)
        && !confined.profile.starts_with("/dev/fd")
        && command.cwd.is_dir();
    let taken = TASK.try_with(|task| {
        let mut task = task.borrow_mut();
        if task.ready.as_mut().is_some_and(Ready::is_of_no_use) {
            // The next one would be none, either.
            (task.ready, task.is_last) = (None, true);
        }
        let fits = |ready: &mut Ready| is_usual && ready.launcher == confined.launcher;
        task.ready.take_if(fits)
    });
    match taken.ok()??.order(command, &profile, theirs) {
        Ok(begun) => Some(begun),
        Err(error) => {
            debug!(%error, "the launcher that stood ready takes no order");
            None
        }
    }
}

impl Ready {
    #[expect(
        clippy::disallowed_methods,
        reason = "a launcher as `run` starts it, before it is known for what"
    )]
    fn start(launcher: &Path) -> io::Result<Self> {
        let marker = Marker::next();
        let cgroup = marker.value().to_str().and_then(Cgroup::unbounded);
        let (mut orders, theirs) = UnixStream::pair()?;
        let mut builder = tokio::process::Command::new(launcher);
        builder
            .args([LAUNCH, STAND])
            .arg(std::process::id().to_string())
            .args(cgroup.as_ref().map(Cgroup::dirs).unwrap_or_default())
            .current_dir("/")
            .process_group(0)
            .env_clear()
            .env(marker::VARIABLE, marker.value())
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let (child, registered) = children::spawn(&mut builder)?;
        registered.is_idle();
        // What it is told first fits into the socket: nobody waits.
        orders.set_nonblocking(true)?;
        say_first(&mut orders, &common())?;
        Ok(Self {
            orders,
            launcher: launcher.to_owned(),
            child,
            registered,
            marker,
            cgroup,
        })
    }

    /// Whether it has ended, or says that there are no namespaces to be had.
    fn is_of_no_use(&mut self) -> bool {
        let is_silent = |error: io::Error| error.kind() == io::ErrorKind::WouldBlock;
        let is_there = matches!(self.child.try_wait(), Ok(None));
        !is_there || !self.orders.read(&mut [0]).is_err_and(is_silent)
    }

    fn order(self, command: &Command, profile: &Profile, theirs: &Theirs) -> io::Result<Begun> {
        if let Some(cgroup) = &self.cgroup {
            cgroup.bound(&profile.resources);
        }
        let confined = command.confined.as_ref().ok_or(Errno::EINVAL)?;
        let order = Order {
            profile: confined.profile.clone(),
            cwd: command.cwd.clone(),
            program: command.path(),
            args: command.args.clone(),
            env: command.whole_env(&self.marker),
        };
        self.registered.begins();
        let streams = [&theirs.stdin, &theirs.stdout, &theirs.stderr];
        order.give(&self.orders, streams.map(|stream| stream.as_fd()))?;
        Ok(Begun {
            child: self.child,
            registered: self.registered,
            marker: self.marker,
            cgroup: self.cgroup,
        })
    }

    /// Lets it go, and waits until it has gone.
    async fn dismiss(mut self) {
        drop(self.orders);
        let _ = tokio::time::timeout(PATIENCE, self.child.wait()).await;
    }
}

/// What every program sees of the system.
fn common() -> Profile {
    Profile {
        read: Profile::system_reads(),
        hide: Profile::system_secrets(),
        ..Profile::default()
    }
}
