//! Whether the programs of a package need nothing of the machine: no library, no loader, no module of its libc.
//!
//! Looked at before anything is packed, so no package can be made of others.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::workspace::{cargo, output};

/// Lets a program see a root of its own, or other names, on a network that leads nowhere.
const ALONE: [&str; 2] = ["--net", "--mount"];

/// The files that a lookup reads, by name. `nsswitch.conf` names a module that no machine has.
const NAMES: [(&str, &str); 4] = [
    ("nsswitch.conf", "passwd: nobodys\nhosts: nobodys\n"),
    ("passwd", "ann:x:1234:1234:Ann:/home/ann:/bin/sh\n"),
    ("hosts", "127.0.0.1 model.example\n"),
    ("resolv.conf", "nameserver 127.0.0.1\n"),
];

/// Puts them over the machine's, and runs the rest.
const WITH_NAMES: &str = r#"
    set -e
    names=$1
    shift
    for name in "$names"/*; do mount --bind "$name" "/etc/${name##*/}"; done
    exec "$@"
"#;

/// What the agent says of a host that it does not find.
const LOST: &str = "failed to lookup address";

/// Looks at each of them, and runs it where there is nothing else.
///
/// # Errors
/// When one of them needs something, or does not run.
pub(super) fn hold(bin: &Path, programs: &[&str]) -> anyhow::Result<()> {
    for program in programs {
        needs_nothing(&bin.join(program))?;
    }
    if !run(&["true"])?.status.success() {
        println!("xtask: that they run alone was not seen: this user may make no namespaces");
        return Ok(());
    }
    for program in programs {
        runs_alone(bin, program)?;
    }
    looks_names_up(bin)
}

/// Whether no loader and no library is named in it, and the kernel may put it anywhere.
fn needs_nothing(program: &Path) -> anyhow::Result<()> {
    let read = |what| {
        let mut readelf = Command::new("readelf");
        let read = readelf.env("LC_ALL", "C").arg(what).arg(program).output();
        let read = read.context("readelf (binutils) says what a program needs")?;
        anyhow::Ok(String::from_utf8_lossy(&read.stdout).into_owned())
    };
    let (header, segments, dynamic) = (read("-h")?, read("-lW")?, read("-dW")?);
    let name = program.display();
    ensure!(segments.contains("LOAD"), "{name} is no program");
    let needed = dynamic.lines().filter(|line| line.contains("(NEEDED)"));
    let needed: Vec<&str> = needed.map(str::trim).collect();
    if segments.contains("INTERP") || !needed.is_empty() {
        bail!("{name} is not static: {}", needed.join(", "));
    }
    // The hook has its place.
    let moves = header.contains("DYN (Position-Independent Executable file)");
    ensure!(
        moves || program.ends_with("carson-hook"),
        "{name} is always loaded to the same place"
    );
    Ok(())
}

/// Whether no child begins as a copy of a program that is linked so: how the standard library starts one depends on what
/// of libc is in it. The test of the library that starts all of them says so, where it is linked so itself.
///
/// # Errors
/// When it cannot be built, or a child begins as a copy.
pub(super) fn starts_children_cheaply(into: &Path, linked: &str) -> anyhow::Result<()> {
    const TEST: &str = "children::tests::no_child_begins_as_a_copy_of_us";
    let mut build = cargo();
    build.args([
        "rustc",
        "--locked",
        "--quiet",
        "--package",
        "carson-proc",
        "--lib",
    ]);
    build.args([
        "--profile",
        "test",
        "--message-format",
        "json",
        "--target-dir",
    ]);
    let built = output(build.arg(into).args(["--", linked])).context("its test is not built")?;
    let executable = built.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        Some(message["executable"].as_str()?.to_owned())
    });
    let executable = executable.context("cargo names no test")?;
    let said = output(Command::new(executable).args(["--exact", TEST]));
    let passed = said.is_some_and(|said| said.contains("1 passed"));
    ensure!(
        passed,
        "a static program forks, or nothing says that it does not: {TEST}"
    );
    Ok(())
}

fn runs_alone(bin: &Path, program: &str) -> anyhow::Result<()> {
    let root = tempfile::tempdir()?;
    fs::copy(bin.join(program), root.path().join(program))?;
    let dir = root.path().to_str().context("the directory is no text")?;
    let said = run(&["--root", dir, &format!("/{program}"), "--version"])?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    ensure!(
        text.starts_with(&format!("{program} ")),
        "{program} does not run alone: {said:?}"
    );
    Ok(())
}

/// Whether users and hosts are found without the modules of the machine's libc, and one that is not is an error.
fn looks_names_up(bin: &Path) -> anyhow::Result<()> {
    let names = tempfile::tempdir()?;
    for (name, text) in NAMES {
        fs::write(names.path().join(name), text)?;
    }
    let dir = names.path().to_str().context("the directory is no text")?;
    let run = |program: &str, words: &[&str]| {
        let program = bin.join(program);
        let program = program.to_str().context("the directory is no text")?;
        let all = ["sh", "-c", WITH_NAMES, "sh", dir, program];
        run(&[&all, words].concat())
    };
    let unit = run("carson", &["service", "print", "--system", "ann"])?;
    let text = String::from_utf8_lossy(&unit.stdout).into_owned();
    ensure!(
        text.contains("/home/ann/.local/bin"),
        "carson does not find a user: {unit:?}"
    );
    for (host, is_known) in [("model.example", true), ("elsewhere.example", false)] {
        let url = format!("http://{host}:9/v1");
        let words = ["--no-walls", "--base-url", &url, "--model", "m", "hello"];
        let said = run("carson-agent", &words)?;
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        ensure!(
            said.status.code() == Some(5) && text.contains(LOST) != is_known,
            "carson-agent asks for {host}: {said:?}"
        );
    }
    Ok(())
}

fn run(words: &[&str]) -> anyhow::Result<Output> {
    let mut unshare = Command::new("unshare");
    if !nix::unistd::geteuid().is_root() {
        unshare.arg("--map-root-user");
    }
    let unshare = unshare.args(ALONE).args(words).stdin(Stdio::null());
    unshare.output().context("unshare (util-linux)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_library_is_not_packed() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("program.c");
        fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        let built = |name: &str, how: &[&str]| {
            let program = dir.path().join(name);
            let mut cc = Command::new("cc");
            cc.args(how).arg("-o").arg(&program).arg(&source);
            assert!(cc.status().unwrap().success());
            needs_nothing(&program).map_err(|error| error.to_string())
        };
        assert_eq!(built("carson", &["-static-pie"]), Ok(()));
        assert_eq!(built("carson-hook", &["-static"]), Ok(()));
        let refused = built("carson", &["-static"]).unwrap_err();
        assert!(refused.contains("to the same place"), "{refused}");
        let refused = built("carson", &[]).unwrap_err();
        assert!(refused.contains("Shared library: [libc.so.6]"), "{refused}");
        assert!(needs_nothing(&source).is_err());
    }
}
