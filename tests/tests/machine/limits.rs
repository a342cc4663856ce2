//! Limits of memory and processes, by control groups of version 2 that a systemd has delegated, seen to bite.
//!
//! They run where the memory and the processes are controllers of version 2 and a systemd rules them: in a
//! [virtual machine](crate::virtual_machine) that is booted for them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::service::{Service, UNIT, processes, session_groups};
use crate::{tool, virtual_machine};

/// Who runs `carson` in these fleets.
const NOBODY: u32 = 65_534;

/// The bounds of the role `narrow`, and those of `wide`.
const NARROW: Bounds = Bounds {
    memory_mb: 64,
    processes: 20,
};
const WIDE: Bounds = Bounds {
    memory_mb: 96,
    processes: 40,
};

/// Takes eight times the memory of `narrow` in its first session, and works in the next one.
const GREEDY: &str = r#"
    if mkdir "$shared/first" 2>/dev/null; then
        echo kept > kept.txt
        exec perl -e 'my @all; push @all, "x" x (1 << 20) for 1..512; open F, ">", "$ARGV[0]/unbounded"' "$shared"
    fi
    echo done > done.txt; git add --all; git commit --quiet -m Work; echo "[OK] done"
"#;

/// Starts more processes than any role may have, writes down how many there were, and waits with all of them.
const FORKING: &str = r#"
    perl -e '
        my ($shared, $role) = @ARGV;
        my (@all, $one);
        while (@all < 200 && defined($one = fork)) { if (!$one) { sleep 300; exit } push @all, $one }
        my $why = defined($one) ? "of 200" : "$!";
        open my $said, ">", "$shared/forks.$role";
        print $said scalar(@all), " $why";
        close $said;
        open my $reached, ">", "$shared/reached.$role";
        for (1..6000) { last if -e "$shared/go"; select undef, undef, undef, 0.05 }
        kill "KILL", @all; wait for @all;
    ' "$shared" "$CARSON_ROLE"
    echo done > "$CARSON_ROLE.txt"; git add --all; git commit --quiet -m Work; echo "[OK] done"
"#;

/// Writes something, and waits.
const WAITING: &str = r#"
    echo kept > kept.txt
    (exec setsid sleep 600) &
    : > "$shared/reached.$CARSON_ROLE"
    for (( i = 0; i < 3000; i++ )); do [ -e "$shared/go" ] && break; sleep 0.1; done
    rm kept.txt; echo done > done.txt; git add --all; git commit --quiet -m Work; echo "[OK] done"
"#;

#[derive(Clone, Copy)]
struct Bounds {
    memory_mb: u64,
    processes: u64,
}

impl Bounds {
    /// As the kernel has them; two processes are the launcher's.
    fn of_the_kernel(self) -> [String; 3] {
        let bytes = self.memory_mb << 20;
        [bytes, 0, self.processes + 2].map(|bound| bound.to_string())
    }
}

/// What a group may have, as the kernel says.
fn bounds_of(group: &Path) -> [String; 3] {
    ["memory.max", "memory.swap.max", "pids.max"].map(|file| told(&group.join(file)))
}

fn told(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
    text.trim().to_owned()
}

/// A fleet of an ordinary user whose sessions are this program; each role has one piece of work.
fn fleet(program: &str, cadence: &str, roles: &[(&str, Bounds)]) -> TestFleet {
    assert!(
        virtual_machine::is_around_us(),
        "run by `cargo xtask machine`"
    );
    let fleet = TestFleet::new();
    let cli = fleet.root().join("cli/agent");
    fs::create_dir_all(cli.parent().unwrap()).unwrap();
    let shared = fleet.shared();
    let text = format!("#!/bin/bash\nset -e\nshared={shared:?}\ncat >/dev/null\n{program}\n");
    fs::write(&cli, text).unwrap();
    fs::set_permissions(&cli, PermissionsExt::from_mode(0o755)).unwrap();
    fleet.account("sh", &format!("engine = \"command\"\nbinary = {cli:?}"));
    for (role, bounds) in roles {
        let more = format!(
            "stages = [\"execute\"]\nmax_late = \"10s\"\n\
             [limits]\nmax_memory_mb = {}\nmax_processes = {}\n",
            bounds.memory_mb, bounds.processes
        );
        fleet.role_at(role, "sh", cadence, &more);
        fleet.issue(role, "Work", "To do.");
    }
    fleet.as_ordinary_user()
}

