use std::ops::ControlFlow;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

use super::tests::{assert_unharmed, swept};
use crate::cancel::Cancel;
use crate::children::become_subreaper;
use crate::command::Command;
use crate::finished::{Exit, Finished};
use crate::limits::Limits;
use crate::process_id::ProcessId;
use crate::run::run;
use crate::table;
use crate::testing::{
    alone, children_of_ours, eventually, leaving_behind, limits, noted, perl, run_noting, sh,
};

#[test]
fn a_subreaper_finds_it_too_and_leaves_no_zombie() {
    alone(|| async {
        become_subreaper().unwrap();
        let finished = swept(&leaving_behind(""), 1).await;
        assert_eq!((finished.exit, finished.leaked), (Exit::Code(0), 1));
        assert_eq!(children_of_ours(), []);
    });
}

#[test]
fn an_orphan_that_cleared_its_environment_does_not_escape_a_subreaper() {
    alone(|| async {
        become_subreaper().unwrap();
        // The pipe closes with the exec, so the environment is gone when the child ends.
        let command = leaving_behind("%ENV = (); exec '/bin/sleep', '1000'");
        let finished = swept(&command, 1).await;
        assert_eq!(finished.leaked, 1);
        assert_eq!(children_of_ours(), []);
    });
}

#[test]
fn orphans_that_ended_by_themselves_are_reaped_too() {
    alone(|| async {
        become_subreaper().unwrap();
        for sweep in [true, false] {
            // All end before the child does: each holds the pipe until then.
            let script = "use POSIX; pipe(R, W); \
                          for (1..20) { if (!fork) { POSIX::setsid(); fork; POSIX::_exit(0) } } \
                          close W; <R>; exit 0";
            let limits = Limits { sweep, ..limits() };
            let (finished, _) = run_noting(&perl(script), &limits).await;
            assert_eq!(finished.exit, Exit::Code(0));
            // A pipe is closed a moment before its holder is dead.
            let dead = || children_of_ours().iter().all(|child| child.zombie);
            assert!(eventually(dead).await);
            run_noting(&sh("true"), &limits).await;
            assert_eq!(children_of_ours(), [], "sweep: {sweep}");
        }
    });
}

#[test]
fn a_storm_of_forks_in_the_group_is_ended() {
    alone(|| async {
        let command = perl(
            "$| = 1; print qq(pid $$\\n); $SIG{CHLD} = 'IGNORE'; my $end = time + 40; \
             for (1..8) { if (!fork) { while (time < $end) { fork and select(undef, undef, undef, 0.001) \
                          or exit } } } exit 0",
        );
        let (finished, _) = run_noting(&command, &limits()).await;
        assert_eq!(finished.exit, Exit::Code(0));
        assert!(finished.elapsed < Duration::from_secs(4), "{finished:?}");
        assert_eq!(running_with(&command), 0);
    });
}

#[test]
fn a_storm_of_forks_in_new_sessions_is_ended() {
    alone(|| async {
        // Four that fork all the time, each child in a session of its own, for a short life; and not
        // for ever, should this fail.
        let command = perl(
            "use POSIX; $SIG{CHLD} = 'IGNORE'; my $end = time + 40; \
             for (1..4) { if (!fork) { POSIX::setsid(); while (time < $end) { \
                 if (!fork) { POSIX::setsid(); select(undef, undef, undef, 0.02); POSIX::_exit(0) } \
                 select(undef, undef, undef, 0.002) } POSIX::_exit(0) } } \
             select(undef, undef, undef, 0.1); exit 0",
        );
        let (finished, _) = run_noting(&command, &limits()).await;
        assert_eq!(finished.exit, Exit::Code(0));
        assert!(finished.leaked >= 4);
        assert_eq!(running_with(&command), 0, "{finished:?}");
    });
}

/// Processes that still run this very script, found without the code under test.
fn running_with(command: &Command) -> usize {
    use std::os::unix::ffi::OsStrExt;
    let script = command.args[1].as_bytes();
    let holds = |line: &[u8]| line.split(|byte| *byte == 0).any(|arg| arg == script);
    crate::table::all()
        .iter()
        .filter_map(|entry| std::fs::read(format!("/proc/{}/cmdline", entry.pid)).ok())
        .filter(|line| holds(line))
        .count()
}

