//! Attempts against what lies outside: files, secrets, processes.

use std::path::Path;

use super::less::{self, Kernel};
use super::scene::{MODE, Scene, Went};
use super::table;

/// Every one of these must fail on a kernel that has everything.
const MUST_FAIL: &[&str] = &[
    "write-home",
    "create-in-home",
    "write-tmp-of-another",
    "write-mirror-ref",
    "move-mirror-main",
    "spoil-mirror-object",
    "write-other-worktree",
    "write-through-symlink",
    "write-through-proc-fd",
    "write-through-hardlink",
    "git-config-system",
    "edit-dot-git",
    "write-carson-home",
    "write-settings",
    "chmod-outside",
    "write-system",
    "write-own-profile",
    "mount",
    "read-ssh-key",
    "read-aws",
    "read-netrc",
    "read-other-sign-in",
    "read-carson-token",
    "read-carson-database",
    "read-carson-settings",
    "read-shadow",
    "read-other-worktree",
    "read-supervisor-environ",
    "print-environment",
    "list-home",
    "unix-socket",
    "signal-outsider",
    "ptrace-outsider",
    "read-memory-of-outsider",
];

/// Where the private `/tmp` of a session is above the fleet, as it is in tests, these make files
/// there, which nobody else sees.
const IN_PRIVATE_TMP: &[&str] = &[
    "create-in-home",
    "write-mirror-ref",
    "write-carson-home",
    "write-own-profile",
];

/// These get through, and reach nothing outside the bench.
const HARMLESS: &[&str] = &["git-config-global", "poison-own-repository"];

fn through(all: &[Went]) -> Vec<&str> {
    all.iter()
        .filter(|went| went.through && !IN_PRIVATE_TMP.contains(&went.name.as_str()))
        .map(|went| went.name.as_str())
        .collect()
}

/// Everything at once, on the kernel as it is.
fn everything(title: &str, ordinary: bool) {
    let mut scene = Scene::new("", &[], ordinary).with_neighbour();
    let before = scene.outside();
    let names: Vec<&str> = MUST_FAIL.iter().chain(HARMLESS).copied().collect();
    let (row, all) = scene.attempt(&names);
    table::print(title, &row, &all);
    assert_eq!(all.len(), names.len(), "{row:#}");
    assert_eq!(through(&all), HARMLESS, "{row:#}");
    table::holds(&Kernel::FULL, ordinary, &row, &all);
    assert!(scene.outside() == before, "something outside is different");
    assert!(
        !scene.trap().exists(),
        "Carson ran what the agent left in its repository"
    );
    assert_eq!(row["sandbox"]["asked"], "best-effort", "{row:#}");
    scene.is_healthy();
}

#[test]
fn nothing_outside_is_reached_by_whoever_runs_the_tests() {
    everything("as whoever runs the tests", false);
}

#[test]
fn nothing_outside_is_reached_as_an_ordinary_user() {
    everything("as an ordinary user", true);
}

/// On a kernel that has less: nothing is changed that the remaining walls protect, and the record
/// says what is weaker. `open` are attempts that are known to get through then.
fn with_less(force: &str, ordinary: bool, open: &[&str], says: &[&str]) {
    let env = [("CARSON_SANDBOX_FORCE", force)];
    let mut scene = Scene::new("", &env, ordinary).with_neighbour();
    // What would harm the machine of the test itself is left out.
    let names: Vec<&str> = MUST_FAIL
        .iter()
        .copied()
        .filter(|name| *name != "mount")
        .collect();
    let before = scene.outside();
    let (row, all) = scene.attempt(&names);
    table::print(&format!("{force}, ordinary user: {ordinary}"), &row, &all);
    assert_eq!(all.len(), names.len(), "{row:#}");
    let unexpected: Vec<&str> = through(&all)
        .into_iter()
        .filter(|name| !open.contains(name))
        .collect();
    assert_eq!(unexpected, [""; 0], "{row:#}");
    let mut after = scene.outside();
    if open.contains(&"chmod-outside") {
        // It is what got through.
        after.extend(before.get_key_value(Path::new(MODE)).map(owned));
    }
    assert!(after == before, "something outside is different");
    let weaker = row["sandbox"]["weaker"].to_string();
    for word in says {
        assert!(weaker.contains(word), "{word}: {weaker}");
    }
    scene.is_healthy();
}

fn owned<K: Clone, V: Clone>((key, value): (&K, &V)) -> (K, V) {
    (key.clone(), value.clone())
}

#[test]
fn without_namespaces_landlock_and_seccomp_hold() {
    for ordinary in less::users() {
        // The record says so: files outside can be changed by chmod, what is hidden beneath
        // something granted can be read (by root, /etc/shadow), and .git can be written.
        let open = ["chmod-outside", "edit-dot-git", "read-shadow"];
        with_less(
            "{\"namespaces\":false}",
            ordinary,
            &open,
            &["no mounts of its own"],
        );
    }
}

#[test]
fn without_landlock_the_namespaces_hold() {
    for ordinary in less::users() {
        with_less("{\"landlock\":0}", ordinary, &[], &["Landlock"]);
    }
}

#[test]
fn a_role_that_requires_a_sandbox_does_not_start_without_one() {
    let role = "sandbox = \"required\"\n";
    let mut scene = Scene::new(role, &[("CARSON_SANDBOX_FORCE", "{\"landlock\":0}")], false);
    let (row, all) = scene.attempt(&["write-home"]);
    assert_eq!(row["outcome"], "BLOCKED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.contains("sandbox required, not available"),
        "{reason}"
    );
    assert!(reason.contains("Landlock"), "{reason}");
    assert!(all.is_empty(), "the session ran: {all:?}");
    assert_eq!(scene.fleet.benches().len(), 0);
    scene.is_healthy();
}

#[test]
fn a_weaker_kernel_than_last_time_is_an_event() {
    let scene = Scene::new("", &[], false);
    let (first, _) = scene.attempt(&["list-home"]);
    assert!(!first["sandbox"].is_null(), "{first:#}");
    assert_eq!(first["events"], serde_json::json!([]));
    let mut weaker = scene.forcing("{\"namespaces\":false}");
    let (second, _) = weaker.attempt(&["list-home"]);
    assert_eq!(second["events"][0]["kind"], "sandbox.weaker", "{second:#}");
    let (third, _) = weaker.attempt(&["list-home"]);
    assert_eq!(
        third["events"],
        serde_json::json!([]),
        "it is no news any more"
    );
    weaker.is_healthy();
}
