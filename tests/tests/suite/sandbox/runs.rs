//! Whole runs in the sandbox: how they end, what they leave, how much they may use.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carson_proc::sandbox::{Abi, Level, Network, NetworkLevel, Profile, receive_listener};
use carson_proc::{
    Cancel, Command, Exit, Finished, Limits, StopReason, become_subreaper, find_on_path, run,
};
use carson_tests::fleet::binary;
use carson_tests::until;
use tempfile::TempDir;

const LONG: Duration = Duration::from_secs(60);

/// A tree, and a profile for it.
struct World {
    dir: TempDir,
    profile: Profile,
}

impl World {
    fn new(force: Abi) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("tree")).unwrap();
        let profile = Profile {
            read: Profile::system_reads(),
            write: vec![dir.path().join("tree")],
            force: Some(force),
            ..Profile::default()
        };
        Self { dir, profile }
    }

    fn tree(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    fn profile_path(&self) -> PathBuf {
        self.dir.path().join("profile.json")
    }

    fn command(&self, program: &str) -> Command {
        let path = self.profile_path();
        let _ = std::fs::remove_file(&path);
        self.profile.write_to(&path).unwrap();
        let search = std::env::var_os("PATH");
        let program = find_on_path(Path::new(program), search.as_deref()).unwrap();
        Command::new(program, self.tree())
            .inherit_env()
            .confined_by(path, binary())
    }

    fn sh(&self, script: &str) -> Command {
        self.command("sh").arg("-c").arg(script)
    }

    fn perl(&self, script: &str) -> Command {
        self.command("perl").arg("-e").arg(script)
    }

    fn level(&self) -> Level {
        Level::read_beside(&self.profile_path()).unwrap()
    }
}

/// With everything, with a control group alone, with namespaces alone, with nothing but a sweep.
fn ways() -> [Abi; 4] {
    let all = Abi::default();
    let alone = Abi {
        namespaces: false,
        ..all
    };
    let namespaces = Abi {
        cgroup: false,
        ..all
    };
    let sweep = Abi {
        cgroup: false,
        ..alone
    };
    [all, alone, namespaces, sweep]
}

