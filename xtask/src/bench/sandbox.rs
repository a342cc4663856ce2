//! The sandbox: what each wall adds to the start of a program, beside bubblewrap, and how soon
//! hundreds of descendants are gone.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use carson_proc::sandbox::{Abi, Demand, Network, Profile};
use carson_proc::{Cancel, Limits, become_subreaper};
use tokio::runtime::Runtime;

use super::Figure;
use super::sample::Sample;

/// Rounds; in each, every way is taken once, so that all see the same machine.
const ROUNDS: usize = 300;
const WARM: usize = 20;
const REAPINGS: usize = 20;

const TRUE: &str = "/bin/true";

/// One way to start a program and wait for its end.
struct Way {
    what: &'static str,
    target: &'static str,
    start: Start,
    took: Vec<Duration>,
}

enum Start {
    Plain(Command),
    /// As sessions are started and swept.
    Run(carson_proc::Command),
}

impl Way {
    fn new(what: &'static str, target: &'static str, start: Start) -> Self {
        Self {
            what,
            target,
            start,
            took: Vec::new(),
        }
    }

    fn once(&mut self, runtime: &Runtime) -> anyhow::Result<Duration> {
        let started = Instant::now();
        let good = match &mut self.start {
            Start::Plain(command) => command.status()?.success(),
            Start::Run(command) => {
                let limits = Limits::within(Duration::from_secs(60));
                let cancel = Cancel::new();
                let running =
                    carson_proc::run(command, &limits, &cancel, |_| ControlFlow::Continue(()));
                runtime.block_on(running)?.success()
            }
        };
        ensure!(good, "{} failed", self.what);
        Ok(started.elapsed())
    }
}

/// A directory with profiles in it.
struct Profiles(PathBuf);

impl Profiles {
    fn file(&self, name: &str, profile: &Profile) -> anyhow::Result<PathBuf> {
        let path = self.0.join(name);
        profile.write_to(&path).context("a profile")?;
        Ok(path)
    }

    /// What a session has: the system to read, a tree to write, ports.
    fn session(&self, force: Abi) -> Profile {
        Profile {
            read: Profile::system_reads(),
            write: vec![self.0.join("tree")],
            hide: Profile::system_secrets(),
            network: Network::Ports(vec![443]),
            force: Some(force),
            ..Profile::default()
        }
    }
}

/// Measures the launcher as it is installed.
pub fn measure(launcher: &Path) -> anyhow::Result<Vec<Figure>> {
    let profiles = Profiles(super::tempdir("carson-bench-sandbox")?);
    std::fs::create_dir(profiles.0.join("tree"))?;
    become_subreaper()?;
    let runtime = Runtime::new()?;
    let mut figures = starts(&profiles, launcher, &runtime)?;
    figures.extend(reapings(&profiles, launcher, &runtime)?);
    std::fs::remove_dir_all(&profiles.0)?;
    Ok(figures)
}

fn starts(profiles: &Profiles, launcher: &Path, runtime: &Runtime) -> anyhow::Result<Vec<Figure>> {
    let mut ways = ways(profiles, launcher)?;
    for round in 0..WARM + ROUNDS {
        for way in &mut ways {
            let took = way.once(runtime)?;
            if round >= WARM {
                way.took.push(took);
            }
        }
    }
    let samples: Vec<Sample> = ways
        .iter_mut()
        .map(|way| Sample::new(std::mem::take(&mut way.took)))
        .collect();
    // The lower end is what it costs; the middle tells how busy the machine is too.
    let low = |sample: &Sample| sample.percentile(5).as_secs_f64() * 1e3;
    let middle = |sample: &Sample| sample.percentile(50).as_secs_f64() * 1e3;
    let floors = [&samples[0], &samples[1]];
    let figures = ways.iter().zip(&samples).map(|(way, sample)| {
        let floor = floors[usize::from(matches!(way.start, Start::Run(_)))];
        let adds = middle(sample) - middle(floor);
        let adds_low = low(sample) - low(floor);
        Figure {
            what: way.what,
            got: sample.to_string(),
            target: way.target,
            beside: format!("adds {adds:+.2} ms to the same without (p5 {adds_low:+.2} ms)"),
        }
    });
    Ok(figures.collect())
}

