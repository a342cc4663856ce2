//! The Debian packages that tests need at run time.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::interrupt::Interrupt;
use crate::postgres;
use crate::workspace::{on_path, output};

/// A package, and how to tell that what it brings is there (it may come from elsewhere).
struct Package {
    name: &'static str,
    present: fn() -> bool,
}

const PACKAGES: [Package; 13] = [
    Package {
        name: "git",
        present: || on_path("git"),
    },
    Package {
        name: "perl",
        present: || on_path("perl"),
    },
    Package {
        name: "python3",
        present: || on_path("python3"),
    },
    // As it may be a Python of one's own that has it.
    Package {
        name: "python3-pip",
        present: || output(Command::new("python3").args(["-m", "pip", "--version"])).is_some(),
    },
    // Another package manager that is tested behind the proxy.
    Package {
        name: "golang-go",
        present: || on_path("go"),
    },
    // Makes the certificates of servers that speak TLS in tests.
    Package {
        name: "openssl",
        present: || on_path("openssl"),
    },
    // Sign commits.
    Package {
        name: "openssh-client",
        present: || on_path("ssh-keygen"),
    },
    Package {
        name: "gnupg",
        present: || on_path("gpg"),
    },
    // Says which tools a repository needs.
    Package {
        name: "direnv",
        present: || on_path("direnv"),
    },
    // Sets the clock of one process.
    Package {
        name: "faketime",
        present: || on_path("faketime"),
    },
    // Reads the Homebrew formula.
    Package {
        name: "ruby",
        present: || on_path("ruby"),
    },
    // Shows the page in tests.
    Package {
        name: "chromium",
        present: || on_path("chromium"),
    },
    // The release's own server: version 15 on Debian 12.
    Package {
        name: "postgresql",
        present: || postgres::bin_dir().is_some(),
    },
];

/// What tests of a whole machine make their disks with.
const DISKS: [Package; 3] = [
    Package {
        name: "btrfs-progs",
        present: || on_path("mkfs.btrfs") || Path::new("/usr/sbin/mkfs.btrfs").exists(),
    },
    Package {
        name: "xfsprogs",
        present: || on_path("mkfs.xfs") || Path::new("/usr/sbin/mkfs.xfs").exists(),
    },
    Package {
        name: "e2fsprogs",
        present: || on_path("mkfs.ext4") || Path::new("/usr/sbin/mkfs.ext4").exists(),
    },
];

/// What a virtual machine is made with, and what this machine must have for one that boots from its disk.
const VIRTUAL_MACHINE: [Package; 4] = [
    Package {
        name: "qemu-system-x86",
        present: || on_path("qemu-system-x86_64"),
    },
    Package {
        name: "systemd",
        present: || Path::new("/lib/systemd/systemd").exists(),
    },
    // A systemd of a user's own.
    Package {
        name: "libpam-systemd",
        present: || {
            Path::new("/etc/pam.d/systemd-user").exists()
                || Path::new("/usr/lib/pam.d/systemd-user").exists()
        },
    },
    Package {
        name: "dbus-user-session",
        present: || Path::new("/usr/lib/systemd/user/dbus.socket").exists(),
    },
];

/// What benches compare with.
const PEERS: [Package; 2] = [
    Package {
        name: "bubblewrap",
        present: || on_path("bwrap"),
    },
    // The program alone: the package of the same name as the program starts a server.
    Package {
        name: "tinyproxy-bin",
        present: || on_path("tinyproxy"),
    },
];

/// Read by the package's installation script. We need the programs; a cluster that listens on
/// the machine's port 5432 is nothing that a test run may leave behind.
const NO_CLUSTER: &str = "/etc/postgresql-common/createcluster.d/carson-tests.conf";

/// Installs what is missing.
///
/// # Errors
/// When something is missing and we are not root on Debian, or the installation fails.
pub fn ensure(interrupt: &Interrupt) -> anyhow::Result<()> {
    ensure_all(interrupt, &PACKAGES)
}

/// Installs what is missing of the benches' peers.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_peers(interrupt: &Interrupt) -> anyhow::Result<()> {
    ensure_all(interrupt, &PEERS)
}

/// Installs what is missing to make disks.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_disks(interrupt: &Interrupt) -> anyhow::Result<()> {
    ensure_all(interrupt, &DISKS)
}

/// Installs what is missing to boot a virtual machine.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_virtual_machine(interrupt: &Interrupt) -> anyhow::Result<()> {
    ensure_all(interrupt, &VIRTUAL_MACHINE)
}

/// Fetches the lists of packages.
///
/// # Errors
/// When Debian does not answer, or this machine has no apt-get.
pub fn update(interrupt: &Interrupt) -> anyhow::Result<()> {
    interrupt.must(&mut apt_get(&["update", "--quiet"]))
}

fn ensure_all(interrupt: &Interrupt, packages: &[Package]) -> anyhow::Result<()> {
    let missing = missing(packages);
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    if !on_path("apt-get") {
        bail!("this needs {list}: install them, this machine has no apt-get to do it with");
    }
    if !nix::unistd::geteuid().is_root() {
        bail!("this needs {list}: run `sudo apt-get install {list}`, then try again");
    }
    println!("xtask: installing Debian packages: {list}");
    install(interrupt, &missing)?;
    match self::missing(packages).as_slice() {
        [] => Ok(()),
        still => bail!(
            "installed {list}, but {} is still not usable",
            still.join(" ")
        ),
    }
}

fn missing(packages: &[Package]) -> Vec<&'static str> {
    packages
        .iter()
        .filter(|package| !(package.present)())
        .map(|package| package.name)
        .collect()
}

fn install(interrupt: &Interrupt, packages: &[&str]) -> anyhow::Result<()> {
    update(interrupt)?;
    let marker = Path::new(NO_CLUSTER);
    if let Some(dir) = marker.parent() {
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    }
    fs::write(marker, "create_main_cluster = false\n")
        .with_context(|| format!("cannot write {NO_CLUSTER}"))?;
    let mut command = apt_get(&["install", "--yes", "--quiet", "--no-install-recommends"]);
    let installed = interrupt.must(command.args(packages));
    fs::remove_file(marker).with_context(|| format!("cannot remove {NO_CLUSTER}"))?;
    installed
}

fn apt_get(args: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    command
}
