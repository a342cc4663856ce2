//! Linux: the order in which the walls go up.

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::gives_way::GivesWay;
use crate::sandbox::becoming::{UNMET, become_program};
use crate::sandbox::call::{Call, Say};
use crate::sandbox::first::First;
use crate::sandbox::handover;
use crate::sandbox::level::{CgroupLevel, Level, Ns};
use crate::sandbox::membership::Membership;
use crate::sandbox::mounts::Parts;
use crate::sandbox::namespaces::{self, Outcome};
use crate::sandbox::plan::Plan;
use crate::sandbox::profile::{Demand, Network, Profile};
use crate::sandbox::weaknesses::find_weaknesses;
use crate::sandbox::{cgroup, landlock, rlimits, seccomp, sys, wait_child};

/// Everything that is known before the first wall.
struct Launch {
    profile: Profile,
    plan: Plan,
    cwd: PathBuf,
    then: Then,
    report: Option<File>,
    say: Option<Say>,
    cgroup: CgroupLevel,
    membership: Membership,
    /// Whether a network of its own is wanted.
    net: bool,
}

/// What happens behind the walls.
enum Then {
    /// This is asked, then the program begins.
    Program(Option<First>, PathBuf, Vec<std::ffi::OsString>),
    /// The level is printed.
    Tell,
}

/// Puts the walls up and becomes the program.
pub(super) fn launch(call: Call) -> Result<ExitCode, String> {
    let profile = Profile::read_from(&call.profile)
        .map_err(|error| format!("profile {:?}: {error}", call.profile))?;
    let launch = Launch {
        plan: Plan::of(&profile),
        cwd: std::env::current_dir().map_err(|error| format!("working directory: {error}"))?,
        report: report(&call.profile)?,
        say: call.say,
        cgroup: cgroup::level_of(&call.cgroups),
        membership: Membership::of(&call.cgroups)?,
        net: matches!(profile.network, Network::Isolated { .. } | Network::Nobody),
        then: Then::Program(call.first, call.program, call.args),
        profile,
    };
    GivesWay::Session.begin();
    let (code, left) = launch.everywhere()?;
    if left > 0 {
        let _ = fs::write(Profile::left_path(&call.profile), left.to_string());
    }
    Ok(ExitCode::from(code))
}

/// Prints the level that this kernel reaches for this user.
pub(super) fn probe() -> Result<ExitCode, String> {
    let profile = Profile {
        read: Profile::system_reads(),
        network: Network::Ports(Vec::new()),
        ..Profile::default()
    };
    let launch = Launch {
        plan: Plan::of(&profile),
        cwd: PathBuf::from("/"),
        then: Then::Tell,
        report: None,
        say: None,
        cgroup: CgroupLevel::default(),
        membership: Membership::default(),
        net: true,
        profile,
    };
    launch.everywhere().map(|(code, _)| ExitCode::from(code))
}

impl Launch {
    /// In as many namespaces as there are to be had; how many processes the program has left.
    fn everywhere(&self) -> Result<(u8, u32), String> {
        let mut level = Level {
            cgroup: self.cgroup,
            ..Level::default()
        };
        let force = self.profile.force.unwrap_or_default();
        let wanted = self.profile.demand != Demand::Off && force.namespaces;
        let attempts = wanted.then(|| namespaces::attempts(self.net));
        // Without mounts these trees are empty.
        let overlays = !self.profile.overlays.is_empty();
        let full = if self.net { 4 } else { 3 };
        let mut first_refusal = None;
        let usable = |set: &Vec<Ns>| !overlays || set.contains(&Ns::Mount);
        for set in attempts.unwrap_or_default().into_iter().filter(usable) {
            level.namespaces.clone_from(&set);
            if let Some(why) = &first_refusal
                && set.iter().filter(|one| **one != Ns::User).count() < full
            {
                level.weaken(why);
            }
            let inside = || self.inside(&set);
            let program = || self.behind(level.clone());
            match namespaces::run(&set, &self.membership, inside, program) {
                Outcome::Done(code, left) => return Ok((code, left)),
                Outcome::Unavailable(why) => {
                    let names: Vec<_> = set.iter().map(ToString::to_string).collect();
                    let refusal = || format!("no namespaces {}: {why}", names.join("+"));
                    first_refusal.get_or_insert_with(refusal);
                }
            }
        }
        if overlays {
            let why = first_refusal.unwrap_or_else(|| "they are not wanted".to_owned());
            return Err(format!("a workspace of layers needs namespaces: {why}"));
        }
        level.namespaces.clear();
        if let Some(why) = &first_refusal {
            level.weaken(why);
        }
        self.membership.join()?;
        let socket = self.reach_server()?;
        self.listen(socket)?;
        wait_child::release_signals();
        Ok((self.behind(level), 0))
    }

