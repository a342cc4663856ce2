//! `carson sandbox`

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf, absolute};

use carson_core::egress::{Allowlist, Rule};
use carson_egress::Standalone;
use carson_proc::find_on_path;
use carson_proc::sandbox::{
    Demand, Network, Ns, Profile, Say, hold_signals, probe, run_in_foreground,
};
use serde_json::json;

use crate::args::Sandbox;
use crate::commands::firings::connection;
use crate::error::CommandError;
use crate::print;

pub fn run(args: &Sandbox, as_json: bool) -> Result<u8, CommandError> {
    if args.probe {
        let level = probe();
        if as_json {
            print::json(&level);
        } else {
            print::line(&level.to_string());
        }
        return Ok(0);
    }
    let (name, rest) = args
        .command
        .split_first()
        .ok_or_else(|| CommandError::usage("there is no command"))?;
    let path = std::env::var_os("PATH");
    let program = find_on_path(Path::new(name), path.as_deref())
        .ok_or_else(|| CommandError::failed(format!("{name:?} is not on PATH")))?;
    let mut profile = profile(args)?;
    let way_out = way_out(args, &mut profile)?;
    let env = way_out
        .as_ref()
        .map(Standalone::variables)
        .unwrap_or_default();
    let file = ProfileFile::write(&profile)?;
    let say = if as_json { Say::Json } else { Say::Words };
    let ended = run_in_foreground(&file.0, say, (&absolute(program)?, rest), &env)?;
    // Should we end by a signal, nothing is dropped.
    drop(file);
    if let Some(way_out) = way_out {
        print_egress(&way_out, as_json);
    }
    Ok(ended.end_likewise())
}

/// The proxy that `--egress` asks for, and a profile that leads nowhere else.
fn way_out(args: &Sandbox, profile: &mut Profile) -> Result<Option<Standalone>, CommandError> {
    if args.egress.is_empty() {
        return Ok(None);
    }
    let rules: Vec<Rule> = args
        .egress
        .iter()
        .map(|text| rule(text))
        .collect::<Result<_, _>>()?;
    let may_isolate = profile.demand != Demand::Off
        && profile.force.is_none_or(|force| force.namespaces)
        && probe().has(Ns::Net);
    let socket = may_isolate.then(socket).transpose()?;
    // The proxy has a thread of its own.
    hold_signals();
    let way_out = Standalone::open(Allowlist(rules), socket.as_deref());
    let way_out = way_out.map_err(|error| CommandError::failed(error.to_string()))?;
    profile.network = way_out.network();
    Ok(Some(way_out))
}

fn rule(text: &str) -> Result<Rule, CommandError> {
    text.parse::<Rule>()
        .map_err(|error| CommandError::usage(format!("--egress: {error}; {}", error.hint())))
}

/// A path for the proxy's socket in a folder that only we enter.
fn socket() -> Result<PathBuf, CommandError> {
    let name = format!("carson-sandbox-{}", std::process::id());
    let dir = std::env::temp_dir().join(name);
    // Whoever made it before us is not us.
    fs::DirBuilder::new().mode(0o700).create(&dir)?;
    Ok(dir.join("way-out"))
}

/// What went where, beside the command's own output.
fn print_egress(way_out: &Standalone, as_json: bool) {
    let hosts = way_out.counts();
    if as_json {
        print::error(&json!({ "egress": hosts }).to_string());
        return;
    }
    for host in &hosts {
        print::error(&format!("egress: {}", connection(host)));
    }
}

fn profile(args: &Sandbox) -> Result<Profile, CommandError> {
    let mut profile = match &args.profile {
        Some(file) => Profile::read_from(file)
            .map_err(|error| CommandError::usage(format!("{}: {error}", file.display())))?,
        None => Profile {
            read: Profile::system_reads(),
            hide: Profile::system_secrets(),
            ..Profile::default()
        },
    };
    for (given, list) in [
        (&args.read, &mut profile.read),
        (&args.write, &mut profile.write),
        (&args.hide, &mut profile.hide),
    ] {
        for path in given {
            if !path.exists() {
                let message = format!("{} does not exist", path.display());
                return Err(CommandError::usage(message));
            }
            list.push(absolute(path)?);
        }
    }
    // Where we are can be read at least: the command starts here.
    profile.read.push(std::env::current_dir()?);
    if !args.port.is_empty() {
        profile.network = Network::Ports(args.port.clone());
    }
    if args.required {
        profile.demand = Demand::Required;
    }
    let resources = &mut profile.resources;
    resources.processes = args.processes.or(resources.processes);
    resources.memory_mb = args.memory.or(resources.memory_mb);
    Ok(profile)
}

/// A profile for this one run; goes with what the launcher writes beside it.
struct ProfileFile(PathBuf);

impl ProfileFile {
    fn write(profile: &Profile) -> Result<Self, CommandError> {
        let name = format!("carson-sandbox-{}.json", std::process::id());
        let file = Self(std::env::temp_dir().join(name));
        profile.write_to(&file.0)?;
        Ok(file)
    }
}

impl Drop for ProfileFile {
    fn drop(&mut self) {
        let mut paths = vec![Profile::level_path(&self.0), Profile::left_path(&self.0)];
        paths.push(std::mem::take(&mut self.0));
        for path in paths {
            let _ = fs::remove_file(path);
        }
    }
}
