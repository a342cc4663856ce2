//! The life of the Debian package in a real systemd: installed, started, upgraded during a firing, removed, purged.
//!
//! `dpkg` writes into layers over the machine's own directories, which go with the namespaces.

use std::fs;

use carson_tests::fleet::TestFleet;
use carson_tests::until;

use crate::service::fleet_at_a_barrier;
use crate::systemd::Systemd;

const UNIT: &str = "carson@nobody.service";
const PROGRAMS: [&str; 5] = [
    "carson",
    "carson-agent",
    "carson-hook",
    "carson-inspect",
    "carson-launch",
];

/// Layers of memory over what `dpkg` writes to.
const LAYERS: &str = r"
    set -e
    for dir in /usr /var/lib/dpkg /var/log; do
        layer=/run/layers$dir
        mkdir -p $layer/upper $layer/work
        mount -t overlay overlay -o lowerdir=$dir,upperdir=$layer/upper,workdir=$layer/work $dir
    done
";

/// What only a test can know.
fn write_drop_in(fleet: &TestFleet, units: &std::path::Path) {
    let path = std::env::var("PATH").unwrap();
    let operator = fleet.root().join("operator");
    let text = format!(
        "[Unit]\nDefaultDependencies=no\nAfter=\nWants=\n\
         [Service]\nGroup=65534\nWorkingDirectory={operator}\n\
         Environment=CARSON_HOME={home} HOME={operator} PATH={path}\n\
         StandardError=append:{log}\n",
        operator = operator.display(),
        home = fleet.home().display(),
        log = fleet.root().join("daemon.log").display(),
    );
    let dir = units.join(format!("{UNIT}.d"));
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("test.conf"), text).unwrap();
}

#[test]
fn it_is_installed_started_upgraded_during_a_firing_and_removed() {
    let debs = std::env::var("CARSON_TEST_DEBS").expect("cargo xtask machine sets it");
    let (first, second) = debs.split_once(':').unwrap();
    let fleet = fleet_at_a_barrier();
    let units = tempfile::tempdir().unwrap();
    write_drop_in(&fleet, units.path());
    let systemd = Systemd::boot(units.path());
    let must = |words: &[&str]| {
        let done = systemd.inside(words);
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let log = systemd.log_text();
        assert!(done.status.success(), "{words:?}: {done:?}\n{log}");
        said
    };
    must(&["sh", "-c", LAYERS]);

    must(&["dpkg", "-i", first]);
    for program in PROGRAMS {
        must(&["test", "-x", &format!("/usr/bin/{program}")]);
    }
    must(&["test", "-s", "/usr/share/man/man1/carson-fire.1.gz"]);
    systemd.must(&["start", UNIT]);
    assert_eq!(systemd.show(UNIT, "SubState"), "running");
    let reached = fleet.shared().join("barrier.reached");
    until("the session", || reached.exists().then_some(()));
    let before = systemd.show(UNIT, "MainPID");

    must(&["dpkg", "-i", second]);
    assert_eq!(systemd.show(UNIT, "SubState"), "running");
    assert_ne!(
        systemd.show(UNIT, "MainPID"),
        before,
        "the old daemon runs on"
    );
    fs::write(fleet.shared().join("barrier.go"), "").unwrap();
    until("the firing to end", || {
        let list = fleet.ok(&["firings", "--json"]);
        let rows = list.as_array().unwrap().iter();
        let works: Vec<_> = rows.filter(|row| !row["work"].is_null()).collect();
        assert!(works.len() <= 1, "{works:#?}");
        let ended = works.first().filter(|row| !row["ended_at"].is_null())?;
        assert_eq!(ended["outcome"], "OK", "{ended:#}");
        Some(())
    });
    assert_eq!(fleet.pulls().len(), 1);

    must(&["dpkg", "-r", "carson"]);
    assert_eq!(systemd.show(UNIT, "ActiveState"), "inactive");
    for program in PROGRAMS {
        must(&["test", "!", "-e", &format!("/usr/bin/{program}")]);
    }
    must(&["dpkg", "-P", "carson"]);
    assert!(fleet.home().join("carson.toml").is_file(), "a home is gone");
}
