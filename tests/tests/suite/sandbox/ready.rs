//! Programs behind a launcher that stood ready for them: nothing of them may differ from any other's.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::sandbox::{Network, Profile, last_launcher, with_launcher_ready};
use carson_proc::{Cancel, Command, Exit, Finished, Limits, StopReason, find_on_path, run};
use carson_tests::fleet::binary;
use carson_tests::until;
use tempfile::TempDir;

use super::runs::{groups_of_ours, is_free, limits, wait};

/// A tree, and a number for each profile.
struct World {
    dir: TempDir,
    profile: Profile,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("tree")).unwrap();
        let profile = Profile {
            read: Profile::system_reads(),
            write: vec![dir.path().join("tree")],
            hide: Profile::system_secrets(),
            network: Network::Nobody,
            ..Profile::default()
        };
        Self { dir, profile }
    }

    fn tree(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    fn command(&self, program: &str, script: &str) -> Command {
        let path = self.dir.path().join("profile.json");
        for ending in ["", ".level", ".left"] {
            let _ = std::fs::remove_file(format!("{}{ending}", path.display()));
        }
        self.profile.write_to(&path).unwrap();
        let search = std::env::var_os("PATH");
        let program = find_on_path(Path::new(program), search.as_deref()).unwrap();
        let option = if program.ends_with("perl") {
            "-e"
        } else {
            "-c"
        };
        Command::new(program, self.tree())
            .env("ONE", "two\nthree")
            .env("PATH", "/usr/bin:/bin")
            .arg(option)
            .arg(script)
            .confined_by(path, binary())
    }

    fn sh(&self, script: &str) -> Command {
        self.command("sh", script)
    }

    fn level(&self) -> serde_json::Value {
        let path = self.dir.path().join("profile.json.level");
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }
}

async fn finish(command: &Command) -> Finished {
    let go_on = |_: carson_proc::Line<'_>| ControlFlow::Continue(());
    run(command, &limits(), &Cancel::new(), go_on)
        .await
        .unwrap()
}

/// After the first run of it a launcher stands ready.
async fn warm(world: &World) {
    assert_eq!(finish(&world.sh("exit 3")).await.exit, Exit::Code(3));
}

/// Whether a launcher stood ready for who prints this.
fn stood_ready(said: &str) -> bool {
    said.contains("sandbox-launch\n--stand\n")
}

const WHO_STARTED: &str = "tr '\\0' '\\n' </proc/1/cmdline";

/// What a program can see of what it is in, apart from the numbers.
const LOOK: &str = "pwd; env | sort | grep -v CARSON_RUN; id; cut -d' ' -f4- /proc/self/mountinfo | \
    sed 's/ - .*//; s/master:[0-9]*//' | grep -v /proc/self | sort; ls /proc/self/fd | head -n 3; \
    grep -E 'Cap|Seccomp:|NoNewPrivs|SigBlk|SigIgn' /proc/self/status; cat /proc/self/limits /proc/self/oom_score_adj; \
    cut -d: -f2,3 /proc/self/cgroup | sed 's/[0-9]*$//'; ls -A / /tmp /dev /etc; cat /proc/net/dev | cut -d: -f1; \
    cat /etc/shadow 2>&1 | wc -l; ps -e | wc -l; ulimit -a; umask";

#[test]
fn it_is_in_what_any_other_is_in() {
    let mut world = World::new();
    world.profile.resources.processes = Some(30);
    world.profile.resources.memory_mb = Some(500);
    let (usual, ready) = wait(with_launcher_ready(async {
        let usual = finish(&world.sh(&format!("{LOOK}; {WHO_STARTED} >&2"))).await;
        let level = world.level();
        let ready = finish(&world.sh(&format!("{LOOK}; {WHO_STARTED} >&2"))).await;
        assert_eq!(world.level(), level);
        (usual, ready)
    }));
    assert!(
        !stood_ready(&usual.stderr.text()),
        "{}",
        usual.stderr.text()
    );
    assert!(stood_ready(&ready.stderr.text()), "{}", ready.stderr.text());
    assert_eq!(usual.stdout.text(), ready.stdout.text());
    assert!(ready.stdout.text().lines().count() > 100);
}

#[test]
fn it_ends_as_the_program_does() {
    let world = World::new();
    wait(with_launcher_ready(async {
        warm(&world).await;
        let finished =
            finish(&world.sh(&format!("echo out; {WHO_STARTED}; echo err >&2; exit 7"))).await;
        assert_eq!(finished.exit, Exit::Code(7));
        assert!(stood_ready(&finished.stdout.text()));
        assert_eq!(finished.stderr.text(), "err\n");
        for signal in [15, 9, 6] {
            let finished = finish(&world.sh(&format!("kill -{signal} $$; sleep 100"))).await;
            assert_eq!(finished.exit, Exit::Signal(signal));
        }
        let finished = finish(&world.sh("wc -c").stdin_bytes(vec![b'i'; 1 << 20])).await;
        assert_eq!(finished.stdout.text().trim(), "1048576");
        assert_eq!((finished.leaked, finished.stopped), (0, None));
        let mut command = world.sh("true");
        command.program = world.tree().join("none");
        assert_eq!(finish(&command).await.exit, Exit::Code(127));
        // As large as arguments may be, which is more than a socket takes at once.
        let mut command = world.sh("printf %s \"$1\" | wc -c").arg("sh");
        command = command.arg("x".repeat(120_000));
        for _ in 0..8 {
            command = command.arg("y".repeat(120_000));
        }
        assert_eq!(finish(&command).await.stdout.text().trim(), "120000");
    }));
}