/// Each process forks once and ends, in ever new sessions, and all hold one lock. The last one
/// gives up after a while: a test that fails must not leave this to the machine.
async fn assert_chain_ends() {
    use nix::fcntl::{Flock, FlockArg};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lock");
    let chain = perl(
        "use POSIX; open(L, '>', $ARGV[0]); flock(L, 2); my $end = time + 10; \
         if (!fork) { while (time < $end) { POSIX::_exit(0) if fork; POSIX::setsid() } \
                      POSIX::_exit(0) } \
         select(undef, undef, undef, 0.05); exit 0",
    );
    let finished = swept(&chain.arg(&path), 0).await;
    assert_eq!(finished.exit, Exit::Code(0));
    let lock = std::fs::File::open(&path).unwrap();
    let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock);
    assert!(lock.is_ok(), "the chain lives on: {finished:?}");
    assert!(finished.leaked > 0);
}

#[test]
fn a_chain_that_forks_and_ends_without_a_pause_is_ended() {
    alone(|| async { assert_chain_ends().await });
}

#[test]
fn a_chain_is_ended_by_a_subreaper() {
    alone(|| async {
        become_subreaper().unwrap();
        assert_chain_ends().await;
    });
}

#[test]
fn a_name_that_is_no_text_hides_nobody() {
    alone(|| async {
        // prctl(PR_SET_NAME)
        let odd =
            r#"my $n = "\xff) Z (\xfe"; open(F, ">", "/proc/self/comm"); print F $n; close F"#;
        let finished = swept(&leaving_behind(odd), 1).await;
        assert_eq!(finished.leaked, 1);
    });
}

#[test]
fn who_goes_on_without_its_first_thread_is_found() {
    alone(|| async {
        let script = "\
import ctypes, os, sys, threading, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    def second():
        while open('/proc/self/stat').read().rsplit(')')[1].split()[0] != 'Z':
            time.sleep(0.01)
        print('pid', os.getpid(), flush=True)
        os.close(w)
        time.sleep(1000)
    threading.Thread(target=second).start()
    ctypes.CDLL(None).syscall(exit_thread, 0)
os.close(w)
os.read(r, 1)
";
        let exit_thread = if cfg!(target_arch = "x86_64") {
            "60"
        } else {
            "93"
        };
        let script = script.replace("exit_thread", exit_thread);
        let python = crate::testing::program("python3").arg("-c").arg(script);
        let finished = swept(&python, 1).await;
        assert_eq!((finished.exit, finished.leaked), (Exit::Code(0), 1));
    });
}

#[test]
fn runs_of_a_subreaper_at_the_same_time_do_not_harm_each_other() {
    alone(|| async {
        become_subreaper().unwrap();
        for _ in 0..3 {
            assert_unharmed(2).await;
        }
        assert_unharmed(50).await;
        assert_eq!(children_of_ours(), []);
    });
}

type Heard = UnboundedReceiver<Option<ProcessId>>;

/// Runs in the background and tells each line as the process that it names.
fn background(command: Command, cancel: &Cancel) -> (JoinHandle<Finished>, Heard) {
    let (said, heard) = tokio::sync::mpsc::unbounded_channel();
    let cancel = cancel.clone();
    let running = tokio::spawn(async move {
        run(&command, &limits(), &cancel, |line| {
            let _ = said.send(noted(line.bytes));
            ControlFlow::Continue(())
        })
        .await
        .unwrap()
    });
    (running, heard)
}

#[test]
fn an_orphan_of_a_run_that_still_goes_on_is_not_swept_by_another() {
    alone(|| async {
        become_subreaper().unwrap();
        let (earlier, later) = (Cancel::new(), Cancel::new());
        let endless = "$| = 1; print qq(pid $$\\n); sleep 1000 while 1";
        let (before, mut started) = background(perl(endless), &earlier);
        started.recv().await.unwrap();

        // Its orphan carries nothing to be known by, and the run goes on.
        let bare = leaving_behind("%ENV = (); exec '/bin/sleep', '1000'");
        let script = bare.args[1].to_str().unwrap().to_owned();
        let goes_on = script.replace("exit 0", "sleep 1000");
        let (between, mut heard) = background(perl(&goes_on), &later);
        let orphan = heard.recv().await.unwrap().unwrap();
        let entry = || table::entry(orphan.pid).unwrap();
        assert!(eventually(|| table::environment(&entry()).is_empty()).await);

        // One that began before the orphan was born, and one that began behind it.
        earlier.cancel();
        assert_eq!(before.await.unwrap().leaked, 0);
        assert!(orphan.is_alive(), "the earlier run took it for its own");
        let (short, _) = run_noting(&sh("true"), &limits()).await;
        assert_eq!(short.leaked, 0);
        assert!(orphan.is_alive(), "the later run took it for its own");

        later.cancel();
        assert_eq!(between.await.unwrap().leaked, 1);
        assert!(!orphan.is_alive());
    });
}
