//! Linux: the order in which the walls go up.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::sandbox::handover::hand_over;
use crate::sandbox::launch::{Call, UNMET};
use crate::sandbox::level::{Level, NetworkLevel};
use crate::sandbox::profile::{Demand, Network, Profile};
use crate::sandbox::{landlock, rlimits, sys};

/// For whoever serves the proxy to be there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Puts the walls up and becomes the program.
pub(super) fn launch(call: &Call) -> Result<ExitCode, String> {
    let profile = Profile::read_from(&call.profile)
        .map_err(|error| format!("profile {:?}: {error}", call.profile))?;
    let report = report(&call.profile)?;
    for cgroup in &call.cgroups {
        std::fs::write(cgroup.join("cgroup.procs"), "0")
            .map_err(|error| format!("control group {cgroup:?}: {error}"))?;
    }
    if let Network::Isolated { proxy, socket } = &profile.network {
        listen(*proxy, socket)?;
    }
    let mut level = Level::default();
    rlimits::apply(&profile.resources, &mut level)?;
    if profile.demand != Demand::Off {
        confine(&profile, &mut level)?;
        if let Some(missing) = level.unmet(&profile) {
            return Err(format!("sandbox required, not available: {missing}"));
        }
    }
    tell(report, &level)?;
    let Err(code) = become_program(call);
    Ok(ExitCode::from(code))
}

/// Prints the level that this kernel reaches for this user.
pub(super) fn probe() -> Result<ExitCode, String> {
    let profile = Profile {
        read: Profile::system_reads(),
        network: Network::Ports(Vec::new()),
        ..Profile::default()
    };
    let mut level = Level::default();
    rlimits::apply(&profile.resources, &mut level)?;
    confine(&profile, &mut level)?;
    let text = serde_json::to_string(&level).map_err(|error| error.to_string())?;
    writeln!(io::stdout(), "{text}").map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// The walls that need no helper process.
fn confine(profile: &Profile, level: &mut Level) -> Result<(), String> {
    let force = profile.force.unwrap_or_default();
    sys::no_new_privileges().map_err(|error| format!("no_new_privs: {error}"))?;
    landlock::restrict(profile, sys::landlock_abi().min(force.landlock), level)?;
    level.network = match profile.network {
        Network::Open => NetworkLevel::Open,
        Network::Ports(_) if level.landlock_abi >= 4 => NetworkLevel::Ports,
        Network::Isolated { .. } if level.landlock_abi >= 4 => NetworkLevel::ProxyPort,
        _ => NetworkLevel::TcpOnly,
    };
    Ok(())
}

/// Listens where the program will look for its proxy, for whoever serves it.
fn listen(port: u16, socket: &Path) -> Result<(), String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .map_err(|error| format!("127.0.0.1:{port}: {error}"))?;
    hand_over(socket, &listener, PATIENCE).map_err(|error| format!("{socket:?}: {error}"))
}

/// The file that says what was reached; none for a profile that is a descriptor.
fn report(profile: &Path) -> Result<Option<File>, String> {
    if profile.starts_with("/dev/fd") {
        return Ok(None);
    }
    let path = Profile::level_path(profile);
    std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .map(Some)
        .map_err(|error| format!("{path:?}: {error}"))
}

fn tell(report: Option<File>, level: &Level) -> Result<(), String> {
    let Some(mut report) = report else {
        return Ok(());
    };
    let text = serde_json::to_vec_pretty(level).map_err(|error| error.to_string())?;
    report
        .write_all(&text)
        .map_err(|error| format!("the level cannot be written: {error}"))
}

/// The exit code of a shell for what cannot be run.
#[expect(
    clippy::disallowed_methods,
    reason = "this process becomes the program; nobody is started"
)]
fn become_program(call: &Call) -> Result<Infallible, u8> {
    let error = std::process::Command::new(&call.program)
        .args(&call.args)
        .exec();
    let program: &PathBuf = &call.program;
    let _ = writeln!(io::stderr(), "carson sandbox: {program:?}: {error}");
    Err(match error.kind() {
        io::ErrorKind::NotFound => 127,
        io::ErrorKind::PermissionDenied => 126,
        _ => UNMET,
    })
}
