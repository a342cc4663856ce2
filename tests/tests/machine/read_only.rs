//! The kernel mounts the home's disk read-only under the daemon, as it does after an error.

use std::fs::{self, File};
use std::process::{Child, Stdio};

use carson_tests::fleet::TestFleet;
use carson_tests::judge::sound;
use carson_tests::until;

use crate::disk::Disk;
use crate::tool;

struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(fleet: &TestFleet) -> Daemon {
    let log = File::options()
        .create(true)
        .append(true)
        .open(fleet.root().join("daemon.log"));
    let mut command = fleet.command(&["daemon"]);
    let command = command.stdout(Stdio::null()).stderr(log.unwrap());
    Daemon(command.spawn().unwrap())
}

fn says(fleet: &TestFleet, words: &str) -> usize {
    until(words, || {
        let log = fs::read_to_string(fleet.root().join("daemon.log")).unwrap();
        let count = log.matches(words).count();
        (count > 0).then_some(count)
    })
}

#[test]
fn a_disk_that_turns_read_only_stops_firings_and_no_daemon_and_loses_nothing() {
    let fleet = sound();
    fleet.role_at("eager", "play", "* * * * * *", "max_late = \"1h\"\n");
    let row = fleet.fire("hand").json();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let mut disk = Disk::over(&fleet.home());
    let mut daemon = start(&fleet);
    says(&fleet, "firing process started");

    let home = fleet.home();
    tool(&["mount", "-o", "remount,abort", home.to_str().unwrap()]);

    says(&fleet, "nothing fires until");
    let refused = fleet.carson(&["fire", "hand"]);
    assert!(refused.code.is_some_and(|code| code > 0), "{refused:#?}");
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(said.contains("read-only"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(says(&fleet, "nothing fires until"), 1);
    assert!(daemon.0.try_wait().unwrap().is_none(), "the daemon ended");

    // The operator looks at the disk and starts the machine again.
    drop(daemon);
    disk.cut();
    let _daemon = start(&fleet);
    let id = row["id"].as_str().unwrap();
    until("the database to open", || {
        let shown = fleet.carson(&["firings", id, "--json"]);
        (shown.code == Some(0) && shown.json()["outcome"] == "OK").then_some(())
    });
    let before = slots(&fleet);
    until("the next slot", || (slots(&fleet) > before).then_some(()));
}

fn slots(fleet: &TestFleet) -> usize {
    let args = [
        "firings", "--role", "eager", "--all", "--limit", "1000", "--json",
    ];
    fleet.ok(&args).as_array().unwrap().len()
}