    /// The first process in the namespaces makes its world.
    fn inside(&self, set: &[Ns]) -> Result<(), String> {
        // The way to the server is not to be seen later.
        let server = self.reach_server()?;
        if set.contains(&Ns::Net) {
            sys::loopback_up().map_err(|error| format!("loopback: {error}"))?;
        }
        if set.contains(&Ns::Mount) {
            Parts::collect(&self.plan, set)?.put_together()?;
        }
        // Last, because it can be given away once only.
        self.listen(server)
    }

    fn reach_server(&self) -> Result<Option<(u16, UnixStream)>, String> {
        let Network::Isolated { proxy, socket } = &self.profile.network else {
            return Ok(None);
        };
        let stream = handover::reach(socket).map_err(|error| format!("{socket:?}: {error}"))?;
        Ok(Some((*proxy, stream)))
    }

    /// Listens where the program will look for its proxy, for whoever serves it.
    fn listen(&self, server: Option<(u16, UnixStream)>) -> Result<(), String> {
        let Some((port, server)) = server else {
            return Ok(());
        };
        TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .and_then(|listener| handover::give(&server, &listener))
            .map_err(|error| format!("127.0.0.1:{port}: {error}"))
    }

    /// The walls around one process and its children, then the program. Comes back with an exit
    /// code only if there is no program.
    #[expect(
        clippy::disallowed_methods,
        reason = "this process becomes the program; nobody is started"
    )]
    fn behind(&self, level: Level) -> u8 {
        let done = self
            .confine(level)
            .and_then(|level| self.report_level(&level));
        if let Err(why) = done {
            let _ = writeln!(io::stderr(), "carson sandbox: {why}");
            return UNMET;
        }
        match &self.then {
            Then::Program(first, program, args) => {
                sys::close_at_exec();
                if let Some(code) = first.as_ref().and_then(First::refuses) {
                    return code;
                }
                let mut command = Command::new(program);
                command.args(args);
                become_program(command)
            }
            Then::Tell => 0,
        }
    }

    fn confine(&self, mut level: Level) -> Result<Level, String> {
        let profile = &self.profile;
        std::env::set_current_dir(&self.cwd)
            .map_err(|error| format!("working directory {:?}: {error}", self.cwd))?;
        rlimits::apply(&profile.resources, &mut level)?;
        if profile.demand == Demand::Off {
            return Ok(level);
        }
        if sys::drop_capabilities() != 0 {
            level.weaken("capabilities of root are kept: the kernel does not let go of them");
        }
        nix::sys::prctl::set_no_new_privs().map_err(|error| format!("no_new_privs: {error}"))?;
        let force = profile.force.unwrap_or_default();
        let abi = sys::landlock_abi().min(force.landlock);
        landlock::restrict(profile, &self.plan, abi, &mut level);
        let closed = seccomp::Closed {
            all_but_tcp: !profile.network.is_open() && !level.has(Ns::Net),
            unix_sockets: !level.has(Ns::Mount),
        };
        if force.seccomp {
            match seccomp::filter(closed) {
                Ok(()) => level.seccomp = true,
                Err(why) => level.weaken(format!("no seccomp: {why}")),
            }
        }
        find_weaknesses(profile, &mut level);
        match level.unmet(profile) {
            Some(missing) => Err(format!("sandbox required, not available: {missing}")),
            None => Ok(level),
        }
    }

    /// Says what was reached, while it can still be said.
    fn report_level(&self, level: &Level) -> Result<(), String> {
        let fail = |error: io::Error| format!("the level cannot be told: {error}");
        let text = serde_json::to_vec(level).map_err(|error| fail(error.into()))?;
        match self.say {
            Some(Say::Words) => writeln!(io::stderr(), "{level}").map_err(fail)?,
            Some(Say::Json) => {
                let line = [text.as_slice(), b"\n"].concat();
                io::stderr().write_all(&line).map_err(fail)?;
            }
            None => {}
        }
        match (&self.then, self.report.as_ref()) {
            (Then::Tell, _) => io::stdout().write_all(&text).map_err(fail),
            (_, Some(mut report)) => report.write_all(&text).map_err(fail),
            (_, None) => Ok(()),
        }
    }
}

/// The file that says what was reached; none for a profile that is a descriptor.
fn report(profile: &Path) -> Result<Option<File>, String> {
    if profile.starts_with("/dev/fd") {
        return Ok(None);
    }
    let path = Profile::level_path(profile);
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .map(Some)
        .map_err(|error| format!("{path:?}: {error}"))
}