fn limits() -> Limits {
    Limits {
        grace: Duration::from_millis(500),
        ..Limits::within(LONG)
    }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn finish(command: &Command) -> Finished {
    wait(run(command, &limits(), &Cancel::new(), |_| {
        ControlFlow::Continue(())
    }))
    .unwrap()
}

/// Runs, and cancels at the first line that says so.
fn cancelled_when_ready(command: &Command, limits: &Limits) -> Finished {
    let cancel = Cancel::new();
    wait(run(command, limits, &cancel, |line| {
        if line.bytes.starts_with(b"ready") {
            cancel.cancel();
        }
        ControlFlow::Continue(())
    }))
    .unwrap()
}

#[test]
fn it_ends_as_the_program_does() {
    for force in ways() {
        let world = World::new(force);
        let finished = finish(&world.sh("echo out; echo err >&2; exit 7"));
        assert_eq!(finished.exit, Exit::Code(7), "{force:?}");
        assert_eq!(finished.stdout.text(), "out\n");
        assert_eq!(finished.stderr.text(), "err\n");
        for signal in [15, 9, 6] {
            let finished = finish(&world.sh(&format!("kill -{signal} $$; sleep 100")));
            assert_eq!(finished.exit, Exit::Signal(signal), "{force:?}");
        }
        let finished = finish(&world.sh("wc -c").stdin_bytes(vec![b'i'; 1 << 20]));
        assert_eq!(finished.stdout.text().trim(), "1048576");
        assert_eq!((finished.leaked, finished.stopped), (0, None));
    }
}

#[test]
fn what_cannot_be_started_says_so_as_a_shell_does() {
    let world = World::new(Abi::default());
    let mut command = world.sh("true");
    command.program = world.tree().join("none");
    assert_eq!(finish(&command).exit, Exit::Code(127));
    std::fs::write(world.tree().join("none"), "plain").unwrap();
    assert_eq!(finish(&command).exit, Exit::Code(126));
}

#[test]
fn it_is_asked_once_and_may_say_goodbye() {
    for force in ways() {
        let world = World::new(force);
        let script = "$SIG{TERM} = sub { $n++ }; $| = 1; print qq(ready\n); \
                      select(undef, undef, undef, 0.01) until $n; \
                      select(undef, undef, undef, 0.2); print qq(asked $n\n); exit 3";
        let patient = Limits {
            grace: Duration::from_secs(50),
            ..limits()
        };
        let finished = cancelled_when_ready(&world.perl(script), &patient);
        assert_eq!(finished.stdout.text(), "ready\nasked 1\n", "{force:?}");
        assert_eq!(finished.exit, Exit::Code(3));
        assert_eq!(finished.stopped, Some(StopReason::Cancelled));
    }
}

#[test]
fn who_is_deaf_is_killed_with_everybody() {
    for force in ways() {
        let world = World::new(force);
        let path = world.tree().join("lock");
        let script = "open(L, '>', $ARGV[0]); flock(L, 2); $SIG{TERM} = 'IGNORE'; fork; \
                      $| = 1; print qq(ready\n); sleep 1000 while 1";
        let finished = cancelled_when_ready(&world.perl(script).arg(&path), &limits());
        assert_eq!(finished.exit, Exit::Signal(9), "{force:?}");
        assert!(is_free(&path), "somebody lives: {force:?}");
    }
}

/// Whether nobody holds the lock that everybody in the tree inherited.
fn is_free(path: &Path) -> bool {
    use nix::fcntl::{Flock, FlockArg};
    let file = std::fs::File::open(path).unwrap();
    Flock::lock(file, FlockArg::LockExclusiveNonblock).is_ok()
}

#[test]
fn five_kinds_of_daemons_die_with_it() {
    become_subreaper().unwrap();
    for force in ways() {
        let world = World::new(force);
        let path = world.tree().join("lock");
        // In the group; in a session; forked twice; without output; without environment.
        let script = "use POSIX; $^F = 1000; open(L, '>', $ARGV[0]); flock(L, 2); pipe(R, W); \
            for my $kind (0..4) { if (!fork) { \
                POSIX::setsid() if $kind >= 1; if ($kind >= 2) { POSIX::_exit(0) if fork } \
                if ($kind >= 3) { open(STDOUT, '>', '/dev/null'); open(STDERR, '>', '/dev/null') } \
                syswrite(W, 'x'); close W; \
                if ($kind == 4) { %ENV = (); exec '/bin/sleep', '1000' } \
                sleep 1000 while 1 } } \
            close W; for (0..4) { sysread(R, my $x, 1) } print qq(all\n); exit 0";
        let finished = finish(&world.perl(script).arg(&path));
        assert_eq!(finished.exit, Exit::Code(0), "{}", finished.stderr.text());
        assert_eq!(finished.stdout.text(), "all\n");
        assert!(is_free(&path), "somebody lives: {force:?}");
        assert!(
            (5..=7).contains(&finished.leaked),
            "{force:?}: {finished:?}"
        );
        assert!(finished.elapsed < Duration::from_secs(10));
    }
}

#[test]
fn hundreds_of_descendants_are_gone_at_once() {
    become_subreaper().unwrap();
    for force in ways() {
        let world = World::new(force);
        let path = world.tree().join("lock");
        let script = "use POSIX; open(L, '>', $ARGV[0]); flock(L, 2); $SIG{TERM} = 'IGNORE'; \
            pipe(R, W); for (1..200) { if (!fork) { POSIX::setsid(); syswrite(W, 'x'); \
                                                    sleep 1000 while 1 } } \
            for (1..200) { sysread(R, my $x, 1) } $| = 1; print qq(ready\n); sleep 1000 while 1";
        let hasty = Limits {
            grace: Duration::ZERO,
            ..limits()
        };
        let mut ready = None;
        let cancel = Cancel::new();
        let command = world.perl(script).arg(&path);
        let finished = wait(run(&command, &hasty, &cancel, |_| {
            ready = Some(Instant::now());
            cancel.cancel();
            ControlFlow::Continue(())
        }))
        .unwrap();
        let took = ready.unwrap().elapsed();
        assert!(is_free(&path), "somebody lives: {force:?}");
        assert_eq!(finished.exit, Exit::Signal(9));
        // The bench measures; here other tests run beside it.
        assert!(took < Duration::from_secs(4), "{force:?}: {took:?}");
    }
}

#[test]
fn a_dropped_run_leaves_neither_processes_nor_groups() {
    for force in ways() {
        let world = World::new(force);
        let path = world.tree().join("lock");
        let script = "use POSIX; open(L, '>', $ARGV[0]); flock(L, 2); \
                      if (!fork) { POSIX::setsid(); sleep 1000 while 1 } \
                      $| = 1; print qq(ready\n); sleep 1000 while 1";
        let command = world.perl(script).arg(&path);
        wait(async {
            let ready = tokio::sync::Notify::new();
            let (limits, cancel) = (limits(), Cancel::new());
            let running = run(&command, &limits, &cancel, |_| {
                ready.notify_one();
                ControlFlow::Continue(())
            });
            tokio::select! {
                _ = running => panic!("it ended"),
                () = ready.notified() => {}
            }
        });
        until("nobody holds the lock", || is_free(&path).then_some(()));
        assert_eq!(groups_of_ours(), [""; 0], "{force:?}");
    }
}

#[test]
fn the_program_is_in_the_groups_that_end_it() {
    for namespaces in [true, false] {
        let world = World::new(Abi {
            namespaces,
            ..Abi::default()
        });
        let finished = finish(&world.perl("open F, '/proc/self/cgroup'; print <F>"));
        let said = finished.stdout.text();
        let group = |line: &str| Path::new(line).file_name().map(OsStr::to_owned);
        let mut groups = said.lines().filter_map(group);
        let member = groups.any(|group| is_ours(&group.to_string_lossy()));
        assert_eq!(member, world.level().cgroup.kill, "{said}");
    }
}

/// `carson-NAMESPACE.PID.START.NUMBER`
fn is_ours(group: &str) -> bool {
    let own = std::process::id().to_string();
    group.starts_with("carson-") && group.split('.').nth(1) == Some(&own)
}

/// Control groups that this process has made.
fn groups_of_ours() -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_ours(&name) {
                found.push(name);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                todo.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn a_network_of_its_own_has_the_proxy_and_nobody_else() {
    for namespaces in [true, false] {
        let mut world = World::new(Abi {
            namespaces,
            ..Abi::default()
        });
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        let closed = elsewhere.local_addr().unwrap().port();
        let proxy = free_port();
        let socket = world.dir.path().join("socket");
        world.profile.network = Network::Isolated {
            proxy,
            socket: socket.clone(),
        };
        let serving = std::thread::spawn(move || {
            let listener = receive_listener(&socket, LONG).unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"from the proxy").unwrap();
        });
        let script = format!(
            "use IO::Socket::INET; \
             my $p = IO::Socket::INET->new('127.0.0.1:{proxy}') or die qq(proxy: $!); print <$p>; \
             print IO::Socket::INET->new('127.0.0.1:{closed}') ? ' open' : ' closed'; \
             print IO::Socket::INET->new(Proto => 'udp', PeerAddr => '192.0.2.1:53') \
                   ? ' udp' : ' no udp'"
        );
        let finished = finish(&world.perl(&script));
        let expected = "from the proxy closed no udp";
        assert_eq!(finished.stdout.text(), expected, "{finished:?}");
        serving.join().unwrap();
        let level = if namespaces {
            NetworkLevel::Isolated
        } else {
            NetworkLevel::ProxyPort
        };
        assert_eq!(world.level().network, level);
        // What was isolated is not to be reached from here either.
        let address = SocketAddr::from(([127, 0, 0, 1], proxy));
        assert!(TcpStream::connect_timeout(&address, LONG).is_err());
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn processes_are_bounded_where_the_level_says_so() {
    let mut world = World::new(Abi::default());
    world.profile.resources.processes = Some(30);
    let script = "my $n = 0; for (1..200) { my $pid = fork; last if !defined $pid; \
                  if (!$pid) { sleep 1000; exit } $n++ } print $n";
    let finished = finish(&world.perl(script));
    let forked: u32 = finished.stdout.text().parse().unwrap();
    let level = world.level();
    let bounded = !level.weaker.iter().any(|one| one.contains("not bounded"));
    assert_eq!(bounded, forked < 31, "{forked} processes, {level}");
    assert!(finished.elapsed < Duration::from_secs(20));
}

#[test]
fn memory_is_bounded_and_we_live_on() {
    for cgroup in [true, false] {
        let mut world = World::new(Abi {
            cgroup,
            ..Abi::default()
        });
        world.profile.resources.memory_mb = Some(200);
        let script = "my @all; for (1..2000) { push @all, 'x' x 10_000_000 } print 'all'";
        let finished = finish(&world.perl(script));
        assert!(!finished.success(), "{}", world.level());
        assert_eq!(finished.stdout.text(), "");
        let by_the_kernel = finished.out_of_memory > 0;
        assert_eq!(by_the_kernel, world.level().cgroup.memory, "{finished:?}");
        let finished = finish(&world.sh("echo the next one is well"));
        assert!(finished.success());
        assert_eq!(finished.out_of_memory, 0);
    }
}

#[test]
fn files_and_dumps_are_bounded() {
    let mut world = World::new(Abi::default());
    world.profile.resources.file_size_mb = Some(1);
    let finished = finish(&world.sh("ulimit -c; exec dd if=/dev/zero of=big bs=65536 count=64"));
    assert_eq!(finished.exit, Exit::Signal(25), "SIGXFSZ");
    assert_eq!(finished.stdout.text(), "0\n");
    let mut big = Vec::new();
    let file = std::fs::File::open(world.tree().join("big"));
    file.unwrap().read_to_end(&mut big).unwrap();
    assert_eq!(big.len(), 1 << 20);
}

#[test]
fn a_sandbox_in_a_sandbox_has_what_is_left() {
    let mut world = World::new(Abi::default());
    world.profile.read.push(binary());
    let inner = world.tree().join("inner.json");
    let profile = Profile {
        force: None,
        ..world.profile.clone()
    };
    profile.write_to(&inner).unwrap();
    let mut command = world.command("sh");
    command.program = binary();
    let command = command.args([
        "sandbox-launch".as_ref(),
        inner.as_os_str(),
        "--".as_ref(),
        "/bin/sh".as_ref(),
        "-c".as_ref(),
        "echo > file && echo inside; echo > /etc/no 2>/dev/null || echo closed".as_ref(),
    ]);
    let finished = finish(&command);
    assert_eq!(finished.stdout.text(), "inside\nclosed\n", "{finished:?}");
    let level = Level::read_beside(&inner).unwrap();
    assert_eq!(level.namespaces, []);
    assert!(level.landlock_abi > 0 && level.seccomp, "{level}");
    let refused = |one: &&String| one.starts_with("no namespaces");
    assert_eq!(level.weaker.iter().filter(refused).count(), 1, "{level}");
}
