//! The daemon itself, and the firing's own process, as targets.

use std::fs;

use carson_tests::until;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::less::{self, Kernel};
use super::scene::Scene;
use super::table;
use crate::daemon::Daemon;

/// What is tried against them, by number.
pub const ATTEMPTS: &[&str] = &[
    "read-daemon-environ",
    "read-daemon-memory",
    "ptrace-daemon",
    "stop-daemon",
    "terminate-daemon",
    "kill-daemon",
    "read-firing-environ",
    "ptrace-firing",
    "kill-firing",
];

/// The newest firing of a role that took work, if there is one.
fn newest(scene: &Scene, role: &str) -> Option<Value> {
    let list = scene.fleet.ok(&["firings", "--role", role, "--json"]);
    let mut rows = list.as_array().unwrap().iter();
    rows.find(|row| !row["work"].is_null()).cloned()
}

fn ended(scene: &Scene, role: &str) -> Value {
    until("the firing to end", || {
        newest(scene, role).filter(|row| row["ended_at"].is_string())
    })
}

/// What `/proc/PID/status` says of a process.
fn status(pid: u32, key: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mut values = text.lines().filter_map(|line| line.strip_prefix(key));
    values.next().unwrap().trim().to_owned()
}

/// A firing that the daemon started itself aims at both, and knows their numbers.
fn the_daemon_stands(kernel: &Kernel, ordinary: bool) {
    let mut scene = Scene::on(kernel, "", ordinary);
    for role in ["hostile", "good"] {
        let account = if role == "good" { "play" } else { role };
        let stages = "stages = [\"execute\"]\n";
        scene.fleet.role_at(role, account, "* * * * * *", stages);
    }
    scene.brief_agent(ATTEMPTS);
    let mut daemon = Daemon::start(&scene.fleet, &[]);
    let pid = daemon.child.id();
    daemon.says("daemon started");
    scene
        .fleet
        .issue("hostile", "Do harm", "As much as you can.");
    let firing = until("the firing to have a process", || {
        newest(&scene, "hostile")?["pid"].as_i64()
    });
    let numbers = scene.fleet.shared().join("numbers.json");
    let known = json!({"daemon": pid, "firing": firing}).to_string();
    fs::write(numbers.with_extension("new"), known).unwrap();
    fs::rename(numbers.with_extension("new"), numbers).unwrap();

    let id = ended(&scene, "hostile")["id"].as_str().unwrap().to_owned();
    let (row, all) = scene.went(&id);
    table::print(&format!("the daemon, {kernel:?}"), &row, &all);
    let tried: Vec<&str> = all.iter().map(|went| went.name.as_str()).collect();
    assert_eq!(tried, ATTEMPTS, "{kernel:?}: {row:#}");
    assert!(all.iter().all(|went| !went.through), "{kernel:?}: {all:?}");
    assert_eq!(row["outcome"], "OK", "{kernel:?}: {row:#}");
    kernel.is_in(&row);
    table::holds(kernel, ordinary, &row, &all);

    assert!(daemon.child.try_wait().unwrap().is_none(), "it is dead");
    assert_eq!(status(pid, "TracerPid:"), "0");
    assert!(
        !status(pid, "State:").starts_with(['T', 't']),
        "it stands still"
    );
    // It goes on as if nothing had been.
    scene.fleet.issue("good", "Work", "Well.");
    assert_eq!(ended(&scene, "good")["outcome"], "OK");
    daemon.signal(Signal::SIGTERM);
    assert!(daemon.ended().success());
    // It leaves its firings to themselves.
    until("everybody to be done", || {
        let list = scene.fleet.ok(&["firings", "--limit", "1000", "--json"]);
        let mut rows = list.as_array().unwrap().iter();
        rows.all(|row| row["ended_at"].is_string()).then_some(())
    });
    scene.is_healthy();
}

#[test]
fn the_daemon_is_out_of_reach() {
    for ordinary in less::users() {
        the_daemon_stands(&Kernel::FULL, ordinary);
    }
}

#[test]
fn the_daemon_is_out_of_reach_where_the_kernel_has_less() {
    for kernel in Kernel::LESS {
        // With no wall at all nobody is out of reach; the level says so.
        if kernel.has_walls {
            the_daemon_stands(kernel, false);
        }
    }
}
