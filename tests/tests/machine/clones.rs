//! Workspaces that are clones, on each kind of disk that can: firings work there, and the walls hold.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use carson_tests::fleet::TestFleet;
use nix::sched::{CloneFlags, unshare};
use serde_json::Value;
use tempfile::TempDir;

use crate::tool;

/// Disks that let files share their blocks, each with how it is made.
const KINDS: [(&str, &[&str]); 2] = [
    ("btrfs", &["mkfs.btrfs", "--quiet"]),
    ("xfs", &["mkfs.xfs", "-q", "-m", "reflink=1"]),
];

/// What is run of the suite, as in copies.
const HOSTILE: [&str; 6] = [
    "hostile::walls::",
    "hostile::leavings::",
    "hostile::lookers::",
    "hostile::judges::",
    "hostile::repository::",
    "faults::place::",
];

/// A disk that is mounted for this test and what it starts; it goes with them.
struct Space {
    images: TempDir,
}

impl Space {
    fn of(make: &[&str]) -> Self {
        unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace needs root");
        tool(&["mount", "--make-rprivate", "/"]);
        let this = Self {
            images: tempfile::tempdir().unwrap(),
        };
        let image = this.images.path().join("disk.img");
        tool(&["truncate", "--size=6G", text(&image)]);
        tool(&[make, &[text(&image)]].concat());
        fs::create_dir(this.at()).unwrap();
        tool(&["mount", "-o", "loop", text(&image), text(&this.at())]);
        // As the system's temporary directory has them.
        tool(&["chmod", "1777", text(&this.at())]);
        this
    }

    fn at(&self) -> PathBuf {
        self.images.path().join("disk")
    }