fn ways(profiles: &Profiles, launcher: &Path) -> anyhow::Result<Vec<Way>> {
    let bare = Abi {
        landlock: 0,
        namespaces: false,
        seccomp: false,
        cgroup: false,
    };
    let landlock = Abi {
        landlock: u8::MAX,
        ..bare
    };
    let seccomp = Abi {
        seccomp: true,
        ..landlock
    };
    let namespaces = Abi {
        namespaces: true,
        ..seccomp
    };
    let off = Profile {
        demand: Demand::Off,
        ..profiles.session(bare)
    };
    let launched = |name: &str, profile: &Profile| -> anyhow::Result<Start> {
        let mut command = Command::new(launcher);
        // Where it starts must be granted too.
        command.current_dir(profiles.0.join("tree"));
        command.arg("sandbox-launch");
        command
            .arg(profiles.file(name, profile)?)
            .args(["--", TRUE]);
        Ok(Start::Plain(quiet(command)))
    };
    let plain = || carson_proc::Command::new(TRUE, "/");
    let session = profiles.session(Abi::default());
    let mut bounded = session.clone();
    bounded.resources.processes = Some(500);
    bounded.resources.memory_mb = Some(4096);
    let confined = |name: &str, profile: &Profile| -> anyhow::Result<Start> {
        let cwd = profiles.0.join("tree");
        let command = carson_proc::Command::new(TRUE, cwd);
        Ok(Start::Run(
            command.confined_by(profiles.file(name, profile)?, launcher),
        ))
    };
    Ok(vec![
        Way::new(
            "start of /bin/true",
            "",
            Start::Plain(quiet(Command::new(TRUE))),
        ),
        Way::new("run of /bin/true", "", Start::Run(plain())),
        Way::new("launcher without walls", "", launched("off", &off)?),
        Way::new(
            "launcher, Landlock",
            "",
            launched("landlock", &profiles.session(landlock))?,
        ),
        Way::new(
            "launcher, Landlock, seccomp",
            "",
            launched("seccomp", &profiles.session(seccomp))?,
        ),
        Way::new(
            "launcher, Landlock, seccomp, namespaces",
            "adds < 5 ms",
            launched("namespaces", &profiles.session(namespaces))?,
        ),
        Way::new(
            "confined run, with a control group",
            "adds < 5 ms",
            confined("run", &session)?,
        ),
        Way::new(
            "confined run, with bounds for processes and memory",
            "adds < 5 ms",
            confined("bounded", &bounded)?,
        ),
        Way::new("bubblewrap", "", Start::Plain(quiet(bubblewrap()))),
    ])
}

fn quiet(mut command: Command) -> Command {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn bubblewrap() -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--ro-bind", "/", "/", "--unshare-pid", "--unshare-net"]);
    command.args(["--dev", "/dev", "--proc", "/proc", TRUE]);
    command
}

fn reapings(
    profiles: &Profiles,
    launcher: &Path,
    runtime: &Runtime,
) -> anyhow::Result<Vec<Figure>> {
    let all = Abi::default();
    let alone = Abi {
        namespaces: false,
        ..all
    };
    let swept = Abi {
        cgroup: false,
        ..alone
    };
    let ways = [
        ("200 descendants gone, all walls", "reap", all),
        (
            "200 descendants gone, control group alone",
            "reap-cgroup",
            alone,
        ),
        ("200 descendants gone, sweep alone", "reap-sweep", swept),
    ];
    let mut figures = Vec::new();
    for (what, name, force) in ways {
        let file = profiles.file(name, &profiles.session(force))?;
        let mut took = Vec::new();
        for _ in 0..REAPINGS {
            took.push(reaping(profiles, &file, launcher, runtime)?);
        }
        figures.push(Figure {
            what,
            got: Sample::new(took).to_string(),
            target: "< 200 ms",
            beside: String::new(),
        });
    }
    Ok(figures)
}

/// From the wish to end it until nobody is left.
fn reaping(
    profiles: &Profiles,
    profile: &Path,
    launcher: &Path,
    runtime: &Runtime,
) -> anyhow::Result<Duration> {
    const DESCENDANTS: &str = "use POSIX; pipe(R, W); for (1..200) { if (!fork) { \
        POSIX::setsid(); syswrite(W, 'x'); sleep 1000 while 1 } } \
        for (1..200) { sysread(R, my $x, 1) } $| = 1; print qq(ready\n); sleep 1000 while 1";
    let command = carson_proc::Command::new("/usr/bin/perl", profiles.0.join("tree"))
        .args(["-e", DESCENDANTS])
        .confined_by(profile, launcher);
    let limits = Limits::within(Duration::from_secs(60));
    let cancel = Cancel::new();
    let mut ready = None;
    let finished = runtime.block_on(carson_proc::run(&command, &limits, &cancel, |_| {
        ready = Some(Instant::now());
        cancel.cancel();
        ControlFlow::Continue(())
    }))?;
    let ready = ready.with_context(|| format!("it never began: {finished:?}"))?;
    Ok(ready.elapsed())
}
