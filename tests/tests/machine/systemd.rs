//! A systemd of our own as the first process of some namespaces, with nothing of the machine's
//! units in it, and a control group of its own to rule. In a [virtual machine](crate::virtual_machine)
//! it is the one that runs that machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use carson_tests::until;

use crate::{tool, virtual_machine};

/// Makes the namespaces a machine and becomes its first process. `sysinit.target` would bring in
/// units that clean up the real disk.
const BOOT: &str = r#"
    echo $$ > "$2/cgroup.procs"
    exec unshare --pid --fork --mount --cgroup --uts --ipc --net --mount-proc --kill-child=KILL sh -c '
        set -e
        mount --make-rprivate /
        mount -t tmpfs tmpfs /run
        umount --recursive /sys/fs/cgroup
        mount -t cgroup2 cgroup2 /sys/fs/cgroup
        mkdir -p /run/systemd/system
        cp -r "$1"/. /run/systemd/system/
        for unit in sysinit.target basic.target; do ln -s /dev/null /run/systemd/system/$unit; done
        container=test exec /lib/systemd/systemd --system --unit=idle.target --log-target=console --show-status=0 --log-color=0
    ' sh "$1"
"#;

pub(crate) struct Systemd {
    whose: Whose,
    group: PathBuf,
}

enum Whose {
    /// In namespaces that this process holds.
    Ours {
        holder: Child,
        first: i32,
        log: PathBuf,
    },
    /// It runs this machine, and these files are ours of its units.
    Machines(Vec<PathBuf>),
}

/// Where units lie until the next boot.
const UNITS: &str = "/run/systemd/system";

impl Systemd {
    /// Boots with the units of a directory, or adds them to the one that has booted.
    pub(crate) fn boot(units: &Path) -> Self {
        if virtual_machine::is_around_us() {
            return Self::of_the_machine(units);
        }
        let idle = "[Unit]\nDefaultDependencies=no\n";
        fs::write(units.join("idle.target"), idle).unwrap();
        let group = own_group().join(format!("carson-test-{}", std::process::id()));
        fs::create_dir(&group).unwrap();
        let log = units.with_extension("log");
        let holder = Command::new("sh")
            .args(["-c", BOOT, "sh"])
            .args([units, &group])
            .stdin(Stdio::null())
            .stdout(File::create(&log).unwrap())
            .stderr(File::options().append(true).open(&log).unwrap())
            .spawn()
            .unwrap();
        let id = holder.id();
        let whose = Whose::Ours {
            holder,
            first: 0,
            log,
        };
        let mut machine = Self { whose, group };
        until("the first process", || machine.find_first());
        // A group with limited children may hold no process itself.
        let outside = machine.group.parent().unwrap().join("cgroup.procs");
        fs::write(outside, id.to_string()).unwrap();
        until("systemd to answer", || {
            let asked = machine.systemctl(&["is-active", "idle.target"]);
            asked.status.success().then_some(())
        });
        machine
    }

    fn of_the_machine(units: &Path) -> Self {
        fs::create_dir_all(UNITS).unwrap();
        tool(&["cp", "-r", &format!("{}/.", units.display()), UNITS]);
        let ours = fs::read_dir(units).unwrap().flatten();
        let ours = ours.map(|item| Path::new(UNITS).join(item.file_name()));
        let machine = Self {
            whose: Whose::Machines(ours.collect()),
            group: own_mount(),
        };
        machine.must(&["daemon-reload"]);
        machine
    }

    fn find_first(&mut self) -> Option<()> {
        let Whose::Ours { holder, first, log } = &mut self.whose else {
            return Some(());
        };
        let ended = holder.try_wait().unwrap();
        let said = || fs::read_to_string(log).unwrap_or_default();
        assert!(ended.is_none(), "systemd does not boot: {}", said());
        let children = format!("/proc/{0}/task/{0}/children", holder.id());
        *first = fs::read_to_string(children).ok()?.trim().parse().ok()?;
        Some(())
    }

    /// What it printed.
    pub(crate) fn log_text(&self) -> String {
        match &self.whose {
            Whose::Ours { log, .. } => fs::read_to_string(log).unwrap_or_default(),
            Whose::Machines(_) => tool(&["journalctl", "--boot", "--no-pager", "--lines=200"]),
        }
    }

    /// Runs something where it is.
    pub(crate) fn inside(&self, words: &[&str]) -> Output {
        let Whose::Ours { first, .. } = &self.whose else {
            return Command::new(words[0]).args(&words[1..]).output().unwrap();
        };
        Command::new("nsenter")
            .arg(format!("--target={first}"))
            .args([
                "--mount", "--pid", "--cgroup", "--uts", "--ipc", "--net", "--",
            ])
            .args(words)
            .output()
            .unwrap()
    }

    pub(crate) fn systemctl(&self, args: &[&str]) -> Output {
        self.inside(&[&["systemctl"], args].concat())
    }

    /// The same; it must succeed.
    pub(crate) fn must(&self, args: &[&str]) {
        let done = self.systemctl(args);
        assert!(
            done.status.success(),
            "{args:?}: {done:?}\n{}",
            self.log_text()
        );
    }

    /// A property of a unit.
    pub(crate) fn show(&self, unit: &str, property: &str) -> String {
        let done = self.systemctl(&["show", "--value", "--property", property, unit]);
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// Where its groups lie, seen from outside.
    pub(crate) fn group(&self) -> &Path {
        &self.group
    }
}

impl Drop for Systemd {
    fn drop(&mut self) {
        match &mut self.whose {
            Whose::Ours { holder, first, .. } => end(holder, *first, &self.group),
            Whose::Machines(units) => forget(units),
        }
    }
}

fn end(holder: &mut Child, first: i32, group: &Path) {
    let _ = fs::write(group.join("cgroup.kill"), "1");
    if first > 0 {
        let first = nix::unistd::Pid::from_raw(first);
        let _ = nix::sys::signal::kill(first, nix::sys::signal::Signal::SIGKILL);
    }
    let _ = holder.kill();
    let _ = holder.wait();
    until("its groups to go", || {
        remove(group);
        (!group.exists()).then_some(())
    });
}

/// Stops units with all that they started, for the next test to find none of it.
fn forget(units: &[PathBuf]) {
    let systemctl = |words: &[&str]| drop(Command::new("systemctl").args(words).output());
    for unit in units {
        let name = unit.file_name().unwrap().to_string_lossy();
        if name.ends_with(".service") {
            systemctl(&["stop", &name]);
            systemctl(&["kill", "--signal=KILL", &name]);
            systemctl(&["reset-failed", &name]);
        }
        let _ = fs::remove_file(unit);
        let _ = fs::remove_dir_all(unit);
    }
    systemctl(&["daemon-reload"]);
}

/// A group can be removed when it has neither processes nor groups.
fn remove(group: &Path) {
    for item in fs::read_dir(group).into_iter().flatten().flatten() {
        if item.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&item.path());
        }
    }
    let _ = fs::remove_dir(group);
}

/// Where the unified hierarchy is mounted.
fn own_mount() -> PathBuf {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mounted = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let place = fields.next()?;
        (fields.next()? == "cgroup2").then_some(place)
    });
    PathBuf::from(mounted.expect("no cgroup2 is mounted"))
}

/// Our own group in the unified hierarchy.
fn own_group() -> PathBuf {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
    own_mount().join(own.unwrap_or_default())
}
