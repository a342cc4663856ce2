//! A virtual machine with a Debian kernel and systemd as its first process, for what the kernel around us does not give:
//! memory and processes as controllers of version 2.
//!
//! Its disk is this machine's own, which it reads and never writes; what it writes lies above, in a file that goes with the
//! test. It has no network. In it this same program runs the tests that [`INSIDE`] names, and prints as it goes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use carson_tests::SLOWER;

use crate::tool;

/// Where `cargo xtask machine` has put the kernel and what it boots with.
const BOOT: &str = "CARSON_TEST_VM";
/// Says that we are in there.
const MARK: &str = "CARSON_TEST_IN_VM";

/// What is run in there.
const INSIDE: &str = "limits::";

/// How many times as long everything may take there.
const SLOWER_THERE: u32 = 10;

/// For all of it on two slow processors that are emulated.
const PATIENCE: Duration = Duration::from_secs(900);

/// Whether this is such a machine.
pub(crate) fn is_around_us() -> bool {
    env::var_os(MARK).is_some()
}

/// The directory that both sides write: what the machine lays over its root, and where it leaves what it printed.
fn write_orders(out: &Path) {
    let units = out.join("root/etc/systemd/system");
    fs::create_dir_all(&units).unwrap();
    let target =
        "[Unit]\nRequires=basic.target dbus.service systemd-logind.service\nWants=tests.service\n";
    fs::write(units.join("tests.target"), target).unwrap();
    let path = env::var("PATH").unwrap();
    let service = format!(
        "[Unit]\nAfter=basic.target dbus.service systemd-logind.service\n\
         SuccessAction=poweroff-force\nFailureAction=poweroff-force\n\
         [Service]\nType=oneshot\nEnvironment=PATH={path} {MARK}=1 {SLOWER}={SLOWER_THERE}\n\
         ExecStart=/carson-programs/deps/machine --test-threads=1 --nocapture {INSIDE}\n\
         ExecStopPost=/bin/sh -c 'echo $$EXIT_STATUS >/carson-vm/status; sync'\n\
         StandardOutput=file:/carson-vm/log\nStandardError=inherit\n",
    );
    fs::write(units.join("tests.service"), service).unwrap();
}

/// Puts this program and those that it tests into the directory, without what only a debugger reads: what is read from there
/// is slow.
fn copy_programs(out: &Path) {
    let me = env::current_exe().unwrap();
    let built = me.parent().and_then(Path::parent).unwrap();
    let there = out.join("root/carson-programs");
    fs::create_dir_all(there.join("deps")).unwrap();
    let strip = |from: &Path, to: PathBuf| {
        tool(&["strip", "-o", to.to_str().unwrap(), from.to_str().unwrap()]);
    };
    strip(&me, there.join("deps/machine"));
    for name in ["carson", "carson-hook", "carson-launch", "carson-inspect"] {
        strip(&built.join(name), there.join(name));
    }
}

/// A processor that says that it can have guests. Where it does not, a `/dev/kvm` leads to one that is
/// emulated as well, or not to the end of the boot.
fn accelerated() -> bool {
    let told = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let can = |line: &str| {
        line.starts_with("flags") && line.split(' ').any(|flag| flag == "vmx" || flag == "svm")
    };
    told.lines().any(can)
        && fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/kvm")
            .is_ok()
}

fn qemu(boot: &Path, place: &Path) -> Command {
    let mut qemu = Command::new("qemu-system-x86_64");
    let accelerator = match accelerated() {
        true => ["-accel", "kvm", "-cpu", "host"],
        false => ["-accel", "tcg,thread=multi", "-cpu", "max"],
    };
    println!("a virtual machine: {}", accelerator.join(" "));
    let share = |tag: &str, path: &Path, more: &str| {
        let path = path.display();
        let share = format!("local,id={tag},path={path},security_model=none,multidevs=remap{more}");
        [
            "-fsdev".to_owned(),
            share,
            "-device".to_owned(),
            format!("virtio-9p-pci,fsdev={tag},mount_tag={tag}"),
        ]
    };
    qemu.args(["-machine", "q35", "-smp", "2", "-m", "2048"])
        .args(accelerator)
        .args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
        ])
        .arg("-kernel")
        .arg(boot.join("vmlinuz"))
        .arg("-initrd")
        .arg(boot.join("initramfs"))
        .args(["-append", "console=ttyS0 panic=-1 quiet"])
        .arg("-serial")
        .arg(format!("file:{}", place.join("serial").display()))
        .arg("-drive")
        .arg(format!(
            "file={},format=raw,if=virtio,cache=unsafe",
            place.join("disk").display()
        ))
        .args(share("root", Path::new("/"), ",readonly=on"))
        .args(share("out", &place.join("out"), ""))
        .stdin(Stdio::null());
    qemu
}

/// Boots it and waits for its end.
fn run(boot: &Path, place: &Path) {
    let mut machine = qemu(boot, place).spawn().unwrap();
    let started = Instant::now();
    while machine.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            let _ = machine.kill();
            let _ = machine.wait();
            println!(
                "the virtual machine did not end within {} s",
                PATIENCE.as_secs()
            );
            return;
        }
        sleep(Duration::from_millis(100));
    }
    println!("it was up for {} s", started.elapsed().as_secs());
}

#[test]
fn limits_bite_below_a_systemd_that_rules_its_machine() {
    let boot = env::var(BOOT).expect("cargo xtask machine sets it");
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    write_orders(&out);
    copy_programs(&out);
    let disk = place.path().join("disk");
    let disk = disk.to_str().unwrap();
    tool(&["truncate", "--size=4G", disk]);
    tool(&["mkfs.ext4", "-q", "-O", "^has_journal", disk]);
    run(Path::new(&boot), place.path());
    let log = fs::read_to_string(out.join("log")).unwrap_or_default();
    println!("{log}");
    let status = fs::read_to_string(out.join("status")).unwrap_or_default();
    if status.trim() != "0" || !log.contains("test result: ok.") {
        let serial = fs::read(place.path().join("serial")).unwrap_or_default();
        panic!("status {status:?}: {}", String::from_utf8_lossy(&serial));
    }
}
