//! A systemd of our own as the first process of some namespaces, with nothing of the machine's
//! units in it, and a control group of its own to rule.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use carson_tests::until;

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
    holder: Child,
    first: i32,
    group: PathBuf,
    log: PathBuf,
}

impl Systemd {
    /// Boots with the units of a directory.
    pub(crate) fn boot(units: &Path) -> Self {
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
        let mut machine = Self {
            holder,
            first: 0,
            group,
            log,
        };
        machine.first = until("the first process", || machine.find_first());
        // A group with limited children may hold no process itself.
        let outside = machine.group.parent().unwrap().join("cgroup.procs");
        fs::write(outside, machine.holder.id().to_string()).unwrap();
        until("systemd to answer", || {
            let asked = machine.systemctl(&["is-active", "idle.target"]);
            asked.status.success().then_some(())
        });
        machine
    }

    fn find_first(&mut self) -> Option<i32> {
        let ended = self.holder.try_wait().unwrap();
        assert!(
            ended.is_none(),
            "systemd does not boot: {}",
            self.log_text()
        );
        let children = format!("/proc/{0}/task/{0}/children", self.holder.id());
        fs::read_to_string(children).ok()?.trim().parse().ok()
    }

    /// What it printed.
    pub(crate) fn log_text(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Runs something where it is.
    pub(crate) fn inside(&self, words: &[&str]) -> Output {
        Command::new("nsenter")
            .arg(format!("--target={}", self.first))
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
        let _ = fs::write(self.group.join("cgroup.kill"), "1");
        if self.first > 0 {
            let first = nix::unistd::Pid::from_raw(self.first);
            let _ = nix::sys::signal::kill(first, nix::sys::signal::Signal::SIGKILL);
        }
        let _ = self.holder.kill();
        let _ = self.holder.wait();
        until("its groups to go", || {
            remove(&self.group);
            (!self.group.exists()).then_some(())
        });
    }
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

/// Our own group in the unified hierarchy.
fn own_group() -> PathBuf {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mounted = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let place = fields.next()?;
        (fields.next()? == "cgroup2").then_some(place)
    });
    let mounted = mounted.expect("no cgroup2 is mounted");
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
    Path::new(mounted).join(own.unwrap_or_default())
}
