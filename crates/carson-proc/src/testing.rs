//! What the tests of this crate share: real children, and a process of one's own to watch them in.

use std::ffi::OsStr;
use std::future::Future;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use crate::cancel::Cancel;
use crate::command::Command;
use crate::detached::{Detached, spawn_detached};
use crate::finished::{Exit, Finished};
use crate::limits::Limits;
use crate::path::find_on_path;
use crate::process_id::ProcessId;
use crate::run::{capture, run};
use crate::table;

/// Longer than anything here takes, also on a machine that is busy with other things.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Says that this process was started by [`alone`].
const ALONE: &str = "CARSON_PROC_TEST_ALONE";

pub(crate) fn sh(script: &str) -> Command {
    program("sh").arg("-c").arg(script)
}

pub(crate) fn perl(script: &str) -> Command {
    program("perl").arg("-e").arg(script)
}

pub(crate) fn program(name: &str) -> Command {
    let path = std::env::var_os("PATH");
    let program = find_on_path(Path::new(name), path.as_deref()).unwrap();
    Command::new(program, "/").inherit_env()
}

pub(crate) fn limits() -> Limits {
    Limits {
        grace: Duration::from_millis(200),
        ..Limits::within(LONG)
    }
}

/// Runs to the end and collects who said `pid NUMBER` while it was alive.
pub(crate) async fn run_noting(command: &Command, limits: &Limits) -> (Finished, Vec<ProcessId>) {
    let mut ids = Vec::new();
    let finished = run(command, limits, &Cancel::new(), |line| {
        ids.extend(noted(line.bytes));
        ControlFlow::Continue(())
    })
    .await
    .unwrap();
    (finished, ids)
}

/// The process that this line names.
pub(crate) fn noted(line: &[u8]) -> Option<ProcessId> {
    let pid = str::from_utf8(line).ok()?.strip_prefix("pid ")?;
    ProcessId::of(pid.parse().ok()?)
}

/// Runs a test in a process of its own, whichever runner started it: being a subreaper, having no
/// other children and an environment are matters of a whole process. No child may be left over,
/// neither alive nor unreaped.
///
/// The name of the test is taken from that of the closure.
pub(crate) fn alone<F, T>(body: F)
where
    F: FnOnce() -> T,
    T: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    if std::env::var_os(ALONE).is_some() {
        runtime.block_on(async {
            body().await;
            let childless = eventually(|| children_of_ours().is_empty()).await;
            assert!(childless, "left over: {:?}", children_of_ours());
        });
        return;
    }
    let finished = runtime.block_on(again(&name_of(&body), &[(ALONE.as_ref(), "1".as_ref())]));
    assert_eq!(
        finished.exit,
        Exit::Code(0),
        "{}{}",
        finished.stdout.text(),
        finished.stderr.text()
    );
    assert!(finished.stdout.text().contains("1 passed"), "ran nothing");
}

/// Runs one test of this binary again, in another process.
pub(crate) async fn again(test: &str, env: &[(&OsStr, &OsStr)]) -> Finished {
    let exe = std::env::current_exe().unwrap();
    let mut command = Command::new(exe, "/")
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .inherit_env();
    for (name, value) in env {
        command = command.env(name, value);
    }
    capture(&command, &limits()).await.unwrap()
}

/// `crate::module::test::{{closure}}` without its ends.
fn name_of<F>(_: &F) -> String {
    let full = std::any::type_name::<F>();
    let inner = full.split_once("::").unwrap().1;
    inner.split("::{{closure}}").next().unwrap().to_owned()
}

pub(crate) fn children_of_ours() -> Vec<table::Entry> {
    let me = Pid::this().as_raw();
    let mut all = table::all();
    all.retain(|entry| entry.parent == me);
    all
}

/// Polls until it holds, for a bounded time.
pub(crate) async fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !holds() {
        if started.elapsed() > Duration::from_secs(20) {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

/// Perl: forks twice, changes the session, and ends when the grandchild has run what is given.
pub(crate) fn leaving_behind(grandchild: &str) -> Command {
    perl(&format!(
        "use POSIX; $| = 1; pipe(R, W); \
         if (!fork) {{ POSIX::setsid(); POSIX::_exit(0) if fork; \
                       print \"pid $$\\n\"; {grandchild}; close W; sleep 1000 while 1 }} \
         close W; <R>; exit 0"
    ))
}

/// A detached child with a log of its own.
pub(crate) struct Logged {
    pub id: ProcessId,
    child: Option<Detached>,
    dir: tempfile::TempDir,
}

pub(crate) fn detached(command: &Command) -> Logged {
    let dir = tempfile::tempdir().unwrap();
    let child = spawn_detached(command, &dir.path().join("log")).unwrap();
    Logged {
        id: child.id,
        child: Some(child),
        dir,
    }
}

impl Logged {
    /// What it has written.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// From now on it is nobody's.
    pub(crate) fn let_go(&mut self) {
        self.child = None;
    }

    pub(crate) async fn wait(mut self) -> std::io::Result<Exit> {
        self.child.take().unwrap().wait().await
    }
}
