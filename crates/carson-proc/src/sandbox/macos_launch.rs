//! Elsewhere than on Linux: limits of resources, and `sandbox-exec` where there is one.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::sandbox::becoming::become_program;
use crate::sandbox::call::{Call, Say};
use crate::sandbox::first::FIRST;
use crate::sandbox::level::{Level, NetworkLevel, SHARED_NETWORK};
use crate::sandbox::macos::seatbelt;
use crate::sandbox::profile::{Demand, Network, Profile};
use crate::sandbox::resolve::resolve;
use crate::sandbox::{handover, rlimits, wait_child};

const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// Puts the walls up and becomes the program.
pub(super) fn launch(call: Call) -> Result<ExitCode, String> {
    let profile = Profile::read_from(&call.profile)
        .map_err(|error| format!("profile {:?}: {error}", call.profile))?;
    let profile = without_links(profile);
    if let Network::Isolated { proxy, socket } = &profile.network {
        let server = handover::reach(socket).map_err(|error| format!("{socket:?}: {error}"))?;
        TcpListener::bind((Ipv4Addr::LOCALHOST, *proxy))
            .and_then(|listener| handover::give(&server, &listener))
            .map_err(|error| format!("127.0.0.1:{proxy}: {error}"))?;
    }
    let mut level = level(&profile);
    rlimits::apply(&profile.resources, &mut level)?;
    if let Some(missing) = level.unmet(&profile) {
        return Err(format!("sandbox required, not available: {missing}"));
    }
    report_level(&call, &level)?;
    wait_child::release_signals();
    Ok(ExitCode::from(become_program(program(
        &call, &profile, &level,
    )?)))
}

/// Prints the level.
pub(super) fn probe() -> Result<ExitCode, String> {
    let profile = Profile {
        network: Network::Ports(Vec::new()),
        ..Profile::default()
    };
    let text = serde_json::to_string(&level(&profile)).map_err(|error| error.to_string())?;
    writeln!(io::stdout(), "{text}").map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn level(profile: &Profile) -> Level {
    let mut level = Level::default();
    if profile.demand == Demand::Off {
        return level;
    }
    level.seatbelt = cfg!(target_os = "macos") && Path::new(SANDBOX_EXEC).exists();
    if level.seatbelt {
        level.network = match profile.network {
            Network::Open | Network::Shared => NetworkLevel::Open,
            Network::Ports(_) | Network::Nobody => NetworkLevel::Ports,
            Network::Isolated { .. } => NetworkLevel::ProxyPort,
        };
    } else {
        level.weaken("no sandbox: it reads and writes whatever its user may");
    }
    if profile.network == Network::Shared {
        level.weaken(SHARED_NETWORK);
    }
    level.weaken("no process namespace: who is left at its end is looked for one by one");
    level.weaken("no control group: memory is bounded for each process only");
    level
}

/// Rules are about real paths: `/tmp` is one of `/private`.
fn without_links(mut profile: Profile) -> Profile {
    for paths in [&mut profile.read, &mut profile.write, &mut profile.hide] {
        let real = |path: &PathBuf| Some(resolve(path, &profile.shared).ok()?.real);
        *paths = paths.iter().filter_map(real).collect();
    }
    profile
}

fn report_level(call: &Call, level: &Level) -> Result<(), String> {
    let fail = |error: io::Error| format!("the level cannot be told: {error}");
    let text = serde_json::to_string(level).map_err(|error| fail(error.into()))?;
    match call.say {
        Some(Say::Words) => writeln!(io::stderr(), "{level}").map_err(fail)?,
        Some(Say::Json) => writeln!(io::stderr(), "{text}").map_err(fail)?,
        None => {}
    }
    if call.profile.starts_with("/dev/fd") {
        return Ok(());
    }
    fs::write(Profile::level_path(&call.profile), text).map_err(fail)
}

/// Behind `sandbox-exec` our own executable asks what is asked first.
#[expect(
    clippy::disallowed_methods,
    reason = "this process becomes the program; nobody is started"
)]
fn program(call: &Call, profile: &Profile, level: &Level) -> Result<Command, String> {
    let mut words: Vec<OsString> = Vec::new();
    if level.seatbelt {
        words.extend([SANDBOX_EXEC.into(), "-p".into(), seatbelt(profile).into()]);
    }
    if let Some(first) = &call.first {
        let us = std::env::current_exe().map_err(|error| format!("asking first: {error}"))?;
        words.extend([us.into(), FIRST.into(), first.as_argument()]);
    }
    words.push(call.program.clone().into());
    words.extend(call.args.iter().cloned());
    let mut words = words.into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    Ok(command)
}
