//! The programs of the package where there is nothing else: no library, no loader, no shell.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::package::PROGRAMS;
use crate::tool;

/// What the package installs, unpacked.
fn unpacked() -> tempfile::TempDir {
    let debs = std::env::var("CARSON_TEST_DEBS").expect("cargo xtask machine sets it");
    let (first, _) = debs.split_once(':').unwrap();
    let dir = tempfile::tempdir().unwrap();
    tool(&["dpkg-deb", "-x", first, dir.path().to_str().unwrap()]);
    dir
}

/// A root that holds this program, and nothing else.
fn root_with(unpacked: &Path, program: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let from = unpacked.join("usr/bin").join(program);
    fs::copy(from, root.path().join(program)).unwrap();
    root
}

/// Runs it there, on a network of its own that leads nowhere.
fn run(root: &Path, words: &[&str]) -> Output {
    let mut unshare = Command::new("unshare");
    unshare.args(["--net", "--root"]).arg(root).args(words);
    unshare.env_clear().output().unwrap()
}

#[test]
fn each_program_runs_alone_and_where_the_kernel_likes() {
    let unpacked = unpacked();
    for program in PROGRAMS {
        let root = root_with(unpacked.path(), program);
        let said = run(root.path(), &[&format!("/{program}"), "--version"]);
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(text.starts_with(&format!("{program} ")), "{said:?}");

        let file = root.path().join(program);
        let read = |what| tool(&["env", "LC_ALL=C", "readelf", what, file.to_str().unwrap()]);
        let header = read("-h");
        // The hook has its place.
        let moves = header.contains("DYN (Position-Independent Executable file)");
        assert!(moves || program == "carson-hook", "{program}: {header}");
        let (segments, dynamic) = (read("-lW"), read("-dW"));
        assert!(
            segments.contains("LOAD") && !segments.contains("INTERP"),
            "{program}: {segments}"
        );
        assert!(!dynamic.contains("NEEDED"), "{program}: {dynamic}");
    }
}

/// The files that a lookup reads, by name. `nsswitch.conf` names a module that no machine has.
const NAMES: [(&str, &str); 4] = [
    ("nsswitch.conf", "passwd: nobodys\nhosts: nobodys\n"),
    ("passwd", "ann:x:1234:1234:Ann:/home/ann:/bin/sh\n"),
    ("hosts", "127.0.0.1 model.example\n"),
    ("resolv.conf", "nameserver 127.0.0.1\n"),
];

/// What the agent says of a host that it does not find.
const LOST: &str = "failed to lookup address";

/// Puts them over the machine's, for one program, on a network of its own that leads nowhere.
const WITH_NAMES: &str = r#"
    set -e
    names=$1
    shift
    for name in "$names"/*; do mount --bind "$name" "/etc/${name##*/}"; done
    exec "$@"
"#;

#[test]
fn users_and_hosts_are_found_without_the_modules_of_the_machine() {
    let (unpacked, names) = (unpacked(), tempfile::tempdir().unwrap());
    for (name, text) in NAMES {
        fs::write(names.path().join(name), text).unwrap();
    }
    let run = |program: &str, words: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--net", "--mount", "sh", "-c", WITH_NAMES, "sh"]);
        unshare.arg(names.path());
        unshare.arg(unpacked.path().join("usr/bin").join(program));
        unshare.args(words).output().unwrap()
    };
    let unit = run("carson", &["service", "print", "--system", "ann"]);
    let text = String::from_utf8_lossy(&unit.stdout).into_owned();
    assert!(text.contains("/home/ann/.local/bin"), "{unit:?}");

    let asked = |host: &str| {
        let url = format!("http://{host}:9/v1");
        let words = ["--no-walls", "--base-url", &url, "--model", "m", "hello"];
        let said = run("carson-agent", &words);
        assert_eq!(said.status.code(), Some(5), "{said:?}");
        String::from_utf8_lossy(&said.stderr).into_owned()
    };
    let known = asked("model.example");
    assert!(!known.contains(LOST), "{known}");
    let unknown = asked("elsewhere.example");
    assert!(unknown.contains(LOST), "{unknown}");
}