/// Seldom enough that an emulated processor is not busy with nothing else.
const ALWAYS: &str = "*/15 * * * * *";
const NEVER: &str = "0 0 1 1 *";

fn reached(fleet: &TestFleet, role: &str) {
    let file = fleet.shared().join(format!("reached.{role}"));
    until(&format!("the session of {role}"), || {
        file.exists().then_some(())
    });
}

fn go(fleet: &TestFleet) {
    fs::write(fleet.shared().join("go"), "").unwrap();
}

/// The whole row of the first firing that ended so.
fn ended(fleet: &TestFleet, outcome: &str) -> Value {
    until(&format!("a firing that ends as {outcome}"), || {
        // Asking is most of the work there is.
        sleep(Duration::from_millis(500));
        let list = fleet.ok(&["firings", "--all", "--json"]);
        let mut rows = list.as_array().unwrap().iter();
        let row = rows.find(|row| row["outcome"] == outcome)?;
        Some(fleet.firing(row["id"].as_str().unwrap()))
    })
}

/// Its memory was used up; that was its end, and says so.
fn ended_for_memory(row: &Value) {
    let reason = row["reason"].as_str().unwrap();
    println!("{} {}: {reason}", row["role"], row["outcome"]);
    println!("{}", row["events"]);
    assert_eq!(row["sandbox"]["cgroup"]["memory"], true, "{row:#}");
    for word in ["signal 9", "limits.max_memory_mb"] {
        assert!(reason.contains(word), "{row:#}");
    }
    let events = row["events"].as_array().unwrap();
    let said = events
        .iter()
        .any(|event| event["kind"] == "session.out_of_memory");
    assert!(said, "{row:#}");
}

/// The kernel ended a process in a session's own group, below one that begins so.
fn the_kernel_says_so(group: &Path) {
    let below = group.strip_prefix("/sys/fs/cgroup").unwrap();
    let whose = format!("oom_memcg=/{}", below.display());
    let log = tool(&["dmesg"]);
    let ours = |line: &&str| {
        line.contains("CONSTRAINT_MEMCG") && line.contains(&whose) && line.contains("/carson-")
    };
    let line = log.lines().find(ours);
    println!("{}", line.unwrap_or_else(|| panic!("{whose}: {log}")));
}

/// So do the counters of the unit, when the session's own are gone.
fn the_unit_counts_it(group: &Path) {
    let events = told(&group.join("memory.events"));
    println!(
        "memory.events of {}: {}",
        group.display(),
        events.replace('\n', ", ")
    );
    assert!(!events.contains("oom_kill 0"), "{events}");
}

/// What was written before the end is under some ref.
fn is_kept(fleet: &TestFleet) {
    let file = fleet.root().join("kept.txt");
    fs::write(&file, "kept\n").unwrap();
    let kept = fleet.kept();
    assert!(kept.contains(&fleet.blob(&file)), "the work is lost");
}

fn nothing_is_left(fleet: &TestFleet, group: &Path) {
    until("every session and its group to go", || {
        let gone = session_groups(group).is_empty() && fleet.descendants().is_empty();
        gone.then_some(())
    });
}

/// The unit ends, and its group with all that was made below.
fn stops(service: &Service) {
    service.systemd.must(&["stop", UNIT]);
    assert_eq!(service.show("Result"), "success");
    let group = service.unit_group();
    until("the unit's group to go", || (!group.exists()).then_some(()));
}

#[test]
fn more_memory_than_a_role_may_have_ends_its_session_and_nobody_else() {
    let service = Service::of(fleet(GREEDY, ALWAYS, &[("narrow", NARROW)]), "");
    service.systemd.must(&["start", UNIT]);
    let daemon = service.main_pid();
    ended_for_memory(&ended(&service.fleet, "FAILED"));
    the_kernel_says_so(&service.unit_group());
    the_unit_counts_it(&service.unit_group());
    assert!(!service.fleet.shared().join("unbounded").exists());
    is_kept(&service.fleet);
    // The same daemon goes on, with the same work.
    ended(&service.fleet, "OK");
    assert_eq!(service.main_pid(), daemon);
    assert_eq!(service.show("NRestarts"), "0");
    nothing_is_left(&service.fleet, &service.unit_group());
    stops(&service);
}