#[test]
fn it_is_asked_once_and_who_is_deaf_is_killed_with_everybody() {
    let world = World::new();
    let asked = "$SIG{TERM} = sub { $n++ }; $| = 1; print qq(ready\n); \
                 select(undef, undef, undef, 0.01) until $n; \
                 select(undef, undef, undef, 0.2); print qq(asked $n\n); exit 3";
    let deaf = "open(L, '>', $ARGV[0]); flock(L, 2); $SIG{TERM} = 'IGNORE'; fork; \
                $| = 1; print qq(ready\n); sleep 1000 while 1";
    let lock = world.tree().join("lock");
    wait(with_launcher_ready(async {
        warm(&world).await;
        let patient = Limits {
            grace: Duration::from_secs(50),
            ..limits()
        };
        let finished = cancelled_when_ready(&world.command("perl", asked), &patient).await;
        assert_eq!(finished.stdout.text(), "ready\nasked 1\n");
        assert_eq!(
            (finished.exit, finished.stopped),
            (Exit::Code(3), Some(StopReason::Cancelled))
        );
        let command = world.command("perl", deaf).arg(&lock);
        let finished = cancelled_when_ready(&command, &limits()).await;
        assert_eq!(finished.exit, Exit::Signal(9));
        assert!(is_free(&lock), "somebody lives");
        let daemons = "use POSIX; $^F = 1000; open(L, '>', $ARGV[0]); flock(L, 2); \
                       for (1..5) { if (!fork) { POSIX::setsid(); %ENV = (); exec '/bin/sleep', '1000' } } exit 0";
        let finished = finish(&world.command("perl", daemons).arg(&lock)).await;
        assert_eq!(finished.exit, Exit::Code(0));
        assert!((5..=7).contains(&finished.leaked), "{finished:?}");
        assert!(is_free(&lock), "somebody lives");
    }));
}

async fn cancelled_when_ready(command: &Command, limits: &Limits) -> Finished {
    let cancel = Cancel::new();
    let at_first = |line: carson_proc::Line<'_>| {
        if line.bytes.starts_with(b"ready") {
            cancel.cancel();
        }
        ControlFlow::Continue(())
    };
    run(command, limits, &cancel, at_first).await.unwrap()
}

#[test]
fn nobody_stands_ready_when_the_work_is_done_or_dropped() {
    let world = World::new();
    wait(with_launcher_ready(warm(&world)));
    until("nobody stands", || stands().is_empty().then_some(()));
    assert_eq!(groups_of_ours(), [""; 0]);
    // One that waits, and one that has just become a program.
    let lock = world.tree().join("lock");
    let script = "use POSIX; open(L, '>', $ARGV[0]); flock(L, 2); $| = 1; print qq(ready\n); sleep 1000 while 1";
    wait(async {
        let ready = tokio::sync::Notify::new();
        let work = with_launcher_ready(async {
            warm(&world).await;
            assert_eq!(stands().len(), 1);
            let command = world.command("perl", script).arg(&lock);
            let go_on = |_: carson_proc::Line<'_>| {
                ready.notify_one();
                ControlFlow::Continue(())
            };
            run(&command, &limits(), &Cancel::new(), go_on).await
        });
        tokio::select! {
            _ = work => panic!("it ended"),
            () = ready.notified() => {}
        }
    });
    until("nobody holds the lock", || is_free(&lock).then_some(()));
    until("nobody stands", || stands().is_empty().then_some(()));
    assert_eq!(groups_of_ours(), [""; 0]);
    wait(with_launcher_ready(async {
        warm(&world).await;
        last_launcher();
        let finished = finish(&world.sh(WHO_STARTED)).await;
        assert!(stood_ready(&finished.stdout.text()));
        assert_eq!(stands(), [0; 0]);
    }));
}

#[test]
fn one_that_was_killed_is_not_waited_for() {
    let world = World::new();
    wait(with_launcher_ready(async {
        warm(&world).await;
        let [pid] = stands()[..] else {
            panic!("{:?}", stands())
        };
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::SIGKILL).unwrap();
        until("it is gone", || stands().is_empty().then_some(()));
        let finished = finish(&world.sh(&format!("{WHO_STARTED}; exit 4"))).await;
        assert_eq!(finished.exit, Exit::Code(4));
        assert!(!stood_ready(&finished.stdout.text()));
    }));
}

/// Its order may have been given before it began to run, and whoever gave it may be dead by then.
#[test]
fn one_whose_supervisor_is_another_does_nothing() {
    let alone = Command::new(binary(), "/").args(["sandbox-launch", "--stand", "1"]);
    let finished = wait(finish(&alone));
    assert_eq!(finished.exit, Exit::Code(125));
    let said = finished.stderr.text();
    assert!(said.contains("is gone"), "{said}");
}

/// Launchers of this process that stand ready, or did.
fn stands() -> Vec<i32> {
    let me = std::process::id().to_string();
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter(|pid| {
            let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
            let is_ours = read("stat").is_ok_and(|stat| {
                let rest = stat.rsplit(')').next().unwrap_or_default();
                rest.split_whitespace().nth(1) == Some(&me)
            });
            is_ours && read("cmdline").is_ok_and(|line| line.contains("--stand"))
        })
        .collect()
}