    /// Puts the home of a fleet on it.
    fn below(&self, fleet: &TestFleet) {
        let inner = self.at().join("home");
        fs::create_dir(&inner).unwrap();
        let home = fleet.home();
        tool(&[
            "cp",
            "--archive",
            &format!("{}/.", text(&home)),
            text(&inner),
        ]);
        tool(&["mount", "--bind", text(&inner), text(&home)]);
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let lazy = ["--recursive", "--lazy"];
        let _ = Command::new("umount").args(lazy).arg(self.at()).output();
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn kind(fleet: &TestFleet, kind: &str) {
    let path = fleet.home().join("carson.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let others = settings
        .lines()
        .filter(|line| !line.starts_with("workspaces = "));
    let settings: Vec<&str> = others.collect();
    let settings = settings.join("\n");
    let asked = format!("[fleet]\nworkspaces = {kind:?}");
    fs::write(path, settings.replacen("[fleet]", &asked, 1)).unwrap();
}

/// A fleet whose session does this.
fn fleet(agent: &str, role: &str) -> TestFleet {
    use std::os::unix::fs::PermissionsExt;
    let fleet = TestFleet::new();
    let program = fleet.root().join("cli/agent");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(
        &program,
        format!("#!/bin/bash\nset -e\ncat >/dev/null\n{agent}\n"),
    )
    .unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    fleet.account("sh", &format!("engine = \"command\"\nbinary = {program:?}"));
    fleet.role("hand", "sh", role);
    fleet
}

fn fire(fleet: &TestFleet) -> Value {
    fleet.issue("hand", "Work", "To do.");
    let ran = fleet.fire("hand");
    let row = ran.json();
    fleet.firing(row["id"].as_str().unwrap_or_else(|| panic!("{ran:#?}")))
}

fn works_on(make: &[&str]) {
    let agent = "test -z \"$(git status --porcelain)\"; date +%s%N > work.txt; echo more >> README.md; rm gone; mv a b\n\
                 git add --all; git commit --quiet -m Work; echo '[OK] done'";
    let check = "stages = [\"execute\", \"verify\"]\n\
                 [promise]\nrun = \"test -f work.txt && test ! -e gone && test -x b && test -L link && test -z \\\"$(git status --porcelain)\\\"\"\n";
    let fleet = fleet(agent, check);
    fleet.commit_to_main(&[("gone", "gone\n"), ("a", "#!/bin/sh\n")]);
    let seed = fleet.root().join("with-modes");
    let remote = fleet.git(&["rev-parse", "--absolute-git-dir"]);
    let script = "git clone --quiet \"$1\" \"$2\"; cd \"$2\"; chmod 755 a; ln -s a link; git add --all; \
                  git -c user.name=a -c user.email=a@b commit --quiet -m Modes; git push --quiet origin HEAD";
    tool(&["sh", "-ec", script, "sh", remote.trim(), text(&seed)]);
    let space = Space::of(make);
    space.below(&fleet);
    kind(&fleet, "clone");
    for _ in 0..2 {
        let row = fire(&fleet);
        assert_eq!(row["outcome"], "OK", "{row:#}");
        assert_eq!(row["sandbox"]["workspace"], "clone", "{row:#}");
        // The next base is made from the one before it.
        let next = "cd \"$1\"; date +%s%N > new.txt; git add --all; \
                    git -c user.name=a -c user.email=a@b commit --quiet -m New; git push --quiet origin HEAD";
        tool(&["sh", "-ec", next, "sh", text(&seed)]);
    }
    let told = fleet.ok(&["workspaces", "--json"]);
    assert_eq!(told["kind"], "clone", "{told:#}");
    assert_eq!(told["layers"].as_array().unwrap().len(), 2, "{told:#}");
    let doctor = fleet.carson(&["doctor"]).stdout;
    assert!(doctor.contains("each is a clone of a checkout"), "{doctor}");
    assert!(fleet.benches().is_empty() && fleet.descendants().is_empty());
}

#[test]
fn a_firing_on_btrfs_works_in_a_clone() {
    works_on(KINDS[0].1);
}

#[test]
fn a_firing_on_xfs_works_in_a_clone() {
    works_on(KINDS[1].1);
}

/// The suite's binary of this build.
fn suite() -> PathBuf {
    let me = std::env::current_exe().unwrap();
    let items = fs::read_dir(me.parent().unwrap()).unwrap().flatten();
    let suites = items.map(|item| item.path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("suite-") && !name.contains('.')
    });
    let newest = suites.max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    newest.expect("the suite is built: cargo xtask machine does that")
}

/// Each test is a process of its own, as under the usual runner.
fn walls_hold_on(make: &[&str]) {
    let suite = suite();
    let space = Space::of(make);
    let run = |args: &[&str]| {
        let mut command = Command::new(&suite);
        command
            .args(args)
            .env("TMPDIR", space.at())
            .env("CARSON_TEST_WORKSPACES", "clone")
            .env("CARSON_TEST_ORDINARY_FOLLOWS", "1");
        command
    };
    let listed = run(&["--list", "--format=terse"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let tests = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    let chosen = |test: &&str| HOSTILE.iter().any(|begin| test.starts_with(begin));
    let tests: Vec<&str> = tests.filter(chosen).collect();
    assert!(tests.len() > 10, "{listed}");
    let mut failed = Vec::new();
    for pair in tests.chunks(2) {
        let started: Vec<_> = pair
            .iter()
            .map(|test| {
                let mut one = run(&["--exact", test]);
                let one = one.stdin(Stdio::null()).stdout(Stdio::piped());
                (test, one.stderr(Stdio::piped()).spawn().unwrap())
            })
            .collect();
        for (test, one) in started {
            let done = one.wait_with_output().unwrap();
            if !done.status.success() {
                println!("{test}: {}", String::from_utf8_lossy(&done.stdout));
                failed.push(*test);
            }
        }
    }
    println!("{} tests on clones", tests.len());
    assert_eq!(failed, [""; 0]);
}

/// How files share their blocks is the disk's matter, and no wall's: one kind of disk is enough.
#[test]
fn the_walls_hold_in_clones() {
    walls_hold_on(KINDS[0].1);
}