#[test]
fn each_role_has_bounds_of_its_own_and_more_processes_are_refused() {
    let roles = [("narrow", NARROW), ("wide", WIDE)];
    let service = Service::of(fleet(FORKING, ALWAYS, &roles), "");
    service.systemd.must(&["start", UNIT]);
    for (role, bounds) in roles {
        reached(&service.fleet, role);
        let said = told(&service.fleet.shared().join(format!("forks.{role}")));
        println!("{role}: {said}");
        let (forks, why) = said.split_once(' ').unwrap();
        assert_eq!(why, "Resource temporarily unavailable", "{role}");
        let forks: u64 = forks.parse().unwrap();
        assert!(
            forks < bounds.processes && forks + 10 > bounds.processes,
            "{role}: {forks}"
        );
    }
    let groups = session_groups(&service.unit_group());
    let mut found: Vec<_> = groups.iter().map(|group| bounds_of(group)).collect();
    println!("{found:?}");
    found.sort();
    let mut wanted = roles.map(|(_, bounds)| bounds.of_the_kernel());
    wanted.sort();
    assert_eq!(found, wanted);
    for group in &groups {
        let events = told(&group.join("pids.events"));
        assert!(!events.contains("max 0"), "{events}");
    }
    go(&service.fleet);
    until("both firings to end", || {
        let rows = service.works();
        let done = rows.iter().filter(|row| row["outcome"] == "OK").count();
        (done == roles.len()).then_some(())
    });
    nothing_is_left(&service.fleet, &service.unit_group());
    stops(&service);
}

/// A daemon that is started while a session lives gives the next ones their bounds again.
fn restarts(more: impl Fn(&TestFleet) -> String) {
    let fleet = fleet(WAITING, ALWAYS, &[("narrow", NARROW)]);
    let more = more(&fleet);
    let service = Service::of(fleet, &more);
    service.systemd.must(&["start", UNIT]);
    reached(&service.fleet, "narrow");
    let groups = session_groups(&service.unit_group());
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!(bounds_of(&groups[0]), NARROW.of_the_kernel());
    service.systemd.must(&["restart", UNIT]);
    assert_eq!(service.show("SubState"), "running");
    let turned_on = service.unit_group().join("cgroup.subtree_control");
    until("limits below the new daemon", || {
        let on = told(&turned_on);
        (on.contains("memory") && on.contains("pids")).then_some(())
    });
    assert!(groups[0].exists(), "the session ended too");
    go(&service.fleet);
    ended(&service.fleet, "OK");
    nothing_is_left(&service.fleet, &service.unit_group());
    stops(&service);
}

#[test]
fn a_daemon_that_is_started_anew_has_limits_for_its_sessions() {
    restarts(|_| String::new());
}

/// What `DelegateSubgroup=carson-main` does from systemd 254 on: the daemon is in that group from its birth on.
#[test]
fn a_daemon_that_begins_in_a_group_below_its_units_has_limits_for_its_sessions() {
    let begin = "group=/sys/fs/cgroup$$(sed s/^0::// /proc/self/cgroup); mkdir -p $$group/carson-main; \
                 echo $$$$ >$$group/carson-main/cgroup.procs";
    restarts(|fleet| {
        let program = fleet.binary();
        let program = program.display();
        format!("ExecStart=\nExecStart=/bin/sh -c '{begin}; exec {program} daemon'\n")
    });
}

#[test]
fn a_firing_that_is_killed_leaves_neither_its_session_nor_its_group() {
    let service = Service::of(fleet(WAITING, ALWAYS, &[("narrow", NARROW)]), "");
    service.systemd.must(&["start", UNIT]);
    reached(&service.fleet, "narrow");
    let daemon = service.main_pid();
    let groups = session_groups(&service.unit_group());
    assert_eq!(groups.len(), 1, "{groups:?}");
    let main = processes(&service.unit_group().join("carson-main"));
    let firing = main
        .into_iter()
        .find(|pid| *pid != daemon && is_firing(*pid));
    kill(firing.expect("the firing's process"), Signal::SIGKILL).unwrap();
    ended(&service.fleet, "CRASHED");
    until("its group to go", || (!groups[0].exists()).then_some(()));
    is_kept(&service.fleet);
    go(&service.fleet);
    ended(&service.fleet, "OK");
    assert_eq!(service.main_pid(), daemon);
    nothing_is_left(&service.fleet, &service.unit_group());
    stops(&service);
}

/// Whether a process is a firing itself, and no launcher of its own.
fn is_firing(pid: Pid) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains("\0firing\0run\0")
}

