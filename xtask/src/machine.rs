//! `cargo xtask machine`: tests that need more of a machine than a build has everywhere.
//!
//! Each part is looked at first. What cannot run here is said before and after everything else,
//! with the reason; it is never a test that passes without having run.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, cargo, output};
use crate::{debian, package, test, virtual_machine};

/// A part of the tests, and why it cannot run here.
struct Part {
    what: &'static str,
    filter: &'static str,
    missing: Option<String>,
}

struct Options {
    cuts: u64,
    seed: u64,
    rows: u64,
    /// `None` leaves it at what the suite has.
    benches: Option<u64>,
    /// Whether a virtual machine is booted, too.
    in_virtual: bool,
    required: bool,
}

/// Runs what can be run; `args` are `--cuts N`, `--seed N`, `--rows N`, `--benches N`, `--virtual`
/// and `--required`.
///
/// # Errors
/// When an argument is not understood, the tests cannot be run, or a part that is required is
/// missing.
pub fn run(interrupt: &Interrupt, args: &[&str]) -> anyhow::Result<ExitCode> {
    let options = options(args)?;
    if nix::unistd::geteuid().is_root() {
        debian::ensure_disks(interrupt)?;
    }
    let mut parts = vec![
        Part {
            what: "power cuts, a disk that turns read-only, a quota, and disks that clone",
            filter: "test(/^(power|read_only|quota|clones)::/)",
            missing: no_disk(),
        },
        Part {
            what: "a push that never ends, and very many rows",
            filter: "test(/^(pushes|scale)::/)",
            missing: None,
        },
        Part {
            what: "the unit file and the package in systemd",
            filter: "test(/^(service|package)::/)",
            missing: no_systemd(),
        },
    ];
    if options.in_virtual {
        parts.push(Part {
            what: "limits below the systemd of a virtual machine",
            filter: "test(/^virtual_machine::/)",
            missing: virtual_machine::missing(),
        });
    }
    let not_run = say_missing(&parts);
    let asked = options.benches.map(|_| "test(/^bulk::/)");
    if options.required && not_run > 0 {
        bail!("{not_run} of {} parts cannot run here", parts.len());
    }
    let filters: Vec<&str> = parts
        .iter()
        .filter(|part| part.missing.is_none())
        .map(|part| part.filter)
        .chain(asked)
        .flat_map(|filter| ["-E", filter])
        .collect();
    if filters.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    // One part runs tests of the suite, on other disks.
    interrupt.must(cargo().args(["test", "--workspace", "--no-run", "--test", "suite"]))?;
    // Of the whole workspace: for one package alone cargo would build its dependencies anew.
    let chosen = ["--profile", "machine", "--test", "machine"];
    // They are packed only where somebody installs them.
    let debs = match no_systemd() {
        None => package::two_versions(interrupt)?,
        Some(_) => String::new(),
    };
    let boot = match options.in_virtual && virtual_machine::missing().is_none() {
        true => virtual_machine::ensure(interrupt, &Cache::open()?)?
            .display()
            .to_string(),
        false => String::new(),
    };
    let env = [
        ("CARSON_TEST_DEBS", debs),
        (virtual_machine::VARIABLE, boot),
        ("CARSON_POWER_CUTS", options.cuts.to_string()),
        ("CARSON_POWER_SEED", options.seed.to_string()),
        ("CARSON_TEST_ROWS", options.rows.to_string()),
        (
            "CARSON_TEST_BENCHES",
            options.benches.unwrap_or(100).to_string(),
        ),
    ];
    let done = test::run(interrupt, &[&chosen[..], &filters].concat(), &env);
    // The last thing on the screen.
    say_missing(&parts);
    done
}

fn options(args: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options {
        cuts: 5,
        seed: 19,
        rows: 200_000,
        benches: None,
        in_virtual: false,
        required: false,
    };
    let mut args = args.iter();
    while let Some(name) = args.next() {
        let flag = match *name {
            "--required" => Some(&mut options.required),
            "--virtual" => Some(&mut options.in_virtual),
            _ => None,
        };
        if let Some(flag) = flag {
            *flag = true;
            continue;
        }
        let value = args
            .next()
            .with_context(|| format!("{name} needs a number"))?;
        let number = value.parse().with_context(|| format!("{name} {value}"))?;
        match *name {
            "--cuts" => options.cuts = number,
            "--seed" => options.seed = number,
            "--rows" => options.rows = number,
            "--benches" => options.benches = Some(number),
            _ => bail!(
                "machine takes --cuts N, --seed N, --rows N, --benches N, --virtual and --required, not {name}"
            ),
        }
    }
    Ok(options)
}

/// How many parts are missing.
fn say_missing(parts: &[Part]) -> usize {
    let missing = parts
        .iter()
        .filter_map(|part| Some((part.what, part.missing.as_ref()?)));
    let mut count = 0;
    for (what, why) in missing {
        count += 1;
        eprintln!("\n!!! NOT RUN on this machine: {what}: {why}\n");
    }
    count
}

/// Why there can be no disk of one's own.
fn no_disk() -> Option<String> {
    no_namespaces().or_else(|| {
        let systems = fs::read_to_string("/proc/filesystems").unwrap_or_default();
        let has = |name: &str| {
            let listed = systems.lines().any(|line| line.trim_end().ends_with(name));
            listed || output(Command::new("modprobe").arg(name)).is_some()
        };
        if fs::File::open("/dev/loop-control").is_err() {
            return Some("there are no loop devices (/dev/loop-control)".to_owned());
        }
        ["btrfs", "ext4", "xfs"]
            .into_iter()
            .find(|name| !has(name))
            .map(|name| format!("the kernel has no {name}"))
    })
}

/// Why no systemd can be booted.
fn no_systemd() -> Option<String> {
    no_namespaces().or_else(|| {
        if !Path::new("/lib/systemd/systemd").exists() {
            return Some("systemd is not installed".to_owned());
        }
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let unified = mounts.lines().any(|line| {
            let mut fields = line.split(' ').skip(2);
            fields.next() == Some("cgroup2")
                && fields.next().is_some_and(|how| how.starts_with("rw"))
        });
        (!unified).then(|| "no cgroup2 is mounted that can be written".to_owned())
    })
}

/// Why a process cannot have namespaces and mounts of its own.
fn no_namespaces() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("it needs root".to_owned());
    }
    let words = [
        "--mount",
        "--pid",
        "--fork",
        "--cgroup",
        "--mount-proc",
        "true",
    ];
    let tried = output(Command::new("unshare").args(words));
    tried
        .is_none()
        .then(|| "root may not make namespaces and mounts here".to_owned())
}
