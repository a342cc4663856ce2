//! A disk that fills up under a daemon: a small one of its own, in a mount namespace.

#![expect(
    clippy::disallowed_methods,
    reason = "mounts and fills a disk with the system's own tools"
)]

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use carson_tests::fleet::TestFleet;
use carson_tests::judge::sound;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A daemon whose home lies on a disk of so many mebibytes.
struct Confined {
    child: Child,
    log: PathBuf,
    home: PathBuf,
    carson: PathBuf,
}

impl Confined {
    fn start(fleet: &TestFleet, size: u32) -> Self {
        Self::start_with(fleet, &format!("size={size}m"))
    }

    /// On a disk with these options of tmpfs.
    fn start_with(fleet: &TestFleet, options: &str) -> Self {
        Self::start_after(fleet, options, "true")
    }

    /// The same, once this was run there.
    fn start_after(fleet: &TestFleet, options: &str, before: &str) -> Self {
        let (home, log) = (fleet.home(), fleet.root().join("daemon.log"));
        let seed = fleet.root().join("home-before");
        fs::rename(&home, &seed).unwrap();
        fs::create_dir(&home).unwrap();
        let carson = fleet.binary();
        // In a user namespace the disk needs no rights that a user does not have.
        let script = "mount -t tmpfs -o \"$1\" carson \"$2\" && cp -a \"$3/.\" \"$2/\" && \
                      (eval \"$5\") && exec \"$4\" --home \"$2\" daemon";
        let child = Command::new("unshare")
            .args([
                "--user",
                "--map-root-user",
                "--mount",
                "--",
                "sh",
                "-c",
                script,
                "sh",
            ])
            .arg(options)
            .args([&home, &seed, &carson])
            .arg(before)
            .env("HOME", fleet.root().join("operator"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Self {
            child,
            log,
            home,
            carson,
        }
    }

    /// Runs something where the daemon is.
    fn inside(&self, script: &str) -> Output {
        Command::new("nsenter")
            .args(["--user", "--preserve-credentials", "--mount", "--target"])
            .arg(self.child.id().to_string())
            .args(["--", "sh", "-c", script, "sh"])
            .args([&self.home, &self.carson])
            .output()
            .unwrap()
    }

    fn says(&self, words: &str) -> usize {
        until(words, || {
            let log = fs::read_to_string(&self.log).unwrap();
            log.contains(words).then(|| log.matches(words).count())
        })
    }

    /// The first firing that was started.
    fn firing(&self) -> Pid {
        let log = fs::read_to_string(&self.log).unwrap();
        let (_, pid) = log.split_once("firing.pid=").unwrap();
        Pid::from_raw(pid.split(' ').next().unwrap().parse().unwrap())
    }

    /// Nothing while the database has no room to be read.
    fn rows(&self) -> Option<Vec<Value>> {
        let list = self.inside("\"$2\" --home \"$1\" firings --all --limit 1000 --json");
        serde_json::from_slice(&list.stdout).ok()
    }

    /// The first firing of which this holds, once there is one.
    fn row(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        until("a firing that ended so", || {
            self.rows()?.into_iter().find(&is_it)
        })
    }

    /// Waits until nothing of a firing lies on the disk any more; what is left is whole.
    fn is_rid_of(&self, row: &Value) {
        let id = row["id"].as_str().unwrap();
        until("its bench to go", || {
            let bench = self.inside(&format!("test -e \"$1/benches/{id}\""));
            (!bench.status.success()).then_some(())
        });
        let whole = self.inside("\"$2\" --home \"$1\" backup make");
        assert!(whole.status.success(), "{whole:?}");
    }

    fn fill(&self) {
        let fill = "dd if=/dev/zero of=\"$1/filled\" bs=64k oflag=append conv=notrunc 2>&1; true";
        let done = self.inside(fill);
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(said.contains("No space left"), "{done:?}");
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            let rows =
                self.inside("\"$2\" --home \"$1\" status; df \"$1\"; \"$2\" --home \"$1\" firings");
            eprintln!("the daemon said:\n{log}\n{rows:?}");
        }
        if std::thread::panicking() {
            eprintln!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A role that is due every second; its disk keeps so many mebibytes free.
fn fleet(min_free_mb: u32) -> TestFleet {
    eager(sound(), min_free_mb)
}

fn eager(fleet: TestFleet, min_free_mb: u32) -> TestFleet {
    eager_with(fleet, min_free_mb, "")
}

/// The same with more in its role.
fn eager_with(fleet: TestFleet, min_free_mb: u32, more: &str) -> TestFleet {
    let role = format!("max_late = \"1h\"\n{more}");
    fleet.role_at("eager", "play", "* * * * * *", &role);
    with_floor(fleet, min_free_mb)
}

/// So many mebibytes must be free.
fn with_floor(fleet: TestFleet, min_free_mb: u32) -> TestFleet {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    let floor = format!("[fleet]\nmin_free_mb = {min_free_mb}\n");
    fs::write(path, text.replace("[fleet]\n", &floor)).unwrap();
    // The database is there from the start.
    let _ = fleet.ok(&["status", "--json"]);
    fleet
}

#[test]
fn below_the_floor_nothing_is_claimed_it_is_said_once_and_it_goes_on_by_itself() {
    let fleet = fleet(4);
    let daemon = Confined::start(&fleet, 24);
    daemon.says("firing process started");
    daemon.fill();
    daemon.says("nothing fires until there is room");
    let status = daemon.inside("\"$2\" --home \"$1\" status");
    let shown = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(
        shown.contains("NO ROOM: ") && shown.contains("nearly full"),
        "{status:?}"
    );
    assert!(daemon.inside("rm \"$1/filled\"").status.success());
    daemon.says("it is over; firings go on");
    assert_eq!(daemon.says("nothing fires until there is room"), 1);
    let whole = daemon.inside("\"$2\" --home \"$1\" backup make");
    assert!(whole.status.success(), "{whole:?}");
}

#[test]
fn a_database_without_room_stops_the_firing_and_loses_nothing() {
    let fleet = fleet(0);
    let daemon = Confined::start(&fleet, 24);
    daemon.says("firing process started");
    // What a firing that ends gives back is filled, too.
    until(
        "the store does not answer; nothing fires until it does",
        || {
            daemon.fill();
            let log = fs::read_to_string(&daemon.log).unwrap();
            log.contains("nothing fires until it does").then_some(())
        },
    );
    daemon.says("disk of the database is full");
    assert!(daemon.inside("rm \"$1/filled\"").status.success());
    daemon.says("it is over; firings go on");
    let whole = daemon.inside("\"$2\" --home \"$1\" backup make");
    assert!(whole.status.success(), "{whole:?}");
    let rows = daemon.rows().unwrap();
    let mut slots: Vec<_> = rows.iter().map(|row| row["slot"].to_string()).collect();
    slots.sort();
    slots.dedup();
    assert_eq!(slots.len(), rows.len(), "a slot fired twice");
}

/// After a night on a full disk, or a restart of the machine: a service manager would have given up long ago.
#[test]
fn a_daemon_that_begins_on_a_full_or_read_only_disk_says_so_once_and_begins_when_it_can() {
    // As after a restart: the database's own index is made anew when it is opened.
    let full = "find \"$2\" -name '*-shm' -delete; dd if=/dev/zero of=\"$2/filled\" bs=4k 2>/dev/null; true";
    let read_only = "mount -o remount,ro \"$2\"";
    // A disk that was made read-only may still let the database be read.
    let verbs = ["pause --reason x", "status", "brief", "why eager"];
    for (before, verbs, wrong, hint, mend) in [
        (
            full,
            &verbs[..],
            "the disk of the database is full",
            "make room",
            "rm \"$1/filled\"",
        ),
        (
            read_only,
            &verbs[..1],
            "read-only",
            "mount the disk writable",
            "mount -o remount,rw \"$1\"",
        ),
    ] {
        let fleet = fleet(0);
        let mut daemon = Confined::start_after(&fleet, "size=24m", before);
        daemon.says("begins once its disk can be written");
        for verb in verbs {
            let asked = daemon.inside(&format!("\"$2\" --home \"$1\" {verb}"));
            let said = String::from_utf8_lossy(&asked.stderr).into_owned();
            assert_eq!(asked.status.code(), Some(1), "{verb}: {asked:?}");
            assert!(
                said.contains(wrong) && said.contains(hint),
                "{verb}: {said}"
            );
            assert!(!said.contains("backup"), "{verb}: {said}");
        }
        assert_eq!(daemon.child.try_wait().unwrap(), None);
        assert!(daemon.inside(mend).status.success());
        daemon.says("firing process started");
        assert_eq!(daemon.says("begins once its disk can be written"), 1);
    }
}

/// Where its own firing stands in the way of every claim, the loop has nothing to write: the one who
/// concludes finds out.
#[test]
fn a_dead_firing_that_finds_no_room_for_its_end_is_said_once_and_concluded_when_there_is_some() {
    let fleet = TestFleet::new();
    let barrier = fleet.shared().join("barrier");
    fleet.script(&format!(
        "[[when]]\ndo = [{{ barrier = {barrier:?} }}, {{ say = \"[OK] done\" }}]\n"
    ));
    let fleet = eager(fleet, 0);
    let _ = fleet.issue("eager", "Work", "To do.");
    let daemon = Confined::start(&fleet, 24);
    let reached = barrier.with_extension("reached");
    until("the session to start", || reached.exists().then_some(()));
    daemon.fill();

    kill(daemon.firing(), Signal::SIGKILL).unwrap();

    daemon.says("concluding a dead firing");
    // What its end gives back is filled, too.
    until("the daemon to say that nothing fires", || {
        daemon.fill();
        let log = fs::read_to_string(&daemon.log).unwrap();
        log.contains("nothing fires until it does").then_some(())
    });
    assert!(daemon.inside("rm \"$1/filled\"").status.success());
    daemon.says("it is over; firings go on");
    let _ = daemon.row(|row| row["outcome"] == "CRASHED");
    assert_eq!(daemon.says("nothing fires until it does"), 1);
}

#[test]
fn without_names_for_more_files_nothing_is_claimed_and_it_goes_on_by_itself() {
    let fleet = fleet(0);
    let daemon = Confined::start_with(&fleet, "size=24m,nr_inodes=2500");
    daemon.says("firing process started");
    let filled = daemon.inside(
        "mkdir \"$1/filled\" && cd \"$1/filled\" && n=0 && \
         while true > $n; do n=$((n + 1)); done 2>&1",
    );
    let said = String::from_utf8_lossy(&filled.stdout).into_owned();
    assert!(said.contains("No space left"), "{filled:?}");
    daemon.says("nothing fires until there is room");
    let status = daemon.inside("\"$2\" --home \"$1\" status");
    let shown = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(
        shown.contains("NO ROOM: ") && shown.contains("more files"),
        "{status:?}"
    );
    assert!(daemon.inside("rm -r \"$1/filled\"").status.success());
    daemon.says("it is over; firings go on");
    assert_eq!(daemon.says("nothing fires until there is room"), 1);
    let whole = daemon.inside("\"$2\" --home \"$1\" backup make");
    assert!(whole.status.success(), "{whole:?}");
}

/// What can be made again goes; what cannot is saved first, or stays.
#[test]
fn room_is_made_of_what_can_be_made_again() {
    let fleet = fleet(28);
    let row = fleet.fire("hand").json();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let id = row["id"].as_str().unwrap();
    assert_eq!(fleet.carson(&["backup", "make"]).code, Some(0));
    // A bench that stayed when its firing ended, with a cache and with work.
    // What was held back of a large disk is no part of a home on a small one.
    let _ = fs::remove_file(fleet.home().join("state/disk-reserve"));
    let bench = fleet.home().join("benches").join(id);
    let tree = bench.join(format!("tree-{}", &id[id.len() - 8..]));
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join("only-here.txt"), "only here\n").unwrap();
    let work = fleet.blob(&tree.join("only-here.txt"));
    fs::create_dir_all(bench.join("home/.cache")).unwrap();
    fs::write(bench.join("home/.cache/big"), vec![1; 16 << 20]).unwrap();

    let daemon = Confined::start(&fleet, 40);

    daemon.says("making room");
    daemon.says("firing process started");
    let left = daemon.inside(&format!("find \"$1/benches/{id}\" 2>&1"));
    let left = String::from_utf8_lossy(&left.stdout).into_owned();
    assert!(!left.contains(".cache"), "{left}");
    let kept = daemon.inside(
        "git --git-dir \"$1/kept/widget.git\" rev-list --objects --all && ls \"$1/state/backups\"",
    );
    let kept = String::from_utf8_lossy(&kept.stdout).into_owned();
    assert!(
        kept.contains(&work) || left.contains("only-here.txt"),
        "{kept}\n{left}"
    );
    assert!(kept.contains("carson-"), "the backup is gone: {kept}");
    let shown = daemon.inside(&format!("ls \"$1/transcripts/{id}\""));
    assert!(shown.status.success(), "the transcript is gone: {shown:?}");
}

/// A session that does its work and takes all the room there is, to the last block, and as many names as it can.
fn filling_session(at: &str, min_free_mb: u32) -> TestFleet {
    use std::os::unix::fs::PermissionsExt;
    let fleet = TestFleet::new();
    let program = fleet.root().join("cli/agent");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let script = format!(
        "#!/bin/bash\ncat > /dev/null\necho done > done.txt; git add done.txt; git commit --quiet -m Done\n\
         dd if=/dev/zero of=\"{at}/fill\" bs=64k\n\
         for n in $(seq 500); do echo more > \"{at}/more-$n\"; done\necho '[OK] done'\n"
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    fleet.account("sh", &format!("engine = \"command\"\nbinary = {program:?}"));
    let role = "max_late = \"1h\"\nstages = [\"execute\"]\n";
    fleet.role_at("eager", "sh", "* * * * * *", role);
    fleet.issue("eager", "Greet the household", "Please.");
    with_floor(fleet, min_free_mb)
}

/// What it filled goes with its bench, and what was held back for the end of its firing is held back again.
#[test]
fn a_session_that_fills_the_disk_to_the_last_block_ends_in_an_outcome() {
    let fleet = filling_session("$TMPDIR", 8);
    let daemon = Confined::start(&fleet, 180);
    let row = daemon.row(|row| row["outcome"] == "OK");
    assert!(row["pushed_sha"].is_string(), "{row:#}");
    daemon.is_rid_of(&row);
    let said = daemon.inside("grep -r 'held back of it was let go' \"$1/logs\"");
    assert!(said.status.success(), "nothing was held back: {said:?}");
    until("it to be held back again", || {
        let held = daemon.inside("test -s \"$1/state/disk-reserve\"");
        held.status.success().then_some(())
    });
}

/// Where nothing can be held back, what its session cached goes before its work is looked at.
#[test]
fn a_session_that_fills_a_small_disk_ends_in_an_outcome() {
    let fleet = filling_session("$TMPDIR", 8);
    let daemon = Confined::start(&fleet, 64);
    let row = daemon.row(|row| row["outcome"] == "OK");
    assert!(row["pushed_sha"].is_string(), "{row:#}");
    daemon.is_rid_of(&row);
    let said = daemon.inside("grep -r 'what its session cached made way' \"$1/logs\"");
    assert!(said.status.success(), "{said:?}");
}

/// The session after it, of the same firing, has all that the first began with: it can commit.
#[test]
fn a_session_behind_one_that_filled_a_small_disk_works_as_the_first() {
    let fleet = filling_session("$TMPDIR", 8);
    let program = fleet.root().join("cli/agent");
    let script = "#!/bin/bash\ncat > /dev/null\nif test -e one; then echo two > two; git add two; git commit --quiet -m Two || exit 1\n\
                  else echo one > one; git add one; git commit --quiet -m One; dd if=/dev/zero of=\"$TMPDIR/fill\" bs=64k; fi\n\
                  echo '[OK] done'\n";
    fs::write(&program, script).unwrap();
    let role = "max_late = \"1h\"\nstages = [\"execute\", \"verify\"]\n[promise]\nrun = \"! test -e one || test -e two\"\n";
    fleet.role_at("eager", "sh", "* * * * * *", role);
    let daemon = Confined::start(&fleet, 64);
    let row = daemon.row(|row| !row["ended_at"].is_null() && !row["work"].is_null());
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let said = daemon.inside("grep -r 'what its session cached made way' \"$1/logs\"");
    assert!(said.status.success(), "{said:?}");
}

/// A commit that does not fit beside itself keeps out none before it.
#[test]
fn what_does_not_fit_costs_nothing_that_does() {
    let fleet = filling_session("$CARSON_WORKTREE", 32);
    let program = fleet.root().join("cli/agent");
    let script = "#!/bin/bash\ncat > /dev/null\necho done > done.txt; git add done.txt; git commit --quiet -m Done\n\
                  dd if=/dev/urandom of=large bs=1M count=60; git add large; git commit --quiet -m Large\n\
                  dd if=/dev/zero of=\"$TMPDIR/fill\" bs=64k\necho '[OK] done'\n";
    fs::write(&program, script).unwrap();
    let daemon = Confined::start(&fleet, 180);
    let row = daemon.row(|row| !row["ended_at"].is_null() && !row["work"].is_null());
    let kept = daemon.inside("git --git-dir \"$1/kept/widget.git\" log --all --format=%s");
    let kept = String::from_utf8_lossy(&kept.stdout).into_owned();
    assert!(kept.contains("Done"), "{kept}\n{row:#}");
}

/// What fills the disk lies among its work, which stays: the firing ends all the same, and says why.
#[test]
fn a_session_that_fills_the_disk_with_its_work_ends_in_an_outcome() {
    let fleet = filling_session("$CARSON_WORKTREE", 32);
    let daemon = Confined::start(&fleet, 180);
    let row = daemon.row(|row| !row["ended_at"].is_null() && !row["work"].is_null());
    let id = row["id"].as_str().unwrap();
    let bench = daemon.inside(&format!("test -e \"$1/benches/{id}\""));
    let is_there = bench.status.success();
    assert!(is_there || row["salvage_ref"].is_string(), "{row:#}");
}

/// A role whose check of its work takes all the room there is, in the clean room that is its alone, and then does this.
fn filling(then: &str) -> TestFleet {
    let fill = format!("test -e hello.txt || exit 0; dd if=/dev/zero of=filled bs=64k; {then}");
    let more = format!("stages = [\"execute\", \"verify\"]\n[promise]\nrun = {fill:?}\n");
    let fleet = eager_with(sound(), 8, &more);
    fleet.issue("eager", "Greet the household", "Please.");
    fleet
}

/// The room goes, and the work stays.
#[test]
fn a_check_that_fills_the_disk_costs_nobody_their_work() {
    let fleet = filling("true");
    let daemon = Confined::start(&fleet, 64);
    let row = daemon.row(|row| row["outcome"] == "OK" && row["pushed_sha"].is_string());
    let said = daemon.inside("grep -r 'clean rooms made way' \"$1/logs\"");
    assert!(said.status.success(), "no room was in the way: {said:?}");
    daemon.is_rid_of(&row);
}

/// Its firing is gone before it could: recovery lets the room go.
#[test]
fn a_firing_that_dies_while_its_check_fills_the_disk_is_concluded_and_its_work_kept() {
    let fleet = filling("sleep 100");
    let daemon = Confined::start(&fleet, 64);
    until("the disk to be full", || {
        let free = daemon.inside("df --output=avail \"$1\" | tail -1");
        (String::from_utf8_lossy(&free.stdout).trim() == "0").then_some(())
    });
    kill(daemon.firing(), Signal::SIGKILL).unwrap();
    daemon.says("the disk is full: clean rooms made way");
    let row = daemon.row(|row| row["outcome"] == "CRASHED");
    assert!(
        row["pushed_sha"].is_string() || row["salvage_ref"].is_string(),
        "{row:#}"
    );
    daemon.is_rid_of(&row);
}