#[test]
fn a_firing_by_hand_is_bounded_where_nothing_is_delegated_process_by_process() {
    let fleet = fleet(GREEDY, NEVER, &[("narrow", NARROW)]);
    let row = fleet.fire("narrow").json();
    let row = fleet.firing(row["id"].as_str().unwrap());
    println!("{}: {}", row["outcome"], row["reason"]);
    assert_eq!(row["outcome"], "FAILED", "{row:#}");
    assert_eq!(row["sandbox"]["cgroup"]["memory"], false, "{row:#}");
    let weaker = row["sandbox"]["weaker"].to_string();
    assert!(
        weaker.contains("memory is bounded for each process only"),
        "{row:#}"
    );
    assert!(!fleet.shared().join("unbounded").exists());
    is_kept(&fleet);
}

/// Where that systemd looks for units.
const CONFIG: &str = "/.config";

/// The ordinary user with a systemd of their own that runs while nobody is signed in.
struct Lingering<'a> {
    fleet: &'a TestFleet,
}

impl<'a> Lingering<'a> {
    fn of(fleet: &'a TestFleet) -> Self {
        // To systemd this user has `/` for a home, whatever else is written down.
        tool(&["install", "--directory", "--owner=nobody", CONFIG]);
        tool(&["loginctl", "enable-linger", "nobody"]);
        let bus = Self::runtime().join("systemd/private");
        until("the user's own systemd", || bus.exists().then_some(()));
        Self { fleet }
    }

    fn runtime() -> PathBuf {
        PathBuf::from("/run/user/65534")
    }

    /// The group that the user's systemd rules.
    fn group() -> PathBuf {
        PathBuf::from("/sys/fs/cgroup/user.slice/user-65534.slice/user@65534.service")
    }

    fn environment(command: &mut Command) {
        let bus = format!("unix:path={}/bus", Self::runtime().display());
        command
            .env("XDG_RUNTIME_DIR", Self::runtime())
            .env("XDG_CONFIG_HOME", CONFIG)
            .env("DBUS_SESSION_BUS_ADDRESS", bus);
    }

    /// `carson ARGS` of the user's; it must succeed.
    fn carson(&self, args: &[&str]) {
        let mut command = self.fleet.command(args);
        Self::environment(&mut command);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{args:?}: {done:?}");
        println!("{}", String::from_utf8_lossy(&done.stdout));
    }
}

impl Drop for Lingering<'_> {
    fn drop(&mut self) {
        for words in [
            ["loginctl", "disable-linger", "nobody"],
            ["systemctl", "stop", "user@65534.service"],
        ] {
            let _ = Command::new(words[0]).args(&words[1..]).output();
        }
    }
}

#[test]
fn a_service_of_ones_own_has_the_same_limits() {
    let fleet = fleet(GREEDY, ALWAYS, &[("narrow", NARROW)]);
    let user = Lingering::of(&fleet);
    let group = Lingering::group().join("app.slice").join(UNIT);
    user.carson(&["service", "install"]);
    user.carson(&["service", "status"]);
    ended_for_memory(&ended(&fleet, "FAILED"));
    the_kernel_says_so(&group);
    the_unit_counts_it(&group);
    is_kept(&fleet);
    ended(&fleet, "OK");
    nothing_is_left(&fleet, &group);
    user.carson(&["service", "uninstall"]);
    until("the unit's group to go", || (!group.exists()).then_some(()));
}

#[test]
fn a_firing_by_hand_in_a_delegated_scope_is_bounded_as_a_whole() {
    let fleet = fleet(GREEDY, NEVER, &[("narrow", NARROW)]);
    let user = Lingering::of(&fleet);
    let asked = fleet.command(&["fire", "narrow", "--json"]);
    let mut scope = Command::new("systemd-run");
    scope
        .args([
            "--user",
            "--scope",
            "--quiet",
            "--property=Delegate=yes",
            "--",
        ])
        .arg(asked.get_program())
        .args(asked.get_args())
        .env_clear()
        .envs(
            asked
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .uid(NOBODY)
        .gid(NOBODY);
    Lingering::environment(&mut scope);
    let done = scope.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let row: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{done:?}"));
    ended_for_memory(&fleet.firing(row["id"].as_str().unwrap()));
    the_kernel_says_so(&Lingering::group().join("app.slice/run-"));
    is_kept(&fleet);
    drop(user);
}
